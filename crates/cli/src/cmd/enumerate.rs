//! `grammata enumerate`: lists words.

use crate::args::source::{self, Origin, SourceArgs};
use crate::io::errors;
use crate::io::messages::{self, Progress};
use crate::io::output::{Exit, Failure, Output};
use crate::io::words;
use grammata::automaton::words::enumerate;
use serde::Serialize;
use std::io::Write;

/// Each word is a line: in quotes, escaped as a JSON string; bytes that are no UTF-8 are shown as `\xNN`. A token
/// terminal stands between texts as the grammar writes it.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
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
}

/// The head of the report. The members `words` and `more` follow.
#[derive(Serialize)]
struct Report<'a> {
    grammar: &'a Origin,
    offset: usize,
}

/// The end of the report.
#[derive(Serialize)]
struct End {
    /// Whether there are more words after those that are listed.
    more: bool,
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let limits = arguments.source.limits.get();
    let loaded = source::load(&arguments.source, &limits)?;
    loaded.warn();
    let progress = Progress::start("searching words");
    let automaton = loaded.automaton(&limits)?;
    let locate = |error| loaded.locate(error);
    let mut words = enumerate(&automaton).map_err(locate)?;
    words.by_ref().take(arguments.offset).try_for_each(|word| word.map(drop)).map_err(locate)?;
    progress.finish();
    let most = if arguments.limit == 0 { usize::MAX } else { arguments.limit };
    if output.is_json() {
        output.report(&Report { grammar: &loaded.origin, offset: arguments.offset })?;
        output.list("words")?;
    }
    let mut listed = 0;
    for word in words.by_ref().take(most) {
        listed += 1;
        let word = word.map_err(locate)?;
        words::write(&loaded.grammar, &word, arguments.raw, output)?;
    }
    let more = words.next().transpose().map_err(locate)?.is_some();
    if output.is_json() {
        output.report(&End { more })?;
    } else if more {
        output.flush()?;
        messages::note(&format!("there are more words after these {most} (--limit 0 lists all)"));
    }
    if listed == 0 && arguments.offset > 0 {
        output.flush()?;
        messages::warning(&errors::nothing_after("words", arguments.offset));
    }
    Ok(Exit::Done)
}
