//! The command-line program: one file a subcommand.
//!
//! - `source` reads grammars of every kind, `tokens` vocabularies, `session` ties the two together;
//! - `output` is standard output (results), `messages` is standard error (errors, warnings, notes, progress);
//! - `text` shows bytes and places; `errors` makes the program's own errors, of the codes `cli/…`.
//!
//! Nothing here decides anything about grammars or masks: it uses what the crate exports.

mod check;
mod count;
mod enumerate;
mod errors;
mod examples;
mod explain;
mod generate;
#[cfg(feature = "ort")]
mod generation;
mod graph;
mod mask;
mod messages;
mod model;
mod output;
mod plan;
mod schema_report;
mod session;
mod source;
mod svg;
mod text;
mod tokens;
mod vocab;

use clap::{Parser, Subcommand};
use output::{Exit, Failure, Output};
use std::io::Write;
use std::process::ExitCode;

const EXIT_CODES: &str = "\
Exit codes:
  0    done: every text is accepted, the generated text is whole
  1    a text is rejected by the grammar
  2    the arguments, a file, the grammar, the tokenizer or the model cannot be used
  3    the generated text was cut by the limit on tokens
  141  standard output was closed before everything was written";

/// Compiles grammars to token masks, and shows what they allow.
///
/// GRAMMAR is a file or a folder: a JSON Schema (`.json`), a grammar in GBNF (`.gbnf`), a regular expression
/// (`.regex`), or the spec of an automaton (`.toml`, or `.json` with a member `kind`). A folder holds exactly one
/// of `schema.json`, `grammar.gbnf`, `pattern.regex`, `spec.toml` and `spec.json`.
///
/// Results go to standard output; errors, warnings and timings go to standard error.
#[derive(Debug, Parser)]
#[command(name = "grammata", version, after_help = EXIT_CODES, max_term_width = 100)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Generate text with a language model under a grammar
    #[command(after_help = EXIT_CODES)]
    Generate(generate::Arguments),
    /// Show which tokens may come after a prefix
    #[command(after_help = EXIT_CODES)]
    Mask(mask::Arguments),
    /// Accept or reject texts
    #[command(after_help = EXIT_CODES)]
    Check(check::Arguments),
    /// Say what a grammar expects at a place, by rule and by schema path
    #[command(after_help = EXIT_CODES)]
    Explain(explain::Arguments),
    /// List the words of a grammar
    #[command(after_help = EXIT_CODES)]
    Enumerate(enumerate::Arguments),
    /// Count the words of a grammar
    #[command(after_help = EXIT_CODES)]
    Count(count::Arguments),
    /// Draw the configurations that a grammar goes through
    #[command(after_help = EXIT_CODES)]
    Graph(graph::Arguments),
    /// Say what a JSON Schema uses, and what it came to
    #[command(after_help = EXIT_CODES)]
    SchemaReport(schema_report::Arguments),
    /// Show what a tokenizer file holds
    #[command(after_help = EXIT_CODES)]
    Vocab(vocab::Arguments),
    /// Make, count, list, verify and draw plans of actions
    Plan(plan::Arguments),
}

/// Runs the program on the process's arguments, standard input and output. Gives its exit code.
pub fn run() -> ExitCode {
    let program = match Program::try_parse() {
        Ok(program) => program,
        Err(error) => {
            // help and usage errors; where they cannot be written there is nobody to tell
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { Exit::Unusable } else { Exit::Done });
        }
    };
    let mut output = Output::stdout();
    let outcome = program.command.run(&mut output).and_then(|exit| {
        output.flush()?;
        Ok(exit)
    });
    ExitCode::from(outcome.unwrap_or_else(|failure| match failure {
        Failure::Error(error) => {
            messages::error(&error);
            Exit::of(&error)
        }
        Failure::Output(cause) if cause.kind() == std::io::ErrorKind::BrokenPipe => Exit::Closed,
        Failure::Output(cause) => {
            messages::error(&errors::standard_output(&cause));
            Exit::Unusable
        }
    }))
}

impl Command {
    fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            Command::Generate(arguments) => generate::run(arguments, output),
            Command::Mask(arguments) => mask::run(arguments, output),
            Command::Check(arguments) => check::run(arguments, output),
            Command::Explain(arguments) => explain::run(arguments, output),
            Command::Enumerate(arguments) => enumerate::run(arguments, output),
            Command::Count(arguments) => count::run(arguments, output),
            Command::Graph(arguments) => graph::run(arguments, output),
            Command::SchemaReport(arguments) => schema_report::run(arguments, output),
            Command::Vocab(arguments) => vocab::run(arguments, output),
            Command::Plan(arguments) => plan::run(arguments, output),
        }
    }
}
