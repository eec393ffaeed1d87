//! Reads schemas and their tests: MaskBench's folder of JSON files, or a file with one schema a line.
//!
//! A schema is an object with `id` (in a folder: the file's name), `schema` (the schema itself or its text) and
//! `tests`, each with `valid` and `data` (a value) or `text` (the value as it is to be written).

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// A schema with its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) tests: Vec<Test>,
}

/// An instance, as text, and whether the schema admits it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Test {
    pub(crate) valid: bool,
    pub(crate) text: String,
}

/// Returns the schemas at `path`, which are read one after the other.
pub(crate) fn read(path: &Path) -> Result<Box<dyn Iterator<Item = Result<Schema, String>>>, String> {
    if path.is_dir() {
        return Ok(Box::new(files(path)?.into_iter().map(|file| {
            let id = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&file).map_err(|e| failure(&file, e))?;
            schema(&text, Some(id)).map_err(|e| failure(&file, e))
        })));
    }
    let file = File::open(path).map_err(|e| failure(path, e))?;
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let content: Box<dyn Read> = if packed { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let path = path.to_owned();
    let lines = BufReader::with_capacity(1 << 16, content).lines();
    Ok(Box::new(lines.enumerate().map(move |(at, line)| {
        let read = line.map_err(|e| e.to_string()).and_then(|line| schema(&line, None));
        read.map_err(|e| failure(&path, format!("line {}: {e}", at + 1)))
    })))
}

fn failure(path: &Path, cause: impl std::fmt::Display) -> String {
    format!("`{}`: {cause}", path.display())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| failure(folder, e))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<io::Result<Vec<PathBuf>>>().map_err(|e| failure(folder, e))?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    if paths.is_empty() { Err(failure(folder, "no .json files in this folder")) } else { Ok(paths) }
}

/// Reads a schema and its tests from JSON text. `id` is used instead of the member `id` if it is given.
pub(crate) fn schema(text: &str, id: Option<String>) -> Result<Schema, String> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    let id = id.or_else(|| value["id"].as_str().map(str::to_owned)).ok_or("no `id`")?;
    let text = match value.get("schema").ok_or("no `schema`")? {
        Value::String(text) => text.clone(),
        schema => spaced(schema),
    };
    let tests = value["tests"].as_array().ok_or("no `tests`")?.iter().map(|test| {
        let valid = test["valid"].as_bool().ok_or("a test without `valid`")?;
        let text = match (test["text"].as_str(), test.get("data")) {
            (Some(text), _) => text.to_owned(),
            (None, Some(data)) => spaced(data),
            (None, None) => return Err("a test without `data` and `text`".to_owned()),
        };
        Ok(Test { valid, text })
    });
    Ok(Schema { id, text, tests: tests.collect::<Result<_, _>>()? })
}

/// A JSON formatter that writes a blank after each comma and colon. MaskBench feeds such text to the engines, because
/// Python's `json.dumps` writes it.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

fn spaced(value: &Value) -> String {
    let mut text = Vec::new();
    let written = serde::Serialize::serialize(value, &mut Serializer::with_formatter(&mut text, Spaced));
    written.expect("a value can be written to memory");
    String::from_utf8(text).expect("JSON is UTF-8")
}
