//! The arguments of an action: JSON within its text, described by a JSON Schema.

use super::document::Document;
use super::rule_errors as errors;
use crate::error::{Error, ErrorKind, Errors, Result};
use crate::files;
use crate::grammar::{Expression, Grammar};
use crate::limits::{LimitKind, Limits};
use crate::syntax::json_schema::{self, PropertyOrder, Whitespace};
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// The schema of an action's arguments, and its two grammars.
#[derive(Debug)]
pub struct Arguments {
    schema: Value,
    grammar: Grammar,
    compact: Grammar,
}

impl Arguments {
    /// The JSON Schema, as written in the spec or read from a file.
    pub(crate) fn schema(&self) -> &Value {
        &self.schema
    }

    /// The grammar of the texts that a symbol spells for its arguments: members in the order of the schema, and at most
    /// one space between any two JSON tokens.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The grammar of texts without white space, with members in any order.
    pub fn compact(&self) -> &Grammar {
        &self.compact
    }

    /// Whether the schema itself, not a schema inside it, has `"type": "object"`.
    pub(super) fn is_object(&self) -> bool {
        self.schema.get("type").and_then(Value::as_str) == Some("object")
    }

    /// Whether the grammar requires names of members or items to differ from each other, which intersections do not
    /// support.
    pub(super) fn is_open(&self) -> bool {
        let differ =
            |expression: &Expression| matches!(expression, Expression::Distinct(_) | Expression::Name(..));
        self.grammar.expressions().iter().any(differ)
    }
}

/// Compiles the arguments of a document's symbols, in their order; `None` for symbols without arguments. Paths of files
/// with schemas are relative to `folder`.
///
/// # Errors
/// `automaton-spec/arguments` for a symbol whose text does not have exactly one `{}` or that has a set, and for a file
/// that cannot be read; the errors of the schemas; up to 20 errors. `limit/exceeded` for a file of more than
/// `source_bytes`.
pub(super) fn compile(
    document: &Document,
    folder: Option<&Path>,
    limits: &Limits,
) -> Result<Vec<Option<Arguments>>> {
    let mut errors = Errors::default();
    let mut all = Vec::with_capacity(document.symbols.0.len());
    for symbol in &document.symbols.0 {
        let written = symbol.arguments.as_ref().filter(|_| !errors.is_full());
        let Some(written) = written else {
            all.push(None);
            continue;
        };
        if symbol.set.is_some() || symbol.text.matches("{}").count() != 1 {
            errors.push(errors::text_of_arguments(&symbol.id));
        }
        let schema = match written {
            Value::String(path) => read_file(&symbol.id, path, folder, limits),
            schema => Ok(schema.clone()),
        };
        all.push(errors.take(schema.and_then(|schema| {
            compile_one(schema, limits).map_err(|error| errors::arguments_schema(&symbol.id, &error))
        })));
    }
    errors.finish()?;
    Ok(all)
}

/// Compiles a schema to both grammars.
fn compile_one(schema: Value, limits: &Limits) -> Result<Arguments> {
    let written = json_schema::Options {
        whitespace: Whitespace::Pattern(" ?".to_owned()),
        limits: limits.clone(),
        ..json_schema::Options::default()
    };
    let read = json_schema::Options {
        whitespace: Whitespace::Compact,
        property_order: PropertyOrder::Any,
        ..written.clone()
    };
    let grammar = json_schema::compile_value(&schema, &written)?.grammar;
    let compact = json_schema::compile_value(&schema, &read)?.grammar;
    Ok(Arguments { schema, grammar, compact })
}

/// Reads a schema from a file in the folder of the spec, or in a folder below it.
///
/// # Errors
/// `automaton-spec/arguments` if there is no folder, the path leads out of it, or the file cannot be read as JSON;
/// `limit/exceeded` for a file of more than `source_bytes`.
fn read_file(id: &str, path: &str, folder: Option<&Path>, limits: &Limits) -> Result<Value> {
    let fail = |cause: String| errors::arguments_file(id, path, cause);
    let Some(folder) = folder else {
        return Err(fail("a spec that is not from a file has no folder to look in".to_owned()));
    };
    let relative = PathBuf::from(path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err(fail("the path leads out of the folder of the spec".to_owned()));
    }
    let too_large =
        |found: u64| Limits::exceeded(LimitKind::SourceBytes, limits.source_bytes, format!("{found} bytes"));
    let unreadable = |error: Error| match error.kind() {
        ErrorKind::Limit => error.in_file(&folder.join(&relative).display().to_string()),
        _ => fail(errors::why_unreadable(&error)),
    };
    let root = files::resolved(folder).map_err(unreadable)?;
    let bytes = files::read_within(folder, &relative, &root, limits.source_bytes, too_large);
    let bytes = bytes.map_err(unreadable)?.ok_or_else(|| fail("there is no such file".to_owned()))?;
    serde_json::from_slice(&bytes).map_err(|cause| fail(cause.to_string()))
}
