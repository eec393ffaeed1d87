//! The formatter: a procedure's file in one layout.

use crate::document::{Content, Document, Entry, Format, NodeId};
use crate::procedures::language::errors;
use crate::procedures::language::pdl;
use crate::procedures::semantics::procedure::Procedure;
use grammata::error::Result;
use grammata::limits::Limits;
use serde_json::Value;
use std::fmt::Write;
use std::path::Path;

/// The maximum number of characters of a mapping in a list that is written in one line.
const WIDTH: usize = 110;

/// Writes a file as YAML in one layout: keys in the order of the file; each slot, API and answer in one line if it
/// fits; the text of the procedure as a block with two spaces per level. The result reads as the same procedure.
/// Comments outside of the text are lost. Formatting is idempotent.
///
/// # Errors
/// Those of [`Procedure::read`].
pub fn format(text: &str, notation: Format, limits: &Limits) -> Result<String> {
    format_in(text, notation, None, limits)
}

/// [Formats](format()) a procedure of a folder, as [`Procedure::read_in`] reads it.
///
/// # Errors
/// Those of [`Procedure::read`].
pub fn format_in(text: &str, notation: Format, folder: Option<&Path>, limits: &Limits) -> Result<String> {
    Procedure::read_in(text, notation, folder, limits)?;
    let document = Document::read(text, notation)
        .map_err(|malformed| errors::syntax(malformed.place, &malformed.found, &malformed.allowed))?;
    let mut formatted = String::new();
    let Content::Mapping(entries) = &document.node(0).content else { return Ok(formatted) };
    for entry in entries {
        field(&document, entry, &mut formatted);
    }
    Ok(formatted)
}

/// Writes a key of the file with its value.
fn field(document: &Document, entry: &Entry, into: &mut String) {
    let key = scalar(&entry.key, false);
    match &document.node(entry.value).content {
        Content::List(items) if !items.is_empty() => {
            let _ = writeln!(into, "{key}:");
            for &item in items {
                item_of(document, item, into);
            }
        }
        Content::Scalar { text, .. } if is_text(&entry.key) && !text.trim().is_empty() => {
            let _ = writeln!(into, "{key}: |\n{}", block(text));
        }
        _ => {
            let _ = writeln!(into, "{key}: {}", flow(document, entry.value));
        }
    }
}

/// Returns whether the value of a key is the text of a procedure.
fn is_text(key: &str) -> bool {
    matches!(key.trim().to_lowercase().as_str(), "procedure" | "pdl")
}

/// Writes an item of a list in one line; a mapping of more than [`WIDTH`] characters has one line per key.
fn item_of(document: &Document, item: NodeId, into: &mut String) {
    let line = flow(document, item);
    match &document.node(item).content {
        Content::Mapping(entries) if line.chars().count() > WIDTH => {
            for (place, entry) in entries.iter().enumerate() {
                let mark = if place == 0 { "  - " } else { "    " };
                let _ =
                    writeln!(into, "{mark}{}: {}", scalar(&entry.key, false), flow(document, entry.value));
            }
        }
        _ => {
            let _ = writeln!(into, "  - {line}");
        }
    }
}

/// Returns a value in one line.
fn flow(document: &Document, root: NodeId) -> String {
    enum Task<'d> {
        Value(NodeId),
        Text(&'d str),
        Key(&'d str),
    }
    let mut text = String::new();
    let mut open = vec![Task::Value(root)];
    while let Some(task) = open.pop() {
        match task {
            Task::Text(part) => text.push_str(part),
            Task::Key(key) => {
                let _ = write!(text, "{}: ", scalar(key, false));
            }
            Task::Value(id) => match &document.node(id).content {
                Content::Scalar { text: value, is_plain } => text.push_str(&scalar(value, *is_plain)),
                Content::List(items) => {
                    text.push('[');
                    open.push(Task::Text("]"));
                    for (place, &item) in items.iter().enumerate().rev() {
                        open.push(Task::Value(item));
                        open.extend((place > 0).then_some(Task::Text(", ")));
                    }
                }
                Content::Mapping(entries) => {
                    text.push('{');
                    open.push(Task::Text("}"));
                    for (place, entry) in entries.iter().enumerate().rev() {
                        open.extend([Task::Value(entry.value), Task::Key(&entry.key)]);
                        open.extend((place > 0).then_some(Task::Text(", ")));
                    }
                }
            },
        }
    }
    text
}

/// Returns a scalar in one line: plain if it has only unreserved characters and reads as the same value, otherwise as
/// JSON, which puts texts in double quotes.
fn scalar(text: &str, is_plain: bool) -> String {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | ' ' | '-' | '.' | '/' | '!');
    let is_safe = !text.is_empty()
        && text.starts_with(|c: char| c.is_alphanumeric())
        && text.trim() == text
        && text.chars().all(is_word)
        && !text.contains("  ");
    let is_value = is_plain || crate::document::scalar(text, true) == Value::String(text.to_owned());
    match is_safe && is_value {
        true => text.to_owned(),
        false if is_plain && crate::document::scalar(text, true) != Value::String(text.to_owned()) => {
            let value = crate::document::scalar(text, true);
            value.to_string()
        }
        false => Value::from(text).to_string(),
    }
}

/// Returns the text of a procedure with two spaces per level; the outermost level is 1. Blank lines at the end are
/// removed.
fn block(text: &str) -> String {
    let mut levels: Vec<usize> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let mut depth: i64 = 0;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            lines.push(String::new());
            continue;
        }
        // a line inside open brackets is one level deeper than its statement
        let level = if depth > 0 { levels.len() + 1 } else { level(&mut levels, pdl::indent(line)) };
        lines.push(format!("{}{trimmed}", " ".repeat(2 * level)));
        depth = depth.saturating_add(pdl::opened(line, depth > 0)).max(0);
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines.join("\n")
}

/// Returns the level of a line, from 1, by its column. `levels` are the columns of the open levels.
fn level(levels: &mut Vec<usize>, column: usize) -> usize {
    while levels.last().is_some_and(|&last| last > column) {
        levels.pop();
    }
    if levels.last() != Some(&column) {
        levels.push(column);
    }
    levels.len()
}
