//! The program `grammata-lab`, with a module for each part of the product that is measured.

mod errors;
mod flow;
mod procedure;
mod retrieve;
#[cfg(feature = "ort")]
mod tools;

use clap::{Parser, Subcommand};
use grammata_cli::io::output::{Exit, Failure, Output};
use std::ffi::OsString;

/// Compares methods over many requests, queries and sessions, and makes data for training.
///
/// Results go to standard output; errors, warnings and progress go to standard error.
#[derive(Debug, Parser)]
#[command(name = "grammata-lab", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Plans of customer-care flows, made in several ways
    #[command(subcommand)]
    Flow(flow::Command),
    /// Sessions of procedures
    #[command(subcommand)]
    Procedure(procedure::Command),
    /// Retrieval of tools, and data for training
    #[command(subcommand)]
    Retrieve(retrieve::Command),
    /// Calls of tools
    #[cfg(feature = "ort")]
    #[command(subcommand)]
    Tools(tools::Command),
}

/// Runs the program on arguments, the first of which is the program's name. Returns its exit code.
pub fn run(arguments: Vec<OsString>) -> u8 {
    grammata_cli::run_program(arguments, |program: Program, output| program.command.run(output))
}

impl Command {
    fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Command::Flow(command) => command.run(output),
            Command::Procedure(command) => command.run(output),
            Command::Retrieve(command) => command.run(output),
            #[cfg(feature = "ort")]
            Command::Tools(command) => command.run(output),
        }
    }
}
