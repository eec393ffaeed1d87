//! The most probable name of a call that begins.

use crate::decode::{Feed, LogSoftmax, Model, Rows};
use crate::error::Result;
use crate::tools::session::{CompiledTools, most_probable_names};
use crate::vocabulary::TokenId;

/// The most probable of names after the beginning of a call, and how often the model ran.
pub(super) fn most_probable(
    tools: &CompiledTools,
    beginning: &[u8],
    names: &[String],
    encode: impl Fn(&str) -> Result<Vec<u32>>,
    prompt: &[u32],
    model: &mut dyn Model,
) -> Result<(String, usize)> {
    let before = String::from_utf8_lossy(beginning).into_owned();
    let after = tools.after_name()?;
    let close: String = String::from_utf8_lossy(&after).chars().take(1).collect();
    let base = encode(&before)?;
    let spelled = names.iter().map(|name| {
        let written = format!("{}{close}", tools.written_name(name));
        let whole = encode(&format!("{before}{written}"))?;
        // where the beginning is cut in another way before a name, the name is cut alone
        let tokens = match whole.strip_prefix(&base[..]) {
            Some(rest) => rest.to_vec(),
            None => encode(&written)?,
        };
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
        Ok(row.iter().take(vocabulary).map(|&logit| scores.at(logit) as f32).collect())
    });
    model.close(sequence);
    let best = found?.first().map_or(0, |best| best.name);
    Ok((names[best].clone(), runs))
}
