//! `grammata inspect`: shows the contents of a mask file, or of an archive of them.

use crate::args::limits::LimitArgs;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::{counted, hex, size};
use grammata::error::{Error, Result};
use grammata::limits::Limits;
use grammata::mask_file::{ArchiveContents, Contents, MaskArchive, MaskFile, SectionSize, listed};
use grammata::vocabulary::TokenId;
use serde::{Serialize, Serializer};
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
        // the file is then a single mask file, or a file of another kind
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
            true => output.report(&GrammarReport { grammar: grammar.to_string() })?,
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
        output.report(&Members(rows.iter().map(|row| (row.name.as_str(), &row.value)).collect()))?;
        return Ok(Exit::Done);
    }
    for Row { name, value } in rows {
        writeln!(output, "{name:<20}  {}", value.shown())?;
    }
    Ok(Exit::Done)
}

fn archive_rows(archive: &MaskArchive) -> Vec<Row> {
    let ArchiveContents { bytes, sections, files, shared_words, .. } = archive.contents();
    let mut rows = vec![
        Row::new("vocabulary", Cell::hash(archive.fingerprint())),
        Row::new("bytes", Cell::FileBytes(bytes)),
        Row::new("mask files", Cell::Count(files)),
        Row::new("shared words", Cell::Count(shared_words)),
    ];
    rows.extend(sections.iter().map(section_row));
    rows
}

fn section_row(section: &SectionSize) -> Row {
    Row { name: format!("section {}", section.name), value: Cell::SectionBytes(section.bytes) }
}

fn open(path: &Path, limits: &Limits) -> Result<MaskFile> {
    let file = MaskFile::open(path, limits).map_err(|error| errors::suggest(error, path))?;
    file.check().map_err(|error| error.in_file(&path.display().to_string()))?;
    Ok(file)
}

/// The report on the grammar of a mask file (`--grammar`).
#[derive(Serialize)]
struct GrammarReport {
    /// The grammar in human-readable notation.
    grammar: String,
}

/// The report on the differences of two mask files (`--diff`).
#[derive(Serialize)]
struct DiffReport<'r> {
    file: &'r str,
    other: &'r str,
    /// For each row that differs, its value in both files: null in a file that has no such row.
    differences: Members<'r, [Option<&'r Cell>; 2]>,
}

/// Members of a report that have the names of rows, in snake case, and their order.
struct Members<'r, T>(Vec<(&'r str, T)>);

impl<T: Serialize> Serialize for Members<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name.replace([' ', '-'], "_"), value)))
    }
}

/// A row of the report on a file: a property with its value.
struct Row {
    /// The name for people, in words.
    name: String,
    value: Cell,
}

/// The value of a row.
#[derive(PartialEq, Serialize)]
#[serde(untagged)]
enum Cell {
    /// A SHA-256, in hexadecimal.
    Hash(String),
    /// Token ids. Null if the file does not have them.
    Ids(Option<Vec<u32>>),
    Count(usize),
    /// Size of the whole file in bytes. Text output shows it in a unit that fits.
    FileBytes(usize),
    SectionBytes(usize),
}

impl Row {
    fn new(name: &str, value: Cell) -> Row {
        Row { name: name.to_owned(), value }
    }
}

impl Cell {
    fn hash(hash: [u8; 32]) -> Cell {
        Cell::Hash(hex(&hash))
    }

    /// Formats the value for people.
    fn shown(&self) -> String {
        match self {
            Cell::Hash(hash) => hash.clone(),
            Cell::Ids(None) => "not in the file".to_owned(),
            Cell::Ids(Some(ids)) => listed(&ids.iter().copied().map(TokenId::new).collect::<Vec<_>>()),
            Cell::Count(count) => count.to_string(),
            Cell::FileBytes(bytes) => size(*bytes),
            Cell::SectionBytes(bytes) => counted(*bytes, "byte"),
        }
    }
}

fn rows(file: &MaskFile) -> Vec<Row> {
    let Contents { bytes, sections, states, states_with_mask, masks, forms, shared_words, .. } =
        file.contents();
    let end_tokens = file.end_tokens().map(|ids| ids.iter().map(|id| id.get()).collect());
    let mut rows = vec![
        Row::new("vocabulary", Cell::hash(file.fingerprint())),
        Row::new("end tokens", Cell::Ids(end_tokens)),
        Row::new("grammar", Cell::hash(file.grammar_hash())),
        Row::new("bytes", Cell::FileBytes(bytes)),
        Row::new("places", Cell::Count(states)),
        Row::new("places with a mask", Cell::Count(states_with_mask)),
        Row::new("masks", Cell::Count(masks)),
        Row::new("lists", Cell::Count(forms[0])),
        Row::new("all but a list", Cell::Count(forms[1])),
        Row::new("near shared words", Cell::Count(forms[2])),
        Row::new("shared words", Cell::Count(shared_words)),
    ];
    rows.extend(sections.iter().map(section_row));
    rows
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
        output.report(&DiffReport {
            file: name,
            other: other_name,
            differences: Members(differing.iter().map(|&(name, a, b)| (name, [a, b])).collect()),
        })?;
        return Ok(exit);
    }
    for &(row, a, b) in &differing {
        let shown = |value: Option<&Cell>| value.map_or("none".to_owned(), Cell::shown);
        writeln!(output, "{row:<20}  {} in {name}, {} in {other_name}", shown(a), shown(b))?;
    }
    if differing.is_empty() {
        writeln!(output, "their contents are equal")?;
    }
    Ok(exit)
}

/// Returns the rows whose values differ, as name and both values, in the order of the first file; then those that only
/// the other file has.
fn differing<'r>(rows: &'r [Row], other: &'r [Row]) -> Vec<(&'r str, Option<&'r Cell>, Option<&'r Cell>)> {
    fn find<'r>(rows: &'r [Row], name: &str) -> Option<&'r Cell> {
        rows.iter().find(|row| row.name == name).map(|row| &row.value)
    }
    let both = rows.iter().map(|row| (row.name.as_str(), Some(&row.value), find(other, &row.name)));
    let only_other = other.iter().filter(|row| find(rows, &row.name).is_none());
    let only_other = only_other.map(|row| (row.name.as_str(), None, Some(&row.value)));
    both.chain(only_other).filter(|(_, a, b)| a != b).collect()
}
