//! `grammata-lab retrieve`: one module for each subcommand.

mod drafts;
mod evaluate;

use clap::Subcommand;
use grammata_cli::io::output::{Exit, Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Measure recall and ranking on requests of which the needed tools are known
    Evaluate(Box<evaluate::Arguments>),
    /// Draw drafts of queries, and write what a model is trained on
    Drafts(Box<drafts::Arguments>),
}

impl Command {
    pub(super) fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Command::Evaluate(arguments) => evaluate::run(arguments, output),
            Command::Drafts(arguments) => drafts::run(arguments, output),
        }
    }
}
