//! Whether a value conforms to a schema, for texts that may be read as several.

use crate::grammar::Grammar;
use crate::mask::Compiler;
use crate::syntax::json_schema::{Options, PropertyOrder, Whitespace, compile_value};
use crate::vocabulary::{TokenId, VocabularyBuilder};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// Whether a value conforms to a schema. What cannot be known is taken to.
pub(super) fn conforms(schema: &Value, value: &Value) -> bool {
    let options =
        Options { whitespace: Whitespace::Compact, property_order: PropertyOrder::Any, ..Options::default() };
    match compile_value(schema, &options) {
        Ok(compiled) => is_word(&compiled.grammar, value.to_string().as_bytes()).unwrap_or(true),
        Err(error) => error.code() != "json-schema/unsatisfiable",
    }
}

/// The same of a schema whose references lead into `root`.
pub(super) fn conforms_within(schema: &Value, value: &Value, root: &Value) -> bool {
    // of the types it is one, but for numbers that are no integers
    const SILENT: [&str; 5] = ["type", "title", "description", "default", "example"];
    let says_more = schema.as_object().is_some_and(|object| {
        let of_integers = object.get("type").is_some_and(|types| types.to_string().contains("integer"));
        of_integers || object.keys().any(|keyword| !SILENT.contains(&keyword.as_str()))
    });
    if !says_more {
        return true;
    }
    let mut alone = schema.clone();
    if let (Some(object), Some(definitions)) = (alone.as_object_mut(), root.get("$defs"))
        && !object.contains_key("$defs")
    {
        object.insert("$defs".to_owned(), definitions.clone());
    }
    conforms(&alone, value)
}

/// `None`: a limit was met.
fn is_word(grammar: &Grammar, text: &[u8]) -> Option<bool> {
    static COMPILER: OnceLock<Option<Compiler>> = OnceLock::new();
    let compiler = COMPILER.get_or_init(|| {
        let tokens = (0..=255_u8).map(|byte| vec![byte]).chain([b"</s>".to_vec()]);
        let built = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(256)]).build();
        built.ok().map(|vocabulary| Compiler::new(Arc::new(vocabulary)).without_token_bounds())
    });
    let mut matcher = compiler.as_ref()?.compile(grammar).ok()?.matcher();
    match matcher.accept_bytes(text) {
        Ok(()) => Some(matcher.is_accepting()),
        Err(error) if error.kind() == crate::ErrorKind::Rejected => Some(false),
        Err(_) => None,
    }
}
