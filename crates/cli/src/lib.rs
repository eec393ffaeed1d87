//! The command-line program.
//!
//! - `cmd` has the commands, one module for each;
//! - `args` has the groups of arguments that they share, and reads the grammars, tokenizers and models that these name;
//! - `io` reads and writes, and makes and shows errors;
//! - `draw` draws graphs.
//!
//! `cmd` uses the other three; `args` and `draw` use only `io`, which uses none of them. This crate has no logic of
//! grammars or masks: it uses the public API of the libraries.

pub mod args;
pub mod cmd;
mod draw;
pub mod io;

use crate::args::global::{self, Early, GlobalArgs};
use crate::cmd::{
    check, compile, count, embed, enumerate, explain, flow, generate, graph, guard, inspect, limit_list,
    mask, plan, procedure, retrieve, sample, schema_report, serve, shell, tag, tools, vocab,
};
use crate::io::output::{Exit, Failure, Output, OutputFormat};
use crate::io::{errors, messages};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, FromArgMatches, Parser, Subcommand};
use grammata::diagnostic::visible;
use std::ffi::OsString;
use std::process::ExitCode;

/// Compiles grammars to token masks, and shows what they allow.
///
/// GRAMMAR is a file or a folder: a JSON Schema (`.json`), a structural tag (`.json`), a grammar in GBNF (`.gbnf`) or
/// Lark (`.lark`), a regular expression (`.regex`), or the spec of an automaton (`.toml`, or `.json` with a member
/// `kind`). A folder holds exactly one of `schema.json`, `tag.json`, `grammar.gbnf`, `grammar.lark`, `pattern.regex`,
/// `spec.toml` and `spec.json`. A mask file of `compile` (`.gmask`) can be used in place of its grammar.
///
/// Results go to standard output; errors, warnings and timings go to standard error.
#[derive(Debug, Parser)]
#[command(name = "grammata", version)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Generate text with a language model under a grammar
    Generate(generate::Arguments),
    /// Serve a language model with the protocol of OpenAI
    Serve(serve::Arguments),
    /// Show the tokens that are allowed after a prefix
    Mask(mask::Arguments),
    /// Explore a grammar ahead of time, and write a mask file
    Compile(compile::Arguments),
    /// Show the contents of a mask file
    Inspect(inspect::Arguments),
    /// Accept or reject texts
    ///
    /// For a rejected text, the report says where it leaves the grammar. `grammata explain` shows what the grammar
    /// expects there.
    Check(check::Arguments),
    /// Explain what a grammar expects at a position, by rule and by schema path
    ///
    /// `grammata check` accepts or rejects many texts and says only where they leave the grammar.
    Explain(explain::Arguments),
    /// List the words of a grammar
    Enumerate(enumerate::Arguments),
    /// Count the words of a grammar
    Count(count::Arguments),
    /// Draw random words of a grammar
    ///
    /// A word is a random walk: at each byte it ends, if it may, or continues with one of the sets of bytes that lead
    /// to the same continuation, each as likely as the others; sets without ASCII are 8 times less likely. The walk
    /// takes only steps after which a word can still end within `--max-bytes`. A token terminal counts as one byte.
    Sample(sample::Arguments),
    /// Draw the configurations that a grammar goes through
    Graph(graph::Arguments),
    /// Show a schema's keywords, options and compiled size
    SchemaReport(schema_report::Arguments),
    /// List the limits on the cost of input, with their defaults
    Limits(limit_list::Arguments),
    /// Show the contents of a tokenizer file
    Vocab(vocab::Arguments),
    /// Write the vectors of texts, or their similarities
    Embed(embed::Arguments),
    /// Make, count, list, verify and draw plans of actions
    Plan(plan::Arguments),
    /// Check domains of customer-care flows, and write their plans as a plan spec
    Flow(flow::Arguments),
    /// Check, draw and verify procedures of agents
    Procedure(procedure::Arguments),
    /// Hold an agent that uses an MCP server to a procedure
    Guard(Box<guard::Arguments>),
    /// Find the tools that a request needs
    Retrieve(retrieve::Arguments),
    /// Read documents of tools: OpenAPI, MCP, declarations of functions
    Tools(tools::Arguments),
    /// Write a script that completes commands and options in a shell
    Completions(shell::CompletionArgs),
    /// Write manual pages
    Man(shell::ManArgs),
    /// Write the structural tag of a request with tools, for a family of models
    Tag(tag::Arguments),
}

