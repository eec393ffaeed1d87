//! Encodes prompts as tokens.

use grammata::error::Result;
use grammata_decode::{ChatTemplate, Message, PromptTokenizer};

/// Encloses the numbers of the parts that are data: a character of the private use area.
const MARK: char = '\u{F8FF}';

/// Returns the tokens of a prompt of a system text and a user text. Both may contain untrusted text, so nothing in them
/// becomes a special token; text of the template may. Without a template the prompt is `plain`, which is encoded in the
/// same way.
///
/// # Errors
/// The template or the tokenizer fails.
pub fn prompt(
    template: Option<&ChatTemplate>,
    tokenizer: &PromptTokenizer,
    system: &str,
    user: &str,
    plain: impl FnOnce() -> String,
) -> Result<Vec<u32>> {
    let Some(template) = template else { return tokenizer.encode_literal(&plain()) };
    let marks = [format!("{MARK}0{MARK}"), format!("{MARK}1{MARK}")];
    let rendered =
        template.render(&[Message::system(marks[0].as_str()), Message::user(marks[1].as_str())], true)?;
    let mut tokens = Vec::new();
    let mut rest = rendered.as_str();
    for (mark, text) in marks.iter().zip([system, user]) {
        let Some((before, after)) = rest.split_once(mark.as_str()) else { continue };
        tokens.extend(tokenizer.encode(before, false)?);
        tokens.extend(tokenizer.encode_literal(text)?);
        rest = after;
    }
    tokens.extend(tokenizer.encode(rest, false)?);
    Ok(tokens)
}
