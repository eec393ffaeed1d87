//! `grammata-lab procedure`: one module for each subcommand.

mod evaluate;
mod turns;

use clap::Subcommand;
use grammata_cli::io::output::{Exit, Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Judge recorded sessions of people, and what a model would have done at each of their steps
    Turns(Box<turns::Arguments>),
    /// Run simulated users under several arms, and report
    Evaluate(Box<evaluate::Arguments>),
}

impl Command {
    pub(super) fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Command::Turns(arguments) => turns::run(arguments, output),
            Command::Evaluate(arguments) => evaluate::run(arguments, output),
        }
    }
}
