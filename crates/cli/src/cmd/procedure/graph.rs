//! `grammata procedure graph`: draws the automaton of a procedure.

use super::{FileArgs, ModeName};
use crate::args::source;
use crate::cmd::graph::DrawingArgs;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use grammata_agents::procedures::Supervisor;
use std::io::Write;

/// Boxes are states, with what is done and the values that conditions test; where a closing answer may be said they have a
/// double line. Arrows are calls with their results, and answers with what the user decides.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    file: FileArgs,
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
    #[command(flatten)]
    drawing: DrawingArgs,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let procedure = arguments.file.read()?;
    let limits = arguments.file.limits.get();
    let name = source::name_of(&arguments.file.file);
    let mut supervisor =
        Supervisor::new(&procedure, arguments.mode.into(), &limits).map_err(|error| error.in_file(&name))?;
    let graph = supervisor.graph(arguments.drawing.limit())?;
    arguments.drawing.write(graph.dot, graph.is_truncated, output)?;
    if supervisor.is_blocking() || graph.is_truncated {
        output.flush()?;
    }
    if supervisor.is_blocking() {
        messages::note(
            "no act is allowed: results or decisions can keep the agent from every closing answer",
        );
    }
    if graph.is_truncated {
        arguments.drawing.note_truncated();
    }
    Ok(Exit::Done)
}
