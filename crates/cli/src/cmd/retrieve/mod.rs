//! `grammata retrieve`: one module for each subcommand.

pub mod errors;
mod index;
pub mod model;
pub mod pipeline;
mod search;
mod serve;
pub mod sources;

use crate::io::output::{Exit, Failure, Output};
use clap::Subcommand;

/// Find the tools that a request needs among thousands, by queries that a model writes for it.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Embed the tools of a catalogue, and write them with their vectors to a file
    Index(Box<index::Arguments>),
    /// Find the best tools for a request
    Search(Box<search::Arguments>),
    /// Serve a tool that finds tools, by the Model Context Protocol
    Serve(Box<serve::Arguments>),
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Index(arguments) => index::run(arguments, output),
        Command::Search(arguments) => search::run(arguments, output),
        Command::Serve(arguments) => serve::run(arguments, output),
    }
}
