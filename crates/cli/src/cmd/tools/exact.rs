//! Finds the most probable tool name at the start of a call.

use grammata::error::Result;
use grammata::vocabulary::TokenId;
use grammata_agents::tools::session::{CompiledTools, most_probable_names};
use grammata_decode::{Feed, LogSoftmax, Model, Rows};

/// A name as a call spells it, and how it ends.
#[derive(Debug)]
pub struct Spelled {
    /// The name of the tool.
    pub name: String,
    /// The spelling of the name in the format, with the character that follows it, if one does.
    pub written: String,
    /// Whether the text ends after the name.
    pub is_last: bool,
}

/// Returns the spellings of names in a format that has the same text after every name.
///
/// # Errors
/// Errors of [`CompiledTools::after_name`].
pub fn spelled(tools: &CompiledTools, names: &[String]) -> Result<Vec<Spelled>> {
    let after = tools.after_name()?;
    let close: String = String::from_utf8_lossy(&after).chars().take(1).collect();
    let spelled = names.iter().map(|name| Spelled {
        name: name.clone(),
        written: format!("{}{close}", tools.written_name(name)),
        is_last: false,
    });
    Ok(spelled.collect())
}

/// Returns the most probable of `names`, which must not be empty, after the beginning of a call, and the number of
/// model runs. Any of `end_tokens` may end the text.
///
/// # Errors
/// Errors of `encode`, of the search and of the model.
pub fn most_probable(
    names: &[Spelled],
    beginning: &[u8],
    end_tokens: &[u32],
    encode: impl Fn(&str) -> Result<Vec<u32>>,
    prompt: &[u32],
    model: &mut dyn Model,
) -> Result<(String, usize)> {
    let before = String::from_utf8_lossy(beginning).into_owned();
    let base = encode(&before)?;
    let spelled = names.iter().map(|name| {
        let whole = encode(&format!("{before}{}", name.written))?;
        // if the tokenizer splits the beginning differently before a name, the name is encoded alone
        let mut tokens = match whole.strip_prefix(&base[..]) {
            Some(rest) => rest.to_vec(),
            None => encode(&name.written)?,
        };
        tokens.extend(end_tokens.first().filter(|_| name.is_last));
        Ok(tokens.into_iter().map(TokenId::new).collect())
    });
    let spelled: Vec<Vec<TokenId>> = spelled.collect::<Result<_>>()?;
    let sequence = model.open()?;
    let text: Vec<u32> = prompt.iter().chain(&base).copied().collect();
    let vocabulary = model.vocabulary_size();
    let mut runs = 0;
    let found = most_probable_names(&spelled, 1, |prefix| {
        runs += 1;
        let held = model.length(sequence)?.min(text.len());
        model.truncate(sequence, held)?;
        let tokens: Vec<u32> =
            text[held..].iter().copied().chain(prefix.iter().map(|token| token.get())).collect();
        let tokens = if tokens.is_empty() {
            model.truncate(sequence, held - 1)?;
            vec![text[held - 1]]
        } else {
            tokens
        };
        let logits = model.feed(&[Feed { sequence, tokens: &tokens, rows: Rows::Last }])?;
        let mut buffer = Vec::new();
        let row = logits.row(0, &mut buffer)?;
        let scores = LogSoftmax::of(row);
        let mut scores: Vec<f32> =
            row.iter().take(vocabulary).map(|&logit| scores.at(logit) as f32).collect();
        // the first end token represents all, with their total probability
        let ends = end_tokens.iter().filter_map(|&token| scores.get(token as usize));
        let end: f64 = ends.map(|&score| f64::from(score).exp()).sum();
        if let Some(first) = end_tokens.first().and_then(|&token| scores.get_mut(token as usize)) {
            *first = end.ln() as f32;
        }
        Ok(scores)
    });
    model.close(sequence);
    let best = found?.first().map_or(0, |best| best.name);
    Ok((names[best].name.clone(), runs))
}
