//! `grammata flow lookahead`: shows which calls may follow some calls.

use super::PlanArgs;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use grammata::error::Result;
use grammata::transitions::TransitionSystem;
use grammata_agents::flows::{Ahead, FlowAutomaton, FlowCall, FlowDomain, FlowLookahead, Lookahead};
use serde::Serialize;
use std::io::Write;

/// Everything is computed from the automaton, without a model.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    plans: PlanArgs,
    /// The calls so far after the prelude, by the names of their APIs, with commas between them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = super::call_name)]
    calls: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let domain = arguments.plans.domain()?;
    let mut automaton = FlowAutomaton::new(&domain, arguments.plans.options(&domain)?)?;
    let mut state = automaton.start();
    let mut transitions = Vec::new();
    for name in &arguments.calls {
        transitions.clear();
        automaton.successors(&state, &mut transitions)?;
        let written = |call: FlowCall| call.text(&domain).replacen("()", "", 1);
        let called = name.split_once('=').map_or(name.as_str(), |(name, _)| name);
        let is_called = |call: FlowCall| {
            let answer = written(call).split_once('=').map(|(_, answer)| answer.to_owned());
            Some(call.api) == domain.api(called)
                && answer.as_deref() == name.split_once('=').map(|both| both.1)
        };
        let next = transitions.iter().find(|next| is_called(next.label));
        let allowed: Vec<String> = transitions.iter().map(|next| written(next.label)).collect();
        let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
        state = next.ok_or_else(|| errors::step_not_allowed(name, &allowed))?.to;
    }
    let flows = automaton.flows(state);
    let ahead = FlowLookahead::new(&mut automaton).at(state)?;
    match output.is_json() {
        true => output.report(&Report::new(&domain, &flows, &ahead))?,
        false => show(&domain, &flows, &ahead, output)?,
    }
    Ok(Exit::Done)
}

fn ids<'d>(domain: &'d FlowDomain, flows: &[usize]) -> Vec<&'d str> {
    flows.iter().map(|&flow| domain.flows[flow].id.as_str()).collect()
}

fn steps<'d>(domain: &'d FlowDomain, steps: &[usize]) -> Vec<&'d str> {
    steps.iter().map(|&step| domain.steps[step].id.as_str()).collect()
}

fn names<'d>(domain: &'d FlowDomain, apis: &[usize]) -> Vec<&'d str> {
    apis.iter().map(|&api| domain.apis[api].name.as_str()).collect()
}

/// Formats the numbers of calls of plans: `2`, `2-5`, or `2-` if there is no maximum.
fn lengths(ahead: &Ahead) -> String {
    match ahead.most {
        Some(most) if most == ahead.fewest => most.to_string(),
        Some(most) => format!("{}-{most}", ahead.fewest),
        None => format!("{}-", ahead.fewest),
    }
}

fn show(domain: &FlowDomain, flows: &[usize], ahead: &Lookahead, output: &mut Output) -> Result<(), Failure> {
    writeln!(output, "flows: {}", ids(domain, flows).join(", "))?;
    writeln!(output, "plans: {} of {} calls", ahead.ahead.plans, lengths(&ahead.ahead))?;
    if !ahead.forced.is_empty() {
        writeln!(output, "forced: {}", names(domain, &ahead.forced).join(", "))?;
    }
    let mut rows = vec![["API", "step", "flows", "plans", "calls left"].map(str::to_owned)];
    for one in &ahead.feasible {
        rows.push([
            one.call.text(domain).replacen("()", "", 1),
            steps(domain, &one.steps).join(" "),
            ids(domain, &one.flows).join(" "),
            one.ahead.plans.to_string(),
            lengths(&one.ahead),
        ]);
    }
    if rows.len() > 1 {
        writeln!(output)?;
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; 5] = std::array::from_fn(width);
        for row in &rows {
            let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
            writeln!(output, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
    }
    Ok(())
}

/// The report on which calls may follow.
#[derive(Serialize)]
struct Report<'d> {
    /// The ids of the flows that are still possible.
    flows: Vec<&'d str>,
    /// Whether the plan may end here.
    may_end: bool,
    ahead: AheadReport,
    /// The names of the APIs of the calls that come next in every plan, in their order.
    forced: Vec<&'d str>,
    feasible: Vec<CallReport<'d>>,
}

/// The number of plans that are still possible, and the calls that they still need, in JSON.
#[derive(Serialize)]
struct AheadReport {
    /// The number of plans: digits, or `infinite`.
    plans: String,
    /// The number of calls of the shortest plan.
    fewest: u64,
    /// The number of calls of the longest plan. Null if there is no bound.
    most: Option<u64>,
}

/// An allowed call, in JSON.
#[derive(Serialize)]
struct CallReport<'d> {
    /// The name of the API, with `=` and the answer if it has outcomes.
    api: String,
    /// The ids of the steps that the call can carry out.
    steps: Vec<&'d str>,
    /// The ids of the flows that are still possible after the call.
    flows: Vec<&'d str>,
    ahead: AheadReport,
}

impl AheadReport {
    fn new(ahead: &Ahead) -> AheadReport {
        AheadReport { plans: ahead.plans.to_string(), fewest: ahead.fewest, most: ahead.most }
    }
}

impl<'d> Report<'d> {
    fn new(domain: &'d FlowDomain, flows: &[usize], ahead: &Lookahead) -> Report<'d> {
        let feasible = ahead.feasible.iter().map(|one| CallReport {
            api: one.call.text(domain).replacen("()", "", 1),
            steps: steps(domain, &one.steps),
            flows: ids(domain, &one.flows),
            ahead: AheadReport::new(&one.ahead),
        });
        Report {
            flows: ids(domain, flows),
            may_end: ahead.is_accepting,
            ahead: AheadReport::new(&ahead.ahead),
            forced: names(domain, &ahead.forced),
            feasible: feasible.collect(),
        }
    }
}
