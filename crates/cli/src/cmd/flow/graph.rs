//! `grammata flow graph`: draws the flows of a domain and the position of a plan in them.

use super::PlanArgs;
use crate::cmd::graph::DrawingArgs;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use grammata_agents::flows::FlowAutomaton;
use std::io::Write;

/// Boxes are states, with the flows that are possible there; arrows are calls. The way of `--calls` is red, where it
/// stands is filled, and what may come next is green.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    plans: PlanArgs,
    /// The calls so far after the prelude, by the names of their APIs, with commas between them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = super::call_name)]
    calls: Vec<String>,
    #[command(flatten)]
    drawing: DrawingArgs,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let domain = arguments.plans.domain()?;
    let mut automaton = FlowAutomaton::new(&domain, arguments.plans.options(&domain)?)?;
    let names: Vec<&str> = domain.apis.iter().map(|api| api.name.as_str()).collect();
    let mut calls = Vec::with_capacity(arguments.calls.len());
    for name in &arguments.calls {
        calls.push(domain.api(name).ok_or_else(|| errors::step_not_allowed(name, &names))?);
    }
    let picture = automaton.picture(&calls, arguments.drawing.limit())?;
    arguments.drawing.write(picture.dot, picture.is_truncated, output)?;
    if picture.is_truncated {
        output.flush()?;
        arguments.drawing.note_truncated();
    }
    Ok(Exit::Done)
}
