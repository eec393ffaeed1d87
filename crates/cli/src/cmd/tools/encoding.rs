//! Encodes prompts as tokens.

use grammata::error::Result;
use grammata_decode::{ChatTemplate, Message, PromptTokenizer};

/// Encloses the placeholders of data in a rendered template. It is a character of Unicode's private use area, which
/// templates do not contain.
const MARK: char = '\u{F8FF}';

/// Returns the tokens of a prompt of a system text and a user text. Both may contain untrusted text, so nothing in them
/// becomes a special token; text of the template may. A text that the template leaves out is missing in the prompt.
/// Without a template the prompt is `plain`, none of which becomes a special token either.
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