/// The commands in the order of the help, under their headings.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Masks",
        &[
            "mask",
            "check",
            "explain",
            "enumerate",
            "count",
            "sample",
            "graph",
            "schema-report",
            "tag",
            "compile",
            "inspect",
            "limits",
        ],
    ),
    ("Models", &["generate", "serve", "vocab", "embed"]),
    ("Agents", &["tools", "retrieve", "plan", "flow", "procedure", "guard"]),
    ("Shell", &["completions", "man", "help"]),
];

/// Puts the list of commands under headings into the program's help, in place of clap's list under one heading.
fn grouped(command: clap::Command) -> clap::Command {
    let styles = command.get_styles().clone();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let about = |name: &str| {
        let found = command.get_subcommands().find(|found| found.get_name() == name);
        let about = found.and_then(clap::Command::get_about).map(ToString::to_string);
        about.unwrap_or_else(|| "Print this message or the help of a command".to_owned())
    };
    let mut list = String::new();
    for (heading, names) in GROUPS {
        list += &format!("{header}{heading}:{header:#}\n");
        for &name in names {
            list += &format!("  {literal}{name:<13}{literal:#}  {}\n", about(name));
        }
        list += "\n";
    }
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}{{all-args}}{{after-help}}");
    // clap's own usage names commands only if its own list shows them
    let usage = format!("{} [OPTIONS] <COMMAND>", command.get_name());
    command.mut_subcommands(|command| command.hide(true)).help_template(template).override_usage(usage)
}

/// Runs the program on the process's arguments, standard input and output. Returns its exit code.
pub fn run() -> ExitCode {
    ExitCode::from(run_on(std::env::args_os().collect()))
}

/// Runs the program on arguments, with the process's standard input and output. The first argument is the program's
/// name. Returns the exit code. For programs that embed this one.
pub fn run_on(arguments: Vec<OsString>) -> u8 {
    let command = || grouped(<Program as clap::CommandFactory>::command());
    run_command(arguments, command, |program: Program, output| program.command.run(output))
}

/// Returns the program's command with the whole help of all subcommands, for tests that examine it.
pub fn command() -> clap::Command {
    let mut command = program();
    command.build();
    command
}

fn program() -> clap::Command {
    global::with_contract(<Program as clap::CommandFactory>::command())
}

/// Runs a program with the conventions of this one: the global options, exit codes in the help, and the same reports of
/// errors. Arguments are read as `P`; `work` writes results to the output. Returns the exit code.
pub fn run_program<P: Parser>(
    arguments: Vec<OsString>,
    work: impl FnOnce(P, &mut Output) -> Result<Exit, Failure>,
) -> u8 {
    run_command(arguments, P::command, work)
}

/// Runs a program as [`run_program`] does, whose command `command` makes.
fn run_command<P: Parser>(
    arguments: Vec<OsString>,
    command: impl Fn() -> clap::Command,
    work: impl FnOnce(P, &mut Output) -> Result<Exit, Failure>,
) -> u8 {
    let early = Early::of(&arguments);
    // clap quotes arguments as they are in its errors
    let shown: Vec<String> =
        arguments.iter().map(|argument| visible(&argument.to_string_lossy()).into_owned()).collect();
    messages::begin();
    let command = || global::with_contract(command()).color(early.color_choice());
    let parsed = command().try_get_matches_from(arguments).and_then(|matches| {
        let global = GlobalArgs::from_arg_matches(&matches)?;
        Ok((P::from_arg_matches(&matches)?, global, path(&matches)))
    });
    let (program, global, path) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = match command().try_get_matches_from(shown) {
                Err(shown) if error.use_stderr() && shown.kind() == error.kind() => shown,
                _ => error,
            };
            return no_arguments(error, early.output_format).code();
        }
    };
    messages::set_verbosity(global.verbosity());
    let mut output = Output::stdout(global.output_format, &path);
    let outcome = work(program, &mut output);
    let exit = outcome.unwrap_or_else(|failure| match failure {
        Failure::Error(error) => {
            messages::error(&error);
            Exit::of(&error)
        }
        Failure::Output(cause) => not_written(&cause),
    });
    match (exit, output.finish(exit)) {
        (Exit::Closed, _) | (_, Ok(())) => exit.code(),
        (_, Err(cause)) => not_written(&cause).code(),
    }
}

