//! `grammata flow graph`: draws the flows of a domain, with where a plan stands.

use super::PlanArgs;
use crate::cli::graph::{Format, at_least_one, write};
use crate::cli::output::{Exit, Failure, Output};
use crate::cli::{errors, messages};
use crate::flows::FlowAutomaton;
use std::io::Write;
use std::path::PathBuf;

/// Boxes are states, with the flows that are possible there; arrows are calls. The way of `--calls` is red, where it stands
/// is filled, and what may come next is green.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    plans: PlanArgs,
    /// The calls so far after the prelude, by the names of their APIs, with commas between them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    calls: Vec<String>,
    /// The form of the drawing
    #[arg(long, value_enum, default_value_t = Format::Dot)]
    format: Format,
    /// The file to write; standard output by default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The most states to draw [default: 200; 40 as SVG]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    limit: Option<usize>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let domain = arguments.plans.domain()?;
    let mut automaton = FlowAutomaton::new(&domain, arguments.plans.options(&domain)?)?;
    let names: Vec<&str> = domain.apis.iter().map(|api| api.name.as_str()).collect();
    let mut calls = Vec::with_capacity(arguments.calls.len());
    for name in &arguments.calls {
        calls.push(domain.api(name).ok_or_else(|| errors::step_not_allowed(name, &names))?);
    }
    let limit = arguments.format.limit(arguments.limit);
    let picture = automaton.picture(&calls, limit)?;
    write(&arguments.format.render(picture.dot)?, arguments.output.as_deref(), output)?;
    if picture.is_truncated {
        output.flush()?;
        messages::note(&format!("only the first {limit} states are drawn (--limit N draws more)"));
    }
    Ok(Exit::Done)
}
