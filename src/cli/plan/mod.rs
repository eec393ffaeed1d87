//! `grammata plan`: one file a subcommand.

mod chooser;
mod count;
mod run;
mod show;
mod spec;

use super::output::{Exit, Failure, Output};
use clap::Subcommand;

/// Plans of actions under an automaton: SPEC is the file or folder of an automaton spec, whose symbols are the actions.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a plan, with a model, a person or another chooser
    Run(Box<run::Arguments>),
    /// Count the plans, exactly
    Count(count::Arguments),
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Run(arguments) => run::run(arguments, output),
        Command::Count(arguments) => count::run(arguments, output),
    }
}