/// Returns the path of the subcommand that the arguments name, such as `plan count`.
fn path(matches: &ArgMatches) -> String {
    let mut names = Vec::new();
    let mut matches = matches;
    while let Some((name, inner)) = matches.subcommand() {
        names.push(name);
        matches = inner;
    }
    names.join(" ")
}

/// Reports why standard output cannot be written, unless it was closed. Returns the exit code.
fn not_written(cause: &std::io::Error) -> Exit {
    if cause.kind() == std::io::ErrorKind::BrokenPipe {
        return Exit::Closed;
    }
    messages::error(&errors::standard_output(cause));
    Exit::Unusable
}

/// Shows help, the version, or the error of the arguments. An error is also written as a JSON object if `format` is
/// JSON. Returns the exit code.
fn no_arguments(mut error: clap::Error, format: OutputFormat) -> Exit {
    // clap advises to put an unknown option after `--`, where it would count as a file name
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
        remove_far_suggestion(&mut error);
    }
    // a failure to write help or a usage error is ignored, because it cannot be reported anywhere
    let _ = error.print();
    if !error.use_stderr() {
        return Exit::Done;
    }
    if format == OutputFormat::Json {
        let message = error.render().to_string();
        let message = message.lines().next().unwrap_or_default();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        messages::collect("error", &grammata::Diagnostic::new("cli/usage", message));
        let _ = Output::stdout(format, "").finish(Exit::Unusable);
    }
    Exit::Unusable
}

/// Removes clap's suggestion of an option whose spelling is not similar.
fn remove_far_suggestion(error: &mut clap::Error) {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    };
    if let (Some(given), Some(near)) = (text(ContextKind::InvalidArg), text(ContextKind::SuggestedArg))
        && grammata::diagnostic::similar(&given, [near.as_str()]).is_empty()
    {
        error.remove(ContextKind::SuggestedArg);
    }
}

impl Command {
    fn run(self, output: &mut Output) -> Result<Exit, Failure> {
        match self {
            #[cfg(feature = "ort")]
            Command::Generate(arguments) => match arguments.prompt.prompts.as_deref() {
                Some(prompts) => cmd::generation_batch::run(&arguments, prompts, output),
                None => cmd::generation::run(&arguments, output),
            },
            #[cfg(not(feature = "ort"))]
            Command::Generate(_) => Err(errors::no_onnx_runtime().into()),
            #[cfg(feature = "server")]
            Command::Serve(arguments) => cmd::serving::run(&arguments, output),
            #[cfg(not(feature = "server"))]
            Command::Serve(_) => Err(errors::no_server().into()),
            Command::Mask(arguments) => mask::run(&arguments, output),
            Command::Compile(arguments) => compile::run(&arguments, output),
            Command::Inspect(arguments) => inspect::run(&arguments, output),
            Command::Check(arguments) => check::run(arguments, output),
            Command::Explain(arguments) => explain::run(&arguments, output),
            Command::Enumerate(arguments) => enumerate::run(&arguments, output),
            Command::Sample(arguments) => sample::run(&arguments, output),
            Command::Count(arguments) => count::run(&arguments, output),
            Command::Graph(arguments) => graph::run(&arguments, output),
            Command::SchemaReport(arguments) => schema_report::run(&arguments, output),
            Command::Limits(_) => limit_list::run(output),
            Command::Vocab(arguments) => vocab::run(&arguments, output),
            Command::Embed(arguments) => embed::run(&arguments, output),
            Command::Plan(arguments) => plan::run(&arguments, output),
            Command::Flow(arguments) => flow::run(&arguments, output),
            Command::Procedure(arguments) => procedure::run(&arguments, output),
            Command::Guard(arguments) => guard::run(&arguments, output),
            Command::Retrieve(arguments) => retrieve::run(&arguments, output),
            Command::Tools(arguments) => tools::run(&arguments, output),
            Command::Completions(arguments) => shell::completions(&arguments, program(), output),
            Command::Man(arguments) => shell::man(&arguments, program(), output),
            Command::Tag(arguments) => tag::run(&arguments, output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_is_under_one_heading() {
        let command = program();
        let mut commands: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
        commands.push("help");
        let mut listed: Vec<_> = GROUPS.iter().flat_map(|group| group.1).copied().collect();
        commands.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, commands);
    }
}
