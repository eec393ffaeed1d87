//! `grammata procedure`: one module for each subcommand.

mod check;
mod format;
mod graph;
pub mod model;
mod new;
pub mod run;
mod show;
mod simulate;
mod spec;
mod stream;
mod verify;

use crate::args::limits::LimitArgs;
use crate::args::source;
use crate::io::output::{Exit, Failure, Output};
use clap::{Subcommand, ValueEnum};
use grammata::diagnostic::{Diagnostic, Notation, Source};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::procedures::{Format, Mode, Procedure, Workflow};
use std::path::{Path, PathBuf};

/// Workflows of agents in PDL: FILE is a procedure in YAML (or JSON), or in TOML if its name ends in `.toml`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a first procedure from the tools of an MCP server
    New(new::Arguments),
    /// Check procedures
    Check(check::Arguments),
    /// Write a procedure in one layout
    Format(format::Arguments),
    /// List the declarations of a procedure, and the nodes that are open at the start
    Show(show::Arguments),
    /// Write the states out as a spec of plans
    Spec(spec::Arguments),
    /// Draw the states of a procedure, with the possible steps
    Graph(graph::Arguments),
    /// Judge a recorded conversation step by step
    Verify(verify::Arguments),
    /// Run a session of an agent with a user and APIs
    Run(Box<run::Arguments>),
    /// Run many random sessions, and count their outcomes
    Simulate(simulate::Arguments),
}

pub(crate) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::New(arguments) => new::run(arguments, output),
        Command::Check(arguments) => check::run(arguments, output),
        Command::Format(arguments) => format::run(arguments, output),
        Command::Show(arguments) => show::run(arguments, output),
        Command::Spec(arguments) => spec::run(arguments, output),
        Command::Graph(arguments) => graph::run(arguments, output),
        Command::Verify(arguments) => verify::run(arguments, output),
        Command::Run(arguments) => run::run(arguments, output),
        Command::Simulate(arguments) => simulate::run(arguments, output),
    }
}

/// How much of a procedure binds the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ModeName {
    /// Only preconditions
    Graph,
    /// Preconditions and the conditions around calls
    Guarded,
    /// Preconditions and the control flow
    Strict,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Mode {
        match name {
            ModeName::Graph => Mode::Graph,
            ModeName::Guarded => Mode::Guarded,
            ModeName::Strict => Mode::Strict,
        }
    }
}

/// Which procedure.
#[derive(Debug, clap::Args)]
struct FileArgs {
    /// The procedure: a file, or `-` for YAML on standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    limits: LimitArgs,
}

impl FileArgs {
    /// Reads the procedure.
    fn read(&self) -> Result<Procedure> {
        run::procedure(&self.file, &self.limits.get())
    }
}

/// Returns the workflow of a procedure, and whether it is supervised. A procedure that results or decisions can block
/// is not supervised: only the rules of the mode bind its agent.
///
/// # Errors
/// Errors of [`Workflow::new`], except `pdl/blocking`.
pub fn workflow<'p>(procedure: &'p Procedure, mode: Mode, limits: &Limits) -> Result<(Workflow<'p>, bool)> {
    match Workflow::new(procedure, mode, limits) {
        Err(error) if error.code() == "pdl/blocking" => Ok((Workflow::unsupervised(procedure, mode), false)),
        workflow => Ok((workflow?, true)),
    }
}

pub(crate) fn format(file: &Path) -> Format {
    if file.extension().is_some_and(|extension| extension == "toml") { Format::Toml } else { Format::Yaml }
}

/// Returns the folder that holds the documents of a procedure; `None` for standard input.
pub(crate) fn folder_of(file: &Path) -> Option<&Path> {
    file.parent().filter(|_| !source::is_standard_input(file))
}

/// Adds the name and the lines of a file to diagnostics.
fn located(diagnostics: Vec<Diagnostic>, file: &Path, text: &str) -> Vec<Diagnostic> {
    let mut diagnostics = diagnostics;
    Source::new(text, Notation::Text).locate(&mut diagnostics);
    let name = source::name_of(file);
    diagnostics.into_iter().map(|diagnostic| diagnostic.in_file(name.clone())).collect()
}
