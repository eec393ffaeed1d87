//! The command-line program: one file a subcommand.
//!
//! - `source` reads grammars of every kind, `tokens` vocabularies, `session` ties the two together;
//! - `output` is standard output (results), `messages` is standard error (errors, warnings, notes, progress);
//! - `text` shows bytes and places; `errors` makes the program's own errors, of the codes `cli/…`; `report` puts errors
//!   of the library into the words of the command line.
//!
//! Nothing here decides anything about grammars or masks: it uses what the crate exports.

mod canvas;
mod check;
mod compile;
mod count;
mod deadline;
mod embed;
mod enumerate;
pub mod errors;
mod examples;
mod explain;
pub mod flow;
mod generate;
#[cfg(feature = "ort")]
mod generation;
pub mod graph;
mod inspect;
pub mod limits;
mod mask;
pub mod messages;
pub mod model;
pub mod output;
mod paths;
mod plan;
pub mod procedure;
mod report;
pub mod retrieve;
mod schema_report;
mod session;
pub mod source;
mod special;
mod svg;
mod tag;
pub mod text;
pub mod tokens;
pub mod tools;
mod vocab;

use clap::error::{ContextKind, ErrorKind};
use clap::{Parser, Subcommand};
use grammata::error::Error;
use output::{Exit, Failure, Output, exit_codes};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// Compiles grammars to token masks, and shows what they allow.
///
/// GRAMMAR is a file or a folder: a JSON Schema (`.json`), a structural tag (`.json`), a grammar in GBNF
/// (`.gbnf`) or Lark (`.lark`), a regular expression (`.regex`), or the spec of an automaton (`.toml`, or
/// `.json` with a member `kind`). A folder holds exactly one of `schema.json`, `tag.json`, `grammar.gbnf`,
/// `grammar.lark`, `pattern.regex`, `spec.toml` and `spec.json`. A mask file that `compile` has written
/// (`.gmask`) stands for its grammar.
///
/// Results go to standard output; errors, warnings and timings go to standard error.
#[derive(Debug, Parser)]
#[command(name = "grammata", version, after_help = exit_codes(), max_term_width = 100)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Generate text with a language model under a grammar
    #[command(after_help = exit_codes())]
    Generate(generate::Arguments),
    /// Show which tokens may come after a prefix
    #[command(after_help = exit_codes())]
    Mask(mask::Arguments),
    /// Explore a grammar ahead of time, and write a mask file
    #[command(after_help = exit_codes())]
    Compile(compile::Arguments),
    /// Show what a mask file holds
    #[command(after_help = exit_codes())]
    Inspect(inspect::Arguments),
    /// Accept or reject texts
    #[command(after_help = exit_codes())]
    Check(check::Arguments),
    /// Say what a grammar expects at a place, by rule and by schema path
    #[command(after_help = exit_codes())]
    Explain(explain::Arguments),
    /// List the words of a grammar
    #[command(after_help = exit_codes())]
    Enumerate(enumerate::Arguments),
    /// Count the words of a grammar
    #[command(after_help = exit_codes())]
    Count(count::Arguments),
    /// Draw the configurations that a grammar goes through
    #[command(after_help = exit_codes())]
    Graph(graph::Arguments),
    /// Say what a JSON Schema uses, and what it came to
    #[command(after_help = exit_codes())]
    SchemaReport(schema_report::Arguments),
    /// Show what a tokenizer file holds
    #[command(after_help = exit_codes())]
    Vocab(vocab::Arguments),
    /// Write the vectors of texts, or their similarities
    #[command(after_help = exit_codes())]
    Embed(embed::Arguments),
    /// Make, count, list, verify and draw plans of actions
    #[command(after_help = exit_codes())]
    Plan(plan::Arguments),
    /// Check domains of customer-care flows, and write their plans as a plan spec
    #[command(after_help = exit_codes())]
    Flow(flow::Arguments),
    /// Check, draw and verify procedures of agents
    #[command(after_help = exit_codes())]
    Procedure(procedure::Arguments),
    /// Find the tools that a request needs
    #[command(after_help = exit_codes())]
    Retrieve(retrieve::Arguments),
    /// Read documents of tools: OpenAPI, MCP, declarations of functions
    #[command(after_help = exit_codes())]
    Tools(tools::Arguments),
    /// Write the structural tag of a request with tools, for a family of models
    #[command(after_help = exit_codes())]
    Tag(tag::Arguments),
}

