//! `grammata retrieve`: one file a subcommand.

mod drafts;
mod errors;
mod evaluate;
mod index;
mod model;
mod pipeline;
mod search;
mod sources;

use super::output::{Exit, Failure, Output};
use clap::Subcommand;

/// Find the tools that a request needs among thousands, by queries that a model writes for it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Embed the tools of a catalogue, and write them with their vectors to a file
    Index(Box<index::Arguments>),
    /// Find the best tools for a request
    Search(Box<search::Arguments>),
    /// Measure recall and ranking on requests of which the needed tools are known
    Evaluate(Box<evaluate::Arguments>),
    /// Draw drafts of queries, and write what a model is trained on
    Drafts(Box<drafts::Arguments>),
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Index(arguments) => index::run(arguments, output),
        Command::Search(arguments) => search::run(arguments, output),
        Command::Evaluate(arguments) => evaluate::run(arguments, output),
        Command::Drafts(arguments) => drafts::run(arguments, output),
    }
}
