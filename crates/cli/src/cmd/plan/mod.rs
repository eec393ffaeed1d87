//! `grammata plan`: one module for each subcommand.

mod chat;
mod count;
mod enumerate;
mod errors;
mod explain;
mod graph;
#[cfg(feature = "ort")]
mod model;
mod policy;
mod reward;
mod run;
mod schema;
mod search;
mod show;
mod spec;
mod tasks;
mod verify;

use crate::io::output::{Exit, Failure, Output};
use clap::Subcommand;

/// Plans of actions under an automaton: SPEC is the file or folder of an automaton spec, whose symbols are the actions.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a plan, with a model, a person or another policy
    Run(Box<run::Arguments>),
    /// Carry out a plan step by step, in an environment that returns the result of each step
    Chat(Box<chat::Arguments>),
    /// Count the plans, exactly
    Count(count::Arguments),
    /// List plans, or draw some at random
    Enumerate(enumerate::Arguments),
    /// Check a plan, name its first wrong step, and find the nearest plan
    Verify(verify::Arguments),
    /// Draw the states of plans, or one plan as a tree
    Graph(graph::Arguments),
    /// Show the feasible actions after some steps, and the plans behind each
    Explain(explain::Arguments),
    /// Write the JSON Schema of specs
    Schema(schema::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Run(arguments) => run::run(arguments, output),
        Command::Chat(arguments) => chat::run(arguments, output),
        Command::Count(arguments) => count::run(arguments, output),
        Command::Enumerate(arguments) => enumerate::run(arguments, output),
        Command::Verify(arguments) => verify::run(arguments, output),
        Command::Graph(arguments) => graph::run(arguments, output),
        Command::Explain(arguments) => explain::run(arguments, output),
        Command::Schema(arguments) => schema::run(arguments, output),
    }
}
