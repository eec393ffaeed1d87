//! Typed arguments: the JSON that an action's text holds, by a JSON Schema.

use super::document::Document;
use super::rule_errors as errors;
use crate::automaton::{Automaton, ConfigurationId, Tables};
use crate::error::{Errors, Result};
use crate::grammar::Grammar;
use crate::limits::Limits;
use crate::syntax::json_schema::{self, JsonSchemaOptions, PropertyOrder, Whitespace};
use serde_json::Value;
use std::path::{Component, Path, PathBuf};

/// The compiled schema of an action's arguments.
#[derive(Debug)]
pub(crate) struct Arguments {
    schema: Value,
    grammar: Grammar,
    /// The texts that [`check`](Arguments::check) accepts: compact, members in any order.
    reader: Automaton,
}

/// Where arguments are not what their schema admits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongArguments {
    /// The JSON Pointer of the innermost value in which the first wrong character is.
    pub pointer: String,
    /// The arguments up to and including that character, in compact JSON.
    pub found: String,
}

impl Arguments {
    /// The schema.
    pub(crate) fn schema(&self) -> &Value {
        &self.schema
    }

    /// The grammar of the texts that a symbol spells for its arguments: members in the order of the schema, at most one
    /// space between tokens.
    pub(crate) fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Whether all texts are JSON objects.
    pub(super) fn is_object(&self) -> bool {
        let mut tables = Tables::new();
        let Ok(start) = tables.start(&self.reader) else { return false };
        let firsts = tables.candidate_bytes(&self.reader, start);
        !tables.is_accepting(start) && (0..=255u8).all(|byte| byte == b'{' || !firsts.contains(byte))
    }

    /// What is wrong with arguments, if anything is. Members may come in any order.
    ///
    /// # Errors
    /// Limits.
    pub(crate) fn check(&self, value: &Value) -> Result<Option<WrongArguments>> {
        let text = value.to_string();
        let mut tables = Tables::new();
        let mut at = tables.start(&self.reader)?;
        for (place, &byte) in text.as_bytes().iter().enumerate() {
            at = tables.step(&self.reader, at, byte)?;
            if at == ConfigurationId::DEAD {
                let end = text.ceil_char_boundary(place + 1);
                let found = text.get(..end).unwrap_or_default().to_owned();
                return Ok(Some(WrongArguments { pointer: pointer_at(&text, place), found }));
            }
        }
        if tables.is_accepting(at) {
            return Ok(None);
        }
        Ok(Some(WrongArguments { pointer: String::new(), found: text }))
    }
}

/// The JSON Pointer of the innermost value of a compact JSON text that holds the byte at `offset`.
fn pointer_at(text: &str, offset: usize) -> String {
    enum Open {
        Object(Option<String>),
        Array(usize),
    }
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < offset {
        match bytes[at] {
            b'{' => open.push(Open::Object(None)),
            b'[' => open.push(Open::Array(0)),
            b'}' | b']' => {
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Open::Array(index)) => *index += 1,
                Some(Open::Object(key)) => *key = None,
                None => {}
            },
            b'"' => {
                let start = at;
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                if at >= offset {
                    break;
                }
                if let Some(Open::Object(key @ None)) = open.last_mut() {
                    *key = text.get(start..=at).and_then(|name| serde_json::from_str(name).ok());
                }
            }
            _ => {}
        }
        at += 1;
    }
    let mut pointer = String::new();
    for part in &open {
        match part {
            Open::Object(Some(key)) => pointer.push_str(&super::document::pointer([key.as_str()])),
            Open::Object(None) => {}
            Open::Array(index) => pointer.push_str(&format!("/{index}")),
        }
    }
    pointer
}

/// The arguments of a document's symbols, in their order. `folder` is where paths of schemas lead from.
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
    let written = JsonSchemaOptions {
        whitespace: Whitespace::Pattern(" ?".to_owned()),
        limits: limits.clone(),
        ..JsonSchemaOptions::default()
    };
    let read = JsonSchemaOptions {
        whitespace: Whitespace::Compact,
        property_order: PropertyOrder::Any,
        ..written.clone()
    };
    let grammar = json_schema::compile_value(&schema, &written)?.grammar;
    let reader = Automaton::new(&json_schema::compile_value(&schema, &read)?.grammar, limits)?;
    Ok(Arguments { schema, grammar, reader })
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
    let file = folder.join(relative);
    let size = std::fs::metadata(&file).map_err(|cause| fail(cause.to_string()))?.len();
    if size > limits.source_bytes as u64 {
        return Err(Limits::exceeded("source_bytes", limits.source_bytes, format!("{size} bytes")));
    }
    let text = std::fs::read_to_string(&file).map_err(|cause| fail(cause.to_string()))?;
    serde_json::from_str(&text).map_err(|cause| fail(cause.to_string()))
}

#[cfg(test)]
mod tests {
    use super::pointer_at;

    #[test]
    fn a_pointer_leads_to_the_innermost_value() {
        let text = r#"{"a":[1,{"b/c":"x\"y"}],"d":2}"#;
        for (part, pointer) in [
            ("1", "/a/0"),
            ("x", "/a/1/b~1c"),
            ("y", "/a/1/b~1c"),
            ("2", "/d"),
            ("\"d", ""),
            ("{\"b", "/a/1"),
        ] {
            assert_eq!(pointer_at(text, text.find(part).unwrap()), pointer, "{part}");
        }
    }
}
