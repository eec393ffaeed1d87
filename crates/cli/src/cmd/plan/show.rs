//! Formats plans for people and as JSON.

use crate::io::output::Output;
use grammata::syntax::automaton_spec::{Direction, Spec};
use grammata_agents::plan::{Conflict, Plan, Step, dataflow};
use serde::Serialize;
use serde_json::Value;
use std::io::{self, Write};

/// Returns the number of a step in the order of execution, from 1.
fn number(plan: &Plan, spec: &Spec, place: usize) -> usize {
    match spec.direction() {
        Direction::Forward => place + 1,
        Direction::Backward => plan.steps.len() - place,
    }
}

/// Writes a plan as a table with one line for each step, in the order of execution.
pub(super) fn table(plan: &Plan, spec: &Spec, output: &mut Output) -> io::Result<()> {
    let on = dataflow(plan, spec);
    let places: Vec<usize> = match spec.direction() {
        Direction::Forward => (0..plan.steps.len()).collect(),
        Direction::Backward => (0..plan.steps.len()).rev().collect(),
    };
    let texts: Vec<String> =
        places.iter().filter_map(|&place| plan.steps.get(place)).map(|step| one_line(step, spec)).collect();
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let digits = plan.steps.len().to_string().len();
    for (&place, text) in places.iter().zip(&texts) {
        let mut line = format!("{:>digits$}  {text}", number(plan, spec, place));
        let takes: Vec<String> =
            on[place].iter().flatten().map(|&child| number(plan, spec, child).to_string()).collect();
        if !takes.is_empty() {
            let pad = " ".repeat(width - text.chars().count());
            line.push_str(&format!("{pad}  from {}", takes.join(" and ")));
        }
        writeln!(output, "{line}")?;
    }
    Ok(())
}

fn one_line(step: &Step, spec: &Spec) -> String {
    step.line(spec).trim().replace('\n', " ")
}

/// Formats a plan on one line, in the order of execution.
pub(super) fn line(plan: &Plan, spec: &Spec) -> String {
    let texts: Vec<String> = plan.executed(spec).map(|step| one_line(step, spec)).collect();
    texts.join("; ")
}

/// A step of a plan in JSON, as `plan verify` reads it: the id of its action, or an object if there is more to it.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum StepReport<'a> {
    /// The id of an action that takes no set, with neither an outcome nor arguments.
    Id(&'a str),
    /// Any other step. What does not apply to it is left out.
    Object {
        action: &'a str,
        /// The elements that a set-valued action takes, in the order of the spec.
        #[serde(skip_serializing_if = "Option::is_none")]
        elements: Option<Vec<&'a str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        arguments: Option<&'a Value>,
        /// The name of the outcome that the environment chose.
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<&'a str>,
    },
}

impl<'a> StepReport<'a> {
    pub(super) fn new(step: &'a Step, spec: &'a Spec) -> StepReport<'a> {
        let symbol = spec.symbols().get(step.action);
        let id = symbol.map(|symbol| symbol.id.as_str()).unwrap_or_default();
        let set = symbol.and_then(|symbol| symbol.set.as_ref());
        let outcome = step.outcome_name(spec);
        if set.is_none() && outcome.is_none() && step.arguments.is_none() {
            return StepReport::Id(id);
        }
        let elements = set.map(|set| {
            let elements = step.elements.iter().filter_map(|&place| set.of.get(place));
            elements.map(String::as_str).collect()
        });
        StepReport::Object { action: id, elements, arguments: step.arguments.as_ref(), outcome }
    }
}

/// Converts a plan to the list that `plan verify` reads, in the order of execution.
pub(super) fn steps<'a>(plan: &'a Plan, spec: &'a Spec) -> Vec<StepReport<'a>> {
    plan.executed(spec).map(|step| StepReport::new(step, spec)).collect()
}

/// Formats the rules of a conflict, one a line.
pub(super) fn conflict(conflict: &Conflict) -> String {
    if conflict.rules.is_empty() {
        return "whatever the rules: the machine or grammar has no such plan\n".to_owned();
    }
    let least = if conflict.is_smallest { "" } else { " (there may be fewer)" };
    let mut text = match conflict.rules.len() {
        1 => "no such plan keeps this rule:\n".to_owned(),
        _ => format!("no such plan keeps all of these rules{least}:\n"),
    };
    conflict.rules.iter().for_each(|rule| text.push_str(&format!("  {rule}\n")));
    text
}
