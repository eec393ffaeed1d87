//! Typed arguments: JSON within an action's text, described by a JSON Schema.

use super::document::Document;
use super::rule_errors as errors;
use crate::error::{Error, ErrorKind, Errors, Result};
use crate::files;
use crate::grammar::{Expression, Grammar};
use crate::limits::{LimitKind, Limits};
use crate::syntax::json_schema::{self, PropertyOrder, Whitespace};
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// The compiled schema of an action's arguments.
#[derive(Debug)]
pub struct Arguments {
    schema: Value,
    grammar: Grammar,
    compact: Grammar,
}

impl Arguments {
    /// The schema.
    pub(crate) fn schema(&self) -> &Value {
        &self.schema
    }

    /// The grammar of the texts that a symbol spells for its arguments: members in the order of the schema, at most one
    /// space between tokens.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// The grammar of compact texts, with members in any order.
    pub fn compact(&self) -> &Grammar {
        &self.compact
    }

    /// Whether the schema itself says `"type": "object"`.
    pub(super) fn is_object(&self) -> bool {
        self.schema.get("type").and_then(Value::as_str) == Some("object")
    }

    /// Whether names or items in the texts must differ from each other, which intersections do not support.
    pub(super) fn is_open(&self) -> bool {
        let differ =
            |expression: &Expression| matches!(expression, Expression::Distinct(_) | Expression::Name(..));
        self.grammar.expressions().iter().any(differ)
    }
}

/// Compiles the arguments of a document's symbols, in their order. Paths of schemas are relative to `folder`.
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
