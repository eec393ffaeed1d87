//! `grammata count`: how many words a grammar has.

use super::messages::Progress;
use super::output::{Exit, Failure, Output};
use super::source::{self, SourceArgs};
use grammata::automaton::words;
use grammata::automaton::words::Count;
use serde_json::json;
use std::io::Write;

/// The count is exact and stands alone on the last line; `infinite` if there is no end of words.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
    /// Write one JSON object; the count in it is a string of digits, or null
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let loaded = source::load(&arguments.source, &limits)?;
    loaded.warn();
    let progress = Progress::start("counting");
    let count = words::count(&loaded.automaton(&limits)?).map_err(|error| loaded.locate(error))?;
    progress.finish();
    if arguments.json {
        let digits = match &count {
            Count::Finite(number) => Some(number.to_string()),
            Count::Infinite => None,
        };
        output.json(&json!({ "grammar": loaded.name, "finite": digits.is_some(), "count": digits }))?;
    } else {
        writeln!(output, "{count}")?;
    }
    Ok(Exit::Done)
}
