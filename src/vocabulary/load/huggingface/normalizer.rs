//! Normalizers of a `tokenizer.json`, as far as they change added tokens.
//!
//! The library (since 0.23) applies the normalizer to the content of added tokens that are flagged as `normalized`, and
//! decodes the result: with Llama 2's normalizer, an added `für` is `▁für`, and its text is ` für`.

use super::decoder::{char_of, replace};
use super::file::{Pattern, Pipeline, Step};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use memchr::memmem::Finder;

/// Returns the content of an added token after normalization. The forms of Unicode (NFC and others), compiled
/// replacements and regular expressions are left out: they do not change usual contents.
///
/// # Errors
/// A content of more than `limit` bytes.
pub(super) fn normalized(normalizer: &Pipeline, content: &str, limit: usize) -> Result<String> {
    let mut text = content.to_owned();
    match (&normalizer.steps, normalizer.kind.as_str()) {
        (Some(steps), "Sequence") => {
            for step in &steps.0 {
                text = apply(step, text, limit)?;
            }
        }
        _ => text = apply(normalizer, text, limit)?,
    }
    Ok(text)
}

fn apply<S>(step: &Step<S>, text: String, limit: usize) -> Result<String> {
    let text = match (step.kind.as_str(), &step.pattern) {
        ("Prepend", _) if !text.is_empty() => {
            format!("{}{text}", step.prepend.as_deref().unwrap_or_default())
        }
        ("Replace", Some(Pattern::String(pattern))) if !pattern.is_empty() => {
            let mut bytes = text.into_bytes();
            let content = step.content.as_deref().unwrap_or_default();
            replace(&mut bytes, &Finder::new(pattern), content.as_bytes(), limit)?;
            // texts are replaced within text
            String::from_utf8(bytes).unwrap_or_default()
        }
        ("Lowercase", _) => text.chars().flat_map(char::to_lowercase).collect(),
        ("ByteLevel", _) => text.bytes().map(char_of).collect(),
        ("Strip", _) => {
            let from_left = if step.strip_left.unwrap_or(true) { text.trim_start() } else { &text };
            let stripped = if step.strip_right.unwrap_or(true) { from_left.trim_end() } else { from_left };
            stripped.to_owned()
        }
        _ => text,
    };
    if text.len() > limit {
        return Err(Limits::exceeded(LimitKind::TokenBytes, limit, "a longer token"));
    }
    Ok(text)
}
