//! `grammata inspect`: shows the contents of a mask file, or of an archive of them.

use crate::args::limits::LimitArgs;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::{counted, hex, size};
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata::mask_file::{ArchiveContents, Contents, MaskArchive, MaskFile, SectionSize, listed};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The mask file, or an archive of mask files
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The mask file of this name in an archive
    #[arg(long)]
    name: Option<String>,
    /// List the names in an archive, one a line
    #[arg(long, conflicts_with_all = ["name", "diff", "grammar"])]
    names: bool,
    /// Write the mask file to a file of its own
    #[arg(short, long, value_name = "FILE", requires = "name", conflicts_with_all = ["diff", "grammar"])]
    output: Option<PathBuf>,
    /// Compare with another mask file; the exit code is 1 if they differ
    #[arg(long, value_name = "FILE", conflicts_with = "grammar")]
    diff: Option<PathBuf>,
    /// Write the grammar in the file, for people
    #[arg(long)]
    grammar: bool,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let path = &arguments.file;
    let archive = match MaskArchive::open(path, &limits) {
        // then the file is a single mask file, or neither
        Err(error)
            if error.code() == "mask-file/no-archive" && !arguments.names && arguments.name.is_none() =>
        {
            None
        }
        archive => Some(archive.map_err(|error| errors::suggest(error, path))?),
    };
    let file = match (&archive, &arguments.name) {
        (Some(archive), None) => return show_archive(arguments, archive, output),
        (Some(archive), Some(name)) => member(archive, path, name)?,
        (None, _) => open(path, &limits)?,
    };
    if let Some(to) = &arguments.output {
        file.save(to)?;
    }
    if arguments.grammar {
        let grammar = file.grammar(&limits).map_err(|error| error.in_file(&path.display().to_string()))?;
        match output.is_json() {
            true => output.report(&json!({ "grammar": grammar.to_string() }))?,
            false => write!(output, "{grammar}")?,
        }
        return Ok(Exit::Done);
    }
    match &arguments.diff {
        Some(other) => {
            let (name, rows) = (other.display().to_string(), rows(&file));
            let other = self::rows(&open(other, &limits)?);
            diff(&arguments.file.display().to_string(), &rows, &name, &other, output)
        }
        None => show(&rows(&file), output),
    }
}

/// Reads and checks the mask file of this name in an archive.
fn member(archive: &MaskArchive, path: &Path, name: &str) -> Result<MaskFile> {
    let in_file = |error: Error| error.in_file(&path.display().to_string());
    let found = archive.get(name).map_err(in_file)?;
    let none = || {
        let names: Vec<String> = archive.names().filter_map(Result::ok).collect();
        errors::no_such_name(name, names.iter().map(String::as_str))
    };
    let file = found.ok_or_else(none).map_err(in_file)?;
    file.check().map_err(in_file)?;
    Ok(file)
}

fn show_archive(arguments: &Arguments, archive: &MaskArchive, output: &mut Output) -> Result<Exit, Failure> {
    let in_file = |error: Error| error.in_file(&arguments.file.display().to_string());
    if arguments.names {
        if output.is_json() {
            output.list("names")?;
        }
        for name in archive.names() {
            let name = name.map_err(in_file)?;
            match output.is_json() {
                true => output.item(&name)?,
                false => writeln!(output, "{name}")?,
            }
        }
        return Ok(Exit::Done);
    }
    if arguments.grammar || arguments.diff.is_some() {
        return Err(in_file(errors::name_needed()).into());
    }
    archive.check().map_err(in_file)?;
    show(&archive_rows(archive), output)
}

fn show(rows: &[Row], output: &mut Output) -> Result<Exit, Failure> {
    if output.is_json() {
        let rows = rows.iter().map(|(name, value, _)| (name.replace([' ', '-'], "_"), value.clone()));
        output.report(&Value::Object(rows.collect()))?;
        return Ok(Exit::Done);
    }
    for (name, _, shown) in rows {
        writeln!(output, "{name:<20}  {shown}")?;
    }
    Ok(Exit::Done)
}

