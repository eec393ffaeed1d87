//! `grammata plan verify`: checks whether a plan is one of the spec's, and finds the nearest plan if not.

use super::spec::SpecArgs;
use super::{errors, show};
use crate::args::source;
use crate::io::lines::Lines;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use grammata::error::{ErrorKind, Result};
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::{Edit, PlanAutomaton, ReadPlan, Repair, Verdict, WrongArguments};
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

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
    /// Judge each line when it comes: a plan as a JSON list, or as {"id": TEXT, "plan": [STEPS]}; no nearest plans
    #[arg(long, requires = "plan", conflicts_with = "text")]
    stream: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut plans = arguments.spec.load()?;
    let spec = plans.shared_spec();
    let implied = if arguments.inputs_implied { plans.sources() } else { Vec::new() };
    if let (true, Some(path)) = (arguments.stream, &arguments.plan) {
        return stream(arguments, path, &mut plans, &implied, output);
    }
    let text = match (&arguments.text, &arguments.plan) {
        (Some(text), _) => text.clone(),
        (None, Some(path)) => source::text(path, &arguments.spec.limits.get())?,
        (None, None) => String::new(),
    };
    let plan = ReadPlan::parse(&text, &spec)?;
    let (verdict, is_reordered) = judge(arguments, &mut plans, &plan, &implied)?;
    match verdict {
        Verdict::Valid(found) => {
            if output.is_json() {
                let steps = show::json(&found, &spec);
                output.report(&json!({ "valid": true, "reordered": is_reordered, "steps": steps }))?;
            } else {
                let other = if is_reordered { ", in another order of independent steps" } else { "" };
                let steps = crate::io::text::counted(found.steps.len(), "step");
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

/// The verdict on a plan, and whether it is valid in another order only.
fn judge(
    arguments: &Arguments,
    plans: &mut PlanAutomaton,
    plan: &ReadPlan,
    implied: &[usize],
) -> Result<(Verdict, bool)> {
    let verdict = plans.verify(plan, implied)?;
    let reordered = match verdict {
        Verdict::Wrong { .. } if arguments.reordered => plans.find_order(plan, implied)?,
        _ => None,
    };
    let is_reordered = reordered.is_some();
    Ok((reordered.map_or(verdict, Verdict::Valid), is_reordered))
}

/// Judges the plans of a stream line by line.
fn stream(
    arguments: &Arguments,
    path: &Path,
    plans: &mut PlanAutomaton,
    implied: &[usize],
    output: &mut Output,
) -> Result<Exit, Failure> {
    let mut lines = Lines::open(path, &arguments.spec.limits.get())?;
    let (spec, mut exit) = (plans.shared_spec(), Exit::Done);
    if output.is_json() {
        output.list("plans")?;
    }
    while let Some((line, text)) = lines.next()? {
        let value: Value = serde_json::from_str(&text)
            .map_err(|cause| errors::plan_line(line, &text, Some(&cause)).in_file(&source::name_of(path)))?;
        let (id, steps) = match &value {
            Value::Array(_) => (None, &value),
            value => (value.get("id"), &value["plan"]),
        };
        if !steps.is_array() {
            return Err(errors::plan_line(line, &text, None).in_file(&source::name_of(path)).into());
        }
        let plan = ReadPlan::parse(&steps.to_string(), &spec)?;
        let (verdict, is_reordered) = judge(arguments, plans, &plan, implied)?;
        let wrong = match &verdict {
            Verdict::Valid(_) => None,
            Verdict::Wrong { step, .. } => Some(step + 1),
        };
        exit = if wrong.is_some() { Exit::Rejected } else { exit };
        if output.is_json() {
            let valid = wrong.is_none();
            output.item(
                &json!({ "id": id, "line": line, "valid": valid, "reordered": is_reordered, "step": wrong }),
            )?;
        } else {
            let name = id.map_or_else(|| format!("line {line}"), ToString::to_string);
            match wrong {
                Some(step) => writeln!(output, "{name}: wrong at step {step}")?,
                None => {
                    writeln!(output, "{name}: valid: {}", crate::io::text::counted(plan.steps.len(), "step"))?
                }
            }
        }
        output.flush()?;
    }
    Ok(exit)
}

fn write_nearest(nearest: &Repair, spec: &Spec, output: &mut Output) -> std::io::Result<()> {
    let edits = crate::io::text::counted(nearest.edits, "edit");
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
