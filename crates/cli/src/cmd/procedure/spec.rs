//! `grammata procedure spec`: writes the states of a procedure as a plan spec.

use super::{FileArgs, ModeName};
use crate::args::source;
use crate::io::output::{Exit, Failure, Output};
use grammata_agents::procedures::Supervisor;

/// Writes a spec of the kind `dfa` in JSON, which the commands of plans read: symbols are acts with their outcomes, words are
/// sessions up to where a closing answer may be said.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    file: FileArgs,
    /// How much of the procedure binds the agent
    #[arg(long, value_enum, default_value_t = ModeName::Guarded)]
    mode: ModeName,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let procedure = arguments.file.read()?;
    let name = source::name_of(&arguments.file.file);
    let supervisor = Supervisor::new(&procedure, arguments.mode.into(), &arguments.file.limits.get());
    let mut supervisor = supervisor.map_err(|error| error.in_file(&name))?;
    output.document("spec", &supervisor.spec()?)?;
    Ok(Exit::Done)
}
