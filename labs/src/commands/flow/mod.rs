//! `grammata-lab flow`: compares methods of making plans of flows.

mod arms;
mod change_runs;
mod changes;
mod evaluate;
mod experiment;
mod experiments;

use clap::Subcommand;
use grammata_cli::io::output::{Exit, Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Compare ways to make plans over many queries
    Evaluate(Box<experiment::Arguments>),
}

impl Command {
    pub(super) fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Command::Evaluate(arguments) => evaluate::run(arguments, output),
        }
    }
}
