//! The kinds of grammars, and their texts as sources.

use crate::errors;
use engine::Result;
use engine::syntax::{Source, lark, regex};

/// The source of a grammar of this kind, with default options.
///
/// # Errors
/// `llg/kind`.
pub(crate) fn source(kind: &str, text: &str) -> Result<Source> {
    Ok(match kind {
        "lark" => Source::Lark(text.to_owned(), lark::Options::default()),
        "json" | "json_schema" => Source::json_schema(text),
        "json_object" => Source::json_schema(r#"{"type":"object"}"#),
        "regex" => Source::Regex(text.to_owned(), regex::Options::default()),
        _ => return Err(errors::kind(kind)),
    })
}
