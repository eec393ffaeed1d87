//! `grammata count`: how many words a grammar has.

use crate::args::source::{self, Origin, SourceArgs};
use crate::io::messages::Progress;
use crate::io::output::{Exit, Failure, Output};
use grammata::automaton::words;
use grammata::automaton::words::Count;
use serde::Serialize;
use std::io::Write;

/// The count is exact and stands alone on the last line; `infinite` if there is no end of words.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: SourceArgs,
}

/// The report. The count is a string of digits, or null if it is infinite.
#[derive(Serialize)]
struct Report<'a> {
    grammar: &'a Origin,
    finite: bool,
    count: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let loaded = source::load(&arguments.source, &limits)?;
    loaded.warn();
    let progress = Progress::start("counting");
    let count = words::count(&loaded.automaton(&limits)?).map_err(|error| loaded.locate(error))?;
    progress.finish();
    if output.is_json() {
        let digits = match &count {
            Count::Finite(number) => Some(number.to_string()),
            Count::Infinite => None,
        };
        output.report(&Report { grammar: &loaded.origin, finite: digits.is_some(), count: digits })?;
    } else {
        writeln!(output, "{count}")?;
    }
    Ok(Exit::Done)
}
