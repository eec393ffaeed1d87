//! `grammata inspect`: what a mask file holds.

use super::errors;
use super::limits::LimitArgs;
use super::output::{Exit, Failure, Output};
use super::text::{counted, hex, size};
use crate::error::Result;
use crate::limits::Limits;
use crate::mask_file::{Contents, MaskFile};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The mask file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Say what differs in another mask file
    #[arg(long, value_name = "FILE", conflicts_with = "grammar")]
    diff: Option<PathBuf>,
    /// Write the grammar in the file, for people
    #[arg(long)]
    grammar: bool,
    #[command(flatten)]
    limits: LimitArgs,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.limits.get();
    let file = open(&arguments.file, &limits)?;
    if arguments.grammar {
        write!(output, "{}", file.grammar(&limits)?)?;
        return Ok(Exit::Done);
    }
    match &arguments.diff {
        Some(other) => {
            let (name, rows) = (other.display().to_string(), rows(&file));
            let other = self::rows(&open(other, &limits)?);
            diff(&arguments.file.display().to_string(), &rows, &name, &other, arguments.json, output)
        }
        None if arguments.json => {
            let rows = rows(&file).into_iter().map(|(name, value, _)| (name.replace(' ', "_"), value));
            output.json(&Value::Object(rows.collect()))?;
            Ok(Exit::Done)
        }
        None => {
            for (name, _, shown) in rows(&file) {
                writeln!(output, "{name:<20}  {shown}")?;
            }
            Ok(Exit::Done)
        }
    }
}

fn open(path: &Path, limits: &Limits) -> Result<MaskFile> {
    let file = MaskFile::open(path, limits).map_err(|error| errors::suggest(error, path))?;
    file.check().map_err(|error| error.in_file(&path.display().to_string()))?;
    Ok(file)
}

/// A name, the value, and the value for people.
type Row = (String, Value, String);

fn rows(file: &MaskFile) -> Vec<Row> {
    let Contents { bytes, sections, states, states_with_mask, masks, forms, shared_words, .. } =
        file.contents();
    let count = |name: &str, count: usize| (name.to_owned(), json!(count), count.to_string());
    let hash = |name: &str, hash: [u8; 32]| (name.to_owned(), json!(hex(&hash)), hex(&hash));
    let mut rows = vec![
        hash("vocabulary", file.fingerprint()),
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
    let section = sections.iter().map(|section| {
        (format!("section {}", section.name), json!(section.bytes), counted(section.bytes, "byte"))
    });
    rows.extend(section);
    rows
}

fn diff(
    name: &str,
    rows: &[Row],
    other_name: &str,
    other: &[Row],
    is_json: bool,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let differing: Vec<_> = rows.iter().zip(other).filter(|(a, b)| a.1 != b.1).collect();
    if is_json {
        let differing = differing.iter().map(|(a, b)| (a.0.replace(' ', "_"), json!([a.1, b.1])));
        output.json(&Value::Object(differing.collect()))?;
        return Ok(Exit::Done);
    }
    for (a, b) in &differing {
        writeln!(output, "{:<20}  {} in {name}, {} in {other_name}", a.0, a.2, b.2)?;
    }
    if differing.is_empty() {
        writeln!(output, "nothing differs in what they hold")?;
    }
    Ok(Exit::Done)
}
