//! The kinds of grammars, and their texts as sources.

use crate::errors;
use engine::Result;
use engine::syntax::{Source, json_schema, lark, regex};

/// The source of a grammar of this kind, with default options.
///
/// # Errors
/// `llg/kind`.
pub(crate) fn source(kind: &str, text: &str) -> Result<Source> {
    Ok(match kind {
        "lark" => Source::Lark(text.to_owned(), lark::Options::default()),
        "json" | "json_schema" => Source::JsonSchema(text.to_owned(), json_schema::Options::default()),
        "json_object" => {
            Source::JsonSchema(r#"{"type":"object"}"#.to_owned(), json_schema::Options::default())
        }
        "regex" => Source::Regex(text.to_owned(), regex::Options::default()),
        _ => return Err(errors::kind(kind)),
    })
}
