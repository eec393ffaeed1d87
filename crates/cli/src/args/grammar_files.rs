//! Finds the grammars in a folder.

use crate::args::source;
use crate::io::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::syntax::Notation;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Maximum number of levels of subfolders that are searched. The bound is needed because symbolic links may form a
/// cycle.
const DEPTH: usize = 16;

/// The grammars in a folder.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The grammars, sorted by path: files, and folders that are one grammar each.
    pub(crate) grammars: Vec<PathBuf>,
    /// Number of entries that are not grammars: files with other names, TOML and JSON files of other kinds, broken
    /// links, and folders more than [`DEPTH`] levels deep.
    pub(crate) others: usize,
    /// JSON files that are not schemas: no member at the root is a keyword of JSON Schema.
    pub(crate) not_schemas: Vec<PathBuf>,
}

/// The kind of a file by its name and content.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Grammar,
    /// JSON that is not a schema.
    NotSchema,
    Other,
}

/// Keywords by which a JSON file is taken for a schema.
const KEYWORDS: [&str; 24] = [
    "$schema",
    "$id",
    "$ref",
    "$defs",
    "definitions",
    "type",
    "enum",
    "const",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "required",
    "items",
    "prefixItems",
    "contains",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "pattern",
    "format",
    "minimum",
];

/// Finds the grammars in a folder and in its subfolders. A subfolder that holds exactly one file such as `schema.json`
/// is one grammar, and is not searched.
///
/// # Errors
/// A folder cannot be read. A file with the name of a grammar cannot be read, is larger than `limits.source_bytes`, or
/// is not UTF-8.
pub(crate) fn find(folder: &Path, limits: &Limits) -> Result<Found> {
    let mut found = Found::default();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let io = |cause: std::io::Error| errors::io(&folder, &cause);
        for entry in std::fs::read_dir(&folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.is_dir() {
                match is_grammar_folder(&path) {
                    true => found.grammars.push(path),
                    false if depth < DEPTH => open.push((path, depth + 1)),
                    false => found.others += 1,
                }
            } else {
                let kind = if path.is_file() { kind_of(&path, limits)? } else { FileKind::Other };
                match kind {
                    FileKind::Grammar => found.grammars.push(path),
                    FileKind::NotSchema => found.not_schemas.push(path),
                    FileKind::Other => found.others += 1,
                }
            }
        }
    }
    found.grammars.sort();
    found.not_schemas.sort();
    Ok(found)
}

fn is_grammar_folder(folder: &Path) -> bool {
    let names = Notation::ALL.iter().flat_map(|notation| notation.folder_files());
    names.filter(|name| folder.join(name).is_file()).count() == 1
}

/// Returns the kind of a file. A grammar's name is that of a notation. Other programs have TOML and JSON files too, so
/// a spec must have a line with a known `kind`, and a schema a keyword at its root.
fn kind_of(file: &Path, limits: &Limits) -> Result<FileKind> {
    // most names can be rejected without reading the file
    if Notation::of_file(file, "").is_none() {
        return Ok(FileKind::Other);
    }
    let text = source::text(file, limits)?;
    Ok(match Notation::of_file(file, &text) {
        Some(Notation::Spec) if !text.lines().any(is_kind_of_spec) => FileKind::Other,
        Some(Notation::JsonSchema) if !may_be_schema(&text) => FileKind::NotSchema,
        Some(_) => FileKind::Grammar,
        None => FileKind::Other,
    })
}

/// Returns whether JSON may be a schema: a boolean, an empty object, or an object with a keyword. Invalid JSON may be
/// one, too, so that reading it reports the error.
fn may_be_schema(text: &str) -> bool {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(fields)) => {
            fields.is_empty() || KEYWORDS.iter().any(|keyword| fields.contains_key(*keyword))
        }
        Ok(Value::Bool(_)) | Err(_) => true,
        Ok(_) => false,
    }
}

/// Returns whether a line of TOML or JSON has the word `kind` and after it `dfa`, `nfa`, `pda` or `cfg` in quotes, as
/// an automaton spec has.
fn is_kind_of_spec(line: &str) -> bool {
    let Some((_, value)) = line.split_once("kind") else { return false };
    ["dfa", "nfa", "pda", "cfg"]
        .iter()
        .any(|kind| value.contains(&format!("\"{kind}\"")) || value.contains(&format!("'{kind}'")))
}
