//! Reads the functions of a Python file, which is parsed and never executed: one tool per `def` at the left margin
//! whose name does not begin with `_`.

mod annotation;
mod lines;

use super::{Draft, Made, Reading};
use crate::tools::errors;
use annotation::Types;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use lines::{Kind, Line, Token};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// Returns whether a line of the text begins a function at the left margin.
pub(super) fn is_python(text: &str) -> bool {
    text.lines().any(|line| {
        let line = line.strip_prefix("async ").unwrap_or(line);
        line.strip_prefix("def ").is_some_and(|rest| rest.contains('('))
    })
}

/// Adds a tool for each function of a Python file at the left margin whose name does not begin with `_`.
pub(super) fn read(text: &str, reading: &mut Reading<'_>) -> Result<()> {
    let lines = lines::of(text)?;
    reading.budget.spend(text.len())?;
    let classes: FxHashMap<&str, &[Line<'_>]> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.indent == 0 && line.word(0) == "class")
        .map(|(at, line)| (line.word(1), block(&lines, at)))
        .collect();
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.indent == 0) {
        let start = match (line.word(0), line.word(1)) {
            ("def", _) => 1,
            ("async", "def") => 2,
            _ => continue,
        };
        let name = line.word(start).to_owned();
        if name.starts_with('_') {
            continue;
        }
        let doc =
            lines.get(at + 1).filter(|next| next.indent > 0).and_then(Line::only_string).unwrap_or_default();
        let place = Place::LineColumn { line: line.number, column: 1 };
        let doc = Doc::of(&doc);
        let mut notes = Vec::new();
        let made = signature(line, start + 1, &classes, &doc, reading, &mut notes);
        reading.add(Draft {
            name,
            description: doc.summary,
            label: None,
            place,
            made: made.map(Made::of_host),
            notes,
        })?;
    }
    Ok(())
}

/// Returns a line at the left margin and the indented lines that follow.
fn block<'l, 't>(lines: &'l [Line<'t>], at: usize) -> &'l [Line<'t>] {
    let inside = lines[at + 1..].iter().take_while(|line| line.indent > 0).count();
    &lines[at..=at + inside]
}

/// A docstring: descriptions of the function and of its parameters (Google, NumPy and Sphinx layouts).
struct Doc {
    summary: String,
    parameters: FxHashMap<String, String>,
}

impl Doc {
    fn of(text: &str) -> Doc {
        let mut summary = String::new();
        let mut parameters = FxHashMap::default();
        let mut is_summary = true;
        for line in text.lines() {
            let line = line.trim();
            let heads = [
                "Args:",
                "Arguments:",
                "Parameters:",
                "Parameters",
                "Returns:",
                "Returns",
                "Raises:",
                "Example",
            ];
            if heads.iter().any(|head| line.starts_with(head)) {
                is_summary = false;
                continue;
            }
            let sphinx = line.strip_prefix(":param ");
            is_summary &= sphinx.is_none();
            let entry = sphinx.unwrap_or(line);
            if !is_summary && let Some((name, meaning)) = entry.split_once(':') {
                // `name (type): meaning`, `name : type`, `type name: meaning`
                let name = name.split('(').next().unwrap_or_default().trim();
                let name = if sphinx.is_some() { name.rsplit(' ').next().unwrap_or_default() } else { name };
                let name = name.trim_start_matches('*');
                if !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                    parameters.insert(name.to_owned(), meaning.trim().to_owned());
                }
            } else if is_summary && !line.is_empty() {
                if !summary.is_empty() {
                    summary.push(' ');
                }
                summary.push_str(line);
            }
        }
        Doc { summary, parameters }
    }
}

/// Converts a signature, which begins at token `start`, to the schema of the arguments.
fn signature(
    line: &Line<'_>,
    start: usize,
    classes: &FxHashMap<&str, &[Line<'_>]>,
    doc: &Doc,
    reading: &Reading<'_>,
    notes: &mut Vec<Diagnostic>,
) -> Result<Value> {
    let place = Place::LineColumn { line: line.number, column: 1 };
    let wrong = |found: &str| {
        errors::fatal(errors::form(place.clone(), found, "def name(parameter: type = default, ...):"))
    };
    let tokens = &line.tokens;
    if !tokens.get(start).is_some_and(|token| token.is("(")) {
        return Err(wrong("no parameters in parentheses"));
    }
    let end = lines::closing(tokens, start).ok_or_else(|| wrong("a parenthesis that is not closed"))?;
    let mut types = Types::new(classes, reading.options.open_objects, place.clone());
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let parameters = lines::split(&tokens[start + 1..end], ",");
    // parameters before a slash are positional, but calls name their arguments
    let positional = parameters.iter().position(|parameter| matches!(parameter, [sign] if sign.is("/")));
    for (at, parameter) in parameters.into_iter().enumerate() {
        reading.budget.spend(parameter.len())?;
        let stars = parameter.iter().take_while(|token| token.is("*") || token.is("**")).count();
        let rest = &parameter[stars..];
        let Some(Token { kind: Kind::Name, text, .. }) = rest.first() else { continue };
        if stars > 0 {
            let message = match parameter.first().is_some_and(|token| token.is("**")) {
                true => "members of any name are left out",
                false => "arguments of any number are left out",
            };
            notes.push(errors::notice(place.clone(), message, text, "declare them"));
            continue;
        }
        let parts = lines::split(&rest[1..], "=");
        if positional.is_some_and(|slash| at < slash) {
            let message = "this parameter cannot be given by its name";
            if parts.len() < 2 {
                let allowed = "a parameter after the `/`, or with a default";
                return Err(errors::fatal(errors::not_callable(place.clone(), message, text, allowed)));
            }
            notes.push(errors::notice(
                place.clone(),
                message,
                text,
                "it is left out; move it behind the `/`",
            ));
            continue;
        }
        let annotation = parts
            .first()
            .and_then(|tokens| tokens.first().is_some_and(|token| token.is(":")).then(|| &tokens[1..]));
        let mut schema = match annotation {
            Some(annotation) => types.schema(annotation)?,
            None => json!({}),
        };
        if parts.len() < 2 {
            required.push(Value::from(*text));
        }
        if let (Some(meaning), Some(object)) = (doc.parameters.get(*text), schema.as_object_mut()) {
            object.insert("description".to_owned(), meaning.as_str().into());
        }
        properties.insert((*text).to_owned(), schema);
    }
    let definitions = types.finish()?;
    notes.append(&mut types.notes);
    let mut schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    if !definitions.is_empty() {
        schema["$defs"] = Value::Object(definitions);
    }
    Ok(schema)
}
