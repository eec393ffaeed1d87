//! `grammata procedure graph`: draws the automaton.

use super::{FileArgs, ModeName};
use crate::cli::graph::{Format, at_least_one, write};
use crate::cli::output::{Exit, Failure, Output};
use crate::cli::{messages, source};
use crate::procedures::Supervisor;
use std::io::Write;
use std::path::PathBuf;

/// Boxes are states, with what is done and the values that conditions test; where a closing answer may be said they have a
/// double line. Arrows are calls with their results, and answers with what the user decides.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    file: FileArgs,
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    /// The file to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most states to draw [default: 200; 40 as SVG]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    limit: Option<usize>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let procedure = arguments.file.read()?;
    let limits = arguments.file.limits.get();
    let name = source::name_of(&arguments.file.file);
    let mut supervisor =
        Supervisor::new(&procedure, arguments.mode.into(), &limits).map_err(|error| error.in_file(&name))?;
    let limit = arguments.format.limit(arguments.limit);
    let graph = supervisor.graph(limit)?;
    write(&arguments.format.render(graph.dot)?, arguments.output.as_deref(), output)?;
    if supervisor.is_blocking() || graph.is_truncated {
        output.flush()?;
    }
    if supervisor.is_blocking() {
        messages::note("nothing may come: results or decisions can keep the agent from every closing answer");
    }
    if graph.is_truncated {
        messages::note(&format!("only the first {limit} states are drawn (--limit N draws more)"));
    }
    Ok(Exit::Done)
}