/// Runs the program on the process's arguments, standard input and output. Gives its exit code.
pub fn run() -> ExitCode {
    ExitCode::from(run_on(std::env::args_os().collect()))
}

/// Runs the program on arguments, the first of which is its own name, and the process's standard input and output. Gives its
/// exit code. For other programs that have this one inside.
pub fn run_on(arguments: Vec<OsString>) -> u8 {
    run_program(arguments, |program: Program, output| program.command.run(output))
}

/// Runs a program that has the conventions of this one: arguments are read as `P`, `work` writes results to the output, and
/// errors are reported as this program does. Gives the exit code.
pub fn run_program<P: Parser>(
    arguments: Vec<OsString>,
    work: impl FnOnce(P, &mut Output) -> Result<Exit, Failure>,
) -> u8 {
    // asked of the arguments as they are, since errors in them are written in the same form
    let is_json =
        arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    let program = match P::try_parse_from(arguments) {
        Ok(program) => program,
        Err(error) => return no_arguments(error, is_json).code(),
    };
    let mut output = Output::stdout();
    let outcome = work(program, &mut output).and_then(|exit| {
        output.flush()?;
        Ok(exit)
    });
    let exit = outcome.unwrap_or_else(|failure| match failure {
        Failure::Error(error) => failed(&error, is_json, &mut output),
        Failure::Output(cause) if cause.kind() == std::io::ErrorKind::BrokenPipe => Exit::Closed,
        Failure::Output(cause) => {
            messages::error(&errors::standard_output(&cause));
            Exit::Unusable
        }
    });
    exit.code()
}

/// Reports an error: as text to standard error, and with `--json` as an object to standard output.
fn failed(error: &Error, is_json: bool, output: &mut Output) -> Exit {
    messages::error(error);
    if is_json && output.end(&report::json_error(error)).and_then(|()| output.flush()).is_err() {
        // what cannot be written there was written to standard error
        return Exit::Closed;
    }
    Exit::of(error)
}

/// Shows help, the version, or what is wrong with the arguments.
fn no_arguments(mut error: clap::Error, is_json: bool) -> Exit {
    // the advice to put an unknown option after `--` would make a file's name of it
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    // where help and usage errors cannot be written there is nobody to tell
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Done;
    }
    if is_json {
        let message = error.render().to_string();
        let message = message.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let mut output = Output::stdout();
        let _ = output.end(&report::json_usage(message)).and_then(|()| output.flush());
    }
    Exit::Unusable
}

impl Command {
    fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            #[cfg(feature = "ort")]
            Command::Generate(arguments) => generation::run(&arguments, output),
            #[cfg(not(feature = "ort"))]
            Command::Generate(_) => Err(errors::no_onnx_runtime().into()),
            Command::Mask(arguments) => mask::run(&arguments, output),
            Command::Compile(arguments) => compile::run(&arguments, output),
            Command::Inspect(arguments) => inspect::run(&arguments, output),
            Command::Check(arguments) => check::run(&arguments, output),
            Command::Explain(arguments) => explain::run(&arguments, output),
            Command::Enumerate(arguments) => enumerate::run(&arguments, output),
            Command::Count(arguments) => count::run(&arguments, output),
            Command::Graph(arguments) => graph::run(&arguments, output),
            Command::SchemaReport(arguments) => schema_report::run(&arguments, output),
            Command::Vocab(arguments) => vocab::run(&arguments, output),
            Command::Embed(arguments) => embed::run(&arguments, output),
            Command::Plan(arguments) => plan::run(&arguments, output),
            Command::Flow(arguments) => flow::run(&arguments, output),
            Command::Procedure(arguments) => procedure::run(&arguments, output),
            Command::Retrieve(arguments) => retrieve::run(&arguments, output),
            Command::Tools(arguments) => tools::run(&arguments, output),
            Command::Tag(arguments) => tag::run(&arguments, output),
        }
    }
}
