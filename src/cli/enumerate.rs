//! `grammata enumerate`: lists words.

use super::messages::{self, Progress};
use super::output::{Exit, Failure, Output};
use super::source::{self, SourceArgs};
use super::text::{json_bytes, quoted};
use crate::automaton::words;
use serde_json::json;
use std::io::Write;

/// Each word is a line: in quotes, escaped as a JSON string; bytes that are no UTF-8 are shown as `\xNN`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    /// The most words to list; 0 lists all
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// How many words to pass over first
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,
    /// Write the words as they are, each with a line end
    #[arg(long)]
    raw: bool,
    /// Write one JSON object
    #[arg(long, conflicts_with = "raw")]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let loaded = source::load(&arguments.source, &limits)?;
    loaded.warn();
    let progress = Progress::start("searching words");
    let automaton = loaded.automaton(&limits)?;
    let locate = |error| loaded.locate(error);
    let mut words = words::enumerate(&automaton).map_err(locate)?;
    for _ in 0..arguments.offset {
        match words.next() {
            Some(word) => drop(word.map_err(locate)?),
            None => break,
        }
    }
    progress.finish();
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    let mut listed = Vec::new();
    for word in words.by_ref().take(most) {
        let word = word.map_err(locate)?;
        if arguments.json {
            listed.push(json_bytes(&word));
        } else if arguments.raw {
            output.write_all(&word)?;
            output.write_all(b"\n")?;
        } else {
            writeln!(output, "{}", quoted(&word))?;
        }
    }
    let more = words.next().transpose().map_err(locate)?.is_some();
    if arguments.json {
        output.json(&json!({
            "grammar": loaded.name,
            "offset": arguments.offset,
            "words": listed,
            "more": more,
        }))?;
    } else if more {
        output.flush()?;
        messages::note(&format!("there are more words after these {most} (--limit 0 lists all)"));
    }
    Ok(Exit::Done)
}
