//! `grammata plan verify`: checks whether a plan is one of the spec's, and finds the nearest plan if not.

use super::errors;
use super::show::{self, StepReport};
use super::spec::SpecArgs;
use crate::args::source;
use crate::io::lines::Lines;
use crate::io::messages;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::counted;
use grammata::error::{Error, ErrorKind, Result};
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::{Edit, Plan, PlanAutomaton, ReadPlan, Repair, Verdict};
use serde::Serialize;
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A plan is a JSON list of ids of actions (of a set-valued one: {"action": ID, "elements": [TEXTS]}; with arguments or
/// an outcome: {"action": ID, "arguments": VALUE, "outcome": NAME}), or a line of text a step, in the order of
/// execution. The exit code is 1 if it is not a plan of the spec.
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
    let (step, instead) = match judge(arguments, &mut plans, &plan, &implied)? {
        Judged::Valid { found, is_reordered } => {
            write_valid(&found, is_reordered, &plan.notes, &spec, output)?;
            return Ok(Exit::Done);
        }
        Judged::Wrong { step, instead } => (step, instead),
    };
    let (nearest, budget_exhausted) = match arguments.no_nearest {
        true => (None, None),
        false => nearest(&mut plans, &plan)?,
    };
    let report = WrongReport::new(&plan, step, instead.as_ref(), nearest.as_ref(), &spec);
    if output.is_json() {
        output.report(&report)?;
    } else {
        write_wrong(&report, &plan, output)?;
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

/// The report on a plan of the spec.
#[derive(Serialize)]
struct ValidReport<'a> {
    /// Always true.
    valid: bool,
    /// Whether it is a plan only in another order of its steps.
    reordered: bool,
    /// The steps, in the order of execution.
    steps: Vec<StepReport<'a>>,
    /// The lines that the spec declares not to be steps. Left out if there are none.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    notes: &'a [String],
}

/// The report on a plan that is not one of the spec's.
#[derive(Serialize)]
struct WrongReport<'a> {
    /// Always false.
    valid: bool,
    /// The number of the first wrong step, from 1; one more than there are steps if the plan ends too early.
    step: usize,
    /// The first wrong step as it is written. Null at the end of the plan.
    found: Option<&'a str>,
    /// Whether the wrong step is a step of the spec, which is only not allowed at its place.
    known: bool,
    /// The numbers of all steps that no action of the spec means, from 1.
    unknown: Vec<usize>,
    /// The texts of the actions that are allowed in place of the wrong step, in the order of the spec. Null with
    /// `--reordered` if a step is unknown and the order alone would forbid an earlier one, and if the search for them
    /// was too expensive.
    feasible: Option<Vec<String>>,
    /// Whether the plan could end before the wrong step.
    may_end: bool,
    /// The plan with the fewest edits. Null if it was not looked for, if there is none, or if the search was too
    /// expensive.
    nearest: Option<NearestReport<'a>>,
    /// What is wrong with the arguments of the wrong step. Left out if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong_arguments: Option<WrongArgumentsReport<'a>>,
}

/// The nearest plan, in JSON.
#[derive(Serialize)]
struct NearestReport<'a> {
    /// The steps, in the order of execution.
    steps: Vec<StepReport<'a>>,
    /// Number of steps that are inserted, deleted and substituted.
    edits: usize,
}

/// What is wrong with the arguments of a step, in JSON.
#[derive(Serialize)]
struct WrongArgumentsReport<'a> {
    /// The JSON Pointer of the innermost value with the first wrong character; empty for the whole.
    at: &'a str,
    /// The arguments in compact JSON, up to that character.
    found: &'a str,
}

/// The verdict on a plan of a stream, in JSON: an item of the member `plans`.
#[derive(Serialize)]
struct LineReport<'a> {
    /// The id that the line names. Null if it names none.
    id: Option<&'a Value>,
    /// The number of the line, from 1.
    line: usize,
    valid: bool,
    /// Whether it is a plan only in another order of its steps.
    reordered: bool,
    /// The number of the first wrong step, from 1. Null if the plan is valid.
    step: Option<usize>,
}

impl<'a> WrongReport<'a> {
    /// Reports on a plan whose step at the index `step` is wrong, where the actions of `instead` could come, or the
    /// end.
    fn new(
        plan: &'a ReadPlan,
        step: usize,
        instead: Option<&Instead>,
        nearest: Option<&'a Repair>,
        spec: &'a Spec,
    ) -> WrongReport<'a> {
        let found = plan.steps.get(step);
        let wrong = found.and_then(|step| step.wrong_arguments.as_ref());
        let outline = |&action: &usize| Some(spec.symbols().get(action)?.outline().trim().to_owned());
        WrongReport {
            valid: false,
            step: step + 1,
            found: found.map(|step| step.written.as_str()),
            known: found.is_some_and(|step| !step.meanings.is_empty()),
            unknown: plan.unknown().map(|step| step + 1).collect(),
            feasible: instead.map(|instead| instead.feasible.iter().filter_map(outline).collect()),
            may_end: instead.is_some_and(|instead| instead.may_end),
            nearest: nearest.map(|nearest| NearestReport {
                steps: show::steps(&nearest.plan, spec),
                edits: nearest.edits,
            }),
            wrong_arguments: wrong
                .map(|wrong| WrongArgumentsReport { at: &wrong.pointer, found: &wrong.found }),
        }
    }
}