fn archive_rows(archive: &MaskArchive) -> Vec<Row> {
    let ArchiveContents { bytes, sections, files, shared_words, .. } = archive.contents();
    let count = |name: &str, count: usize| (name.to_owned(), json!(count), count.to_string());
    let fingerprint = hex(&archive.fingerprint());
    let mut rows = vec![
        ("vocabulary".to_owned(), json!(fingerprint), fingerprint),
        ("bytes".to_owned(), json!(bytes), size(bytes)),
        count("mask files", files),
        count("shared words", shared_words),
    ];
    rows.extend(sections.iter().map(section_row));
    rows
}

fn section_row(section: &SectionSize) -> Row {
    (format!("section {}", section.name), json!(section.bytes), counted(section.bytes, "byte"))
}

fn open(path: &Path, limits: &Limits) -> Result<MaskFile> {
    let file = MaskFile::open(path, limits).map_err(|error| errors::suggest(error, path))?;
    file.check().map_err(|error| error.in_file(&path.display().to_string()))?;
    Ok(file)
}

/// The name of a row, its value in JSON, and its value in text.
type Row = (String, Value, String);

fn rows(file: &MaskFile) -> Vec<Row> {
    let Contents { bytes, sections, states, states_with_mask, masks, forms, shared_words, .. } =
        file.contents();
    let count = |name: &str, count: usize| (name.to_owned(), json!(count), count.to_string());
    let hash = |name: &str, hash: [u8; 32]| (name.to_owned(), json!(hex(&hash)), hex(&hash));
    let mut rows = vec![
        hash("vocabulary", file.fingerprint()),
        end_tokens(file),
        hash("grammar", file.grammar_hash()),
        ("bytes".to_owned(), json!(bytes), size(bytes)),
        count("places", states),
        count("places with a mask", states_with_mask),
        count("masks", masks),
        count("lists", forms[0]),
        count("all but a list", forms[1]),
        count("near shared words", forms[2]),
        count("shared words", shared_words),
    ];
    rows.extend(sections.iter().map(section_row));
    rows
}

fn end_tokens(file: &MaskFile) -> Row {
    let ids = file.end_tokens();
    let shown = ids.as_deref().map_or_else(|| "not in the file".to_owned(), listed);
    let ids = ids.map(|ids| ids.iter().map(|id| id.get()).collect::<Vec<_>>());
    ("end tokens".to_owned(), json!(ids), shown)
}

fn diff(
    name: &str,
    rows: &[Row],
    other_name: &str,
    other: &[Row],
    output: &mut Output,
) -> Result<Exit, Failure> {
    let differing = differing(rows, other);
    let exit = if differing.is_empty() { Exit::Done } else { Exit::Rejected };
    if output.is_json() {
        let value = |row: Option<&Row>| row.map_or(Value::Null, |row| row.1.clone());
        let differing = differing
            .iter()
            .map(|&(name, a, b)| (name.replace([' ', '-'], "_"), json!([value(a), value(b)])));
        let differing: serde_json::Map<String, Value> = differing.collect();
        output.report(&json!({ "file": name, "other": other_name, "differences": differing }))?;
        return Ok(exit);
    }
    for &(row, a, b) in &differing {
        let shown = |row: Option<&Row>| row.map_or("none".to_owned(), |row| row.2.clone());
        writeln!(output, "{row:<20}  {} in {name}, {} in {other_name}", shown(a), shown(b))?;
    }
    if differing.is_empty() {
        writeln!(output, "their contents are equal")?;
    }
    Ok(exit)
}

/// Returns the rows whose values differ, as name and both rows, in the order of the first file; then those that only
/// the other file has.
fn differing<'r>(rows: &'r [Row], other: &'r [Row]) -> Vec<(&'r str, Option<&'r Row>, Option<&'r Row>)> {
    let find = |rows: &'r [Row], name: &str| rows.iter().find(|row| row.0 == name);
    let both = rows.iter().map(|row| (row.0.as_str(), Some(row), find(other, &row.0)));
    let only_other = other.iter().filter(|row| find(rows, &row.0).is_none());
    let only_other = only_other.map(|row| (row.0.as_str(), None, Some(row)));
    let value = |row: Option<&'r Row>| row.map(|row| &row.1);
    both.chain(only_other).filter(|&(_, a, b)| value(a) != value(b)).collect()
}
