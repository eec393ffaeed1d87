//! `grammata plan verify`: checks whether a plan is one of the spec's, and finds the nearest plan if not.

use super::show;
use super::spec::SpecArgs;
use crate::output::{Exit, Failure, Output};
use crate::{messages, source};
use grammata::error::ErrorKind;
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::{Edit, ReadPlan, Repair, Verdict, WrongArguments};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;

/// A plan is a JSON list of ids of actions (of a set-valued one: {"action": ID, "elements": [TEXTS]}; with arguments or an outcome: {"action": ID, "arguments": VALUE, "outcome": NAME}), or a line of text a
/// step, in the order of execution. The exit code is 1 if it is not a plan of the spec.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    spec: SpecArgs,
    /// The plan: a file, or `-` for standard input
    #[arg(value_name = "PLAN", required_unless_present = "text")]
    plan: Option<PathBuf>,
    /// The plan as an argument
    #[arg(long, value_name = "TEXT", conflicts_with = "plan")]
    text: Option<String>,
    /// Steps without inputs that make an output may be omitted
    #[arg(long)]
    inputs_implied: bool,
    /// Accept any order in which each step follows the steps whose outputs it uses
    #[arg(long)]
    reordered: bool,
    /// Do not look for the nearest plan
    #[arg(long)]
    no_nearest: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut plans = arguments.spec.load()?;
    let spec = plans.shared_spec();
    let text = match (&arguments.text, &arguments.plan) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => source::text(path, &arguments.spec.limits.get())?,
        (None, None) => String::new(),
    };
    let plan = ReadPlan::parse(&text, &spec)?;
    let implied = if arguments.inputs_implied { plans.sources() } else { Vec::new() };
    let verdict = plans.verify(&plan, &implied)?;
    let reordered = match verdict {
        Verdict::Wrong { .. } if arguments.reordered => plans.find_order(&plan, &implied)?,
        _ => None,
    };
    let is_reordered = reordered.is_some();
    match reordered.map_or(verdict, Verdict::Valid) {
        Verdict::Valid(found) => {
            if output.is_json() {
                let steps = show::json(&found, &spec);
                output.report(&json!({ "valid": true, "reordered": is_reordered, "steps": steps }))?;
            } else {
                let other = if is_reordered { ", in another order of independent steps" } else { "" };
                let steps = crate::text::counted(found.steps.len(), "step");
                writeln!(output, "valid: {steps}{other}")?;
            }
            Ok(Exit::Done)
        }
        Verdict::Wrong { step, feasible, may_end } => {
            let (nearest, budget_exhausted) = match arguments.no_nearest {
                true => (None, None),
                false => match plans.repair(&plan) {
                    Ok(nearest) => (Some(nearest), None),
                    // a spec without plans has no nearest plan
                    Err(error) if error.code() == "plan/none" => (None, None),
                    // the verdict is valid even if the search for the nearest plan is too expensive
                    Err(error) if error.kind() == ErrorKind::Limit => (None, Some(error)),
                    Err(error) => return Err(error.into()),
                },
            };
            let found = plan.steps.get(step).map(|step| step.written.as_str());
            let known = plan.steps.get(step).is_some_and(|step| !step.meanings.is_empty());
            let wrong_arguments = plan.steps.get(step).and_then(|step| step.wrong_arguments.as_ref());
            let mut labels: Vec<String> = Vec::new();
            for symbol in feasible.iter().filter_map(|&action| spec.symbols().get(action)) {
                labels.push(symbol.outline().trim().to_owned());
            }
            if output.is_json() {
                let nearest = nearest.as_ref().map(
                    |nearest| json!({ "steps": show::json(&nearest.plan, &spec), "edits": nearest.edits }),
                );
                let mut value = json!({
                    "valid": false,
                    "step": step + 1,
                    "found": found,
                    "known": known,
                    "feasible": labels,
                    "may_end": may_end,
                    "nearest": nearest,
                });
                if let (Some(wrong), Some(object)) = (wrong_arguments, value.as_object_mut()) {
                    let wrong = json!({ "at": wrong.pointer, "found": wrong.found });
                    object.insert("wrong_arguments".to_owned(), wrong);
                }
                output.report(&value)?;
            } else {
                writeln!(output, "wrong at step {}", step + 1)?;
                match (found, known) {
                    (Some(found), true) => writeln!(output, "  found: {found}")?,
                    (Some(found), false) if wrong_arguments.is_some() => {
                        writeln!(output, "  found: {found}")?;
                        let wrong = wrong_arguments.into_iter();
                        for WrongArguments { pointer, found } in wrong {
                            writeln!(
                                output,
                                "  the arguments are not as their schema has them, at #{pointer}: {found}"
                            )?;
                        }
                    }
                    (Some(found), false) => writeln!(output, "  found: {found} (no action has this name)")?,
                    (None, _) => writeln!(output, "  found: the end of the plan")?,
                }
                for (place, label) in labels.iter().enumerate() {
                    writeln!(output, "  {} {label}", if place == 0 { "feasible:" } else { "      or:" })?;
                }
                if may_end {
                    let mark = if labels.is_empty() { "feasible:" } else { "      or:" };
                    writeln!(output, "  {mark} the end of the plan")?;
                } else if labels.is_empty() {
                    writeln!(output, "  feasible: nothing")?;
                }
                if let Some(nearest) = &nearest {
                    write_nearest(nearest, &spec, output)?;
                }
            }
            if let Some(error) = &budget_exhausted {
                output.flush()?;
                messages::warning(error.diagnostic());
            }
            Ok(Exit::Rejected)
        }
    }
}

fn write_nearest(nearest: &Repair, spec: &Spec, output: &mut Output) -> std::io::Result<()> {
    let edits = crate::text::counted(nearest.edits, "edit");
    writeln!(output, "the nearest plan is {edits} away:")?;
    for edit in &nearest.differences {
        match edit {
            Edit::Keep(step) => writeln!(output, "    {}", step.line(spec).trim())?,
            Edit::Substitute { given, step } => {
                writeln!(output, "  - {given}")?;
                writeln!(output, "  + {}", step.line(spec).trim())?;
            }
            Edit::Insert(step) => writeln!(output, "  + {}", step.line(spec).trim())?,
            Edit::Delete(given) => writeln!(output, "  - {given}")?,
        }
    }
    Ok(())
}