/// Returns the plan of the spec that is nearest to a plan; `None` if the spec has no plans. If the search exceeds a
/// limit, that error is returned as the second value: the verdict on the plan does not depend on the search.
fn nearest(plans: &mut PlanAutomaton, plan: &ReadPlan) -> Result<(Option<Repair>, Option<Error>)> {
    match plans.repair(plan) {
        Ok(nearest) => Ok((Some(nearest), None)),
        Err(error) if error.code() == "plan/none" => Ok((None, None)),
        Err(error) if error.kind() == ErrorKind::Limit => Ok((None, Some(error))),
        Err(error) => Err(error),
    }
}

fn write_valid(
    plan: &Plan,
    reordered: bool,
    notes: &[String],
    spec: &Spec,
    output: &mut Output,
) -> std::io::Result<()> {
    if output.is_json() {
        return output.report(&ValidReport { valid: true, reordered, steps: show::steps(plan, spec), notes });
    }
    let other = if reordered { ", in another order of independent steps" } else { "" };
    writeln!(output, "valid: {}{other}", counted(plan.steps.len(), "step"))?;
    notes.iter().try_for_each(|note| writeln!(output, "  not a step: {note}"))
}

/// Writes what is wrong with a plan for people, without the nearest plan.
fn write_wrong(report: &WrongReport<'_>, plan: &ReadPlan, output: &mut Output) -> std::io::Result<()> {
    writeln!(output, "wrong at step {}", report.step)?;
    match (report.found, &report.wrong_arguments) {
        (Some(found), _) if report.known => writeln!(output, "  found: {found}")?,
        (Some(found), Some(WrongArgumentsReport { at, found: arguments })) => {
            writeln!(output, "  found: {found}")?;
            writeln!(output, "  the arguments are not as their schema has them, at #{at}: {arguments}")?;
        }
        (Some(found), None) => writeln!(output, "  found: {found} (no action has this name)")?,
        (None, _) => writeln!(output, "  found: the end of the plan")?,
    }
    for step in plan.unknown().filter(|step| step + 1 != report.step) {
        let written = plan.steps.get(step).map_or("", |step| step.written.as_str());
        writeln!(output, "  also no action: step {}, {written}", step + 1)?;
    }
    let Some(feasible) = &report.feasible else { return Ok(()) };
    let mark = |place: usize| if place == 0 { "feasible:" } else { "      or:" };
    for (place, label) in feasible.iter().enumerate() {
        writeln!(output, "  {} {label}", mark(place))?;
    }
    match (report.may_end, feasible.len()) {
        (true, labels) => writeln!(output, "  {} the end of the plan", mark(labels)),
        (false, 0) => writeln!(output, "  feasible: nothing"),
        (false, _) => Ok(()),
    }
}

/// What may come in place of a wrong step.
struct Instead {
    /// The actions, in the spec's order.
    feasible: Vec<usize>,
    /// Whether the plan may end there.
    may_end: bool,
}

/// The verdict on a plan.
enum Judged {
    Valid {
        found: Plan,
        /// Whether it is a plan only in another order of its steps.
        is_reordered: bool,
    },
    Wrong {
        /// The index of the first wrong step.
        step: usize,
        /// `None` if it is not known.
        instead: Option<Instead>,
    },
}

/// Judges a plan. A step without a meaning is wrong whatever comes before it, so the verdict names it if the order of
/// the steps is free, or if a search exceeds a limit.
fn judge(
    arguments: &Arguments,
    plans: &mut PlanAutomaton,
    plan: &ReadPlan,
    implied: &[usize],
) -> Result<Judged> {
    let unknown = plan.unknown().next();
    let verdict = match (plans.verify(plan, implied), unknown) {
        (Err(error), Some(step)) if error.kind() == ErrorKind::Limit => {
            return Ok(Judged::Wrong { step, instead: None });
        }
        (verdict, _) => verdict?,
    };
    match (verdict, unknown) {
        (Verdict::Valid(found), _) => Ok(Judged::Valid { found, is_reordered: false }),
        (Verdict::Wrong { step, .. }, Some(first)) if arguments.reordered && step != first => {
            Ok(Judged::Wrong { step: first, instead: None })
        }
        (Verdict::Wrong { step, feasible, may_end }, _) => {
            let reordered = if arguments.reordered { plans.find_order(plan, implied)? } else { None };
            Ok(match reordered {
                Some(found) => Judged::Valid { found, is_reordered: true },
                None => Judged::Wrong { step, instead: Some(Instead { feasible, may_end }) },
            })
        }
    }
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
        let (wrong, is_reordered) = match judge(arguments, plans, &plan, implied)? {
            Judged::Valid { is_reordered, .. } => (None, is_reordered),
            Judged::Wrong { step, .. } => (Some(step + 1), false),
        };
        exit = if wrong.is_some() { Exit::Rejected } else { exit };
        if output.is_json() {
            let (valid, reordered) = (wrong.is_none(), is_reordered);
            output.item(&LineReport { id, line, valid, reordered, step: wrong })?;
        } else {
            let name = id.map_or_else(|| format!("line {line}"), ToString::to_string);
            match wrong {
                Some(step) => writeln!(output, "{name}: wrong at step {step}")?,
                None => writeln!(output, "{name}: valid: {}", counted(plan.steps.len(), "step"))?,
            }
        }
        output.flush()?;
    }
    Ok(exit)
}

fn write_nearest(nearest: &Repair, spec: &Spec, output: &mut Output) -> std::io::Result<()> {
    let edits = counted(nearest.edits, "edit");
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
