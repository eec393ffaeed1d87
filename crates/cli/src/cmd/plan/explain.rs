//! `grammata plan explain`: shows which steps are possible after some steps, and how many plans each leads to.

use super::show;
use super::spec::SpecArgs;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use crate::io::text::counted;
use grammata::error::{ErrorKind, Result};
use grammata::syntax::automaton_spec::{Spec, Symbol};
use grammata::transitions::{Count, Counts};
use grammata_agents::plan::{
    Completable, Conflicts, Objective, PartialPlan, PlanAutomaton, Step, Successor, tree_text,
};
use serde::Serialize;
use std::io::Write;

/// Steps are given in the order of choices: for a spec that plans backwards, from the last step on.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    spec: SpecArgs,
    /// The steps so far, by the ids of their actions (with an outcome: ID=OUTCOME), with commas between them
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    steps: Vec<String>,
    /// Explain why this action is not allowed after the steps: a smallest set of rules that forbids it
    #[arg(long, value_name = "ID")]
    why: Option<String>,
}

/// Returns the id of an action, followed by `=` and the outcome if there is one.
fn name(symbols: &[Symbol], successor: &Successor) -> String {
    let Some(symbol) = symbols.get(successor.action) else { return String::new() };
    match successor.outcome.and_then(|outcome| symbol.outcomes.get(outcome)) {
        Some(outcome) => format!("{}={outcome}", symbol.id),
        None => symbol.id.clone(),
    }
}

/// The report on why an action is not allowed (`--why`).
#[derive(Serialize)]
struct WhyReport<'a> {
    /// The id of the action, with `=` and an outcome if one was asked for.
    action: &'a str,
    /// Whether it is allowed.
    may_come: bool,
    /// The rules that forbid it. Empty if it is allowed, or if no plan has it whatever the rules.
    rules: Vec<String>,
    /// Whether no smaller set of rules forbids it. Null if it is allowed.
    smallest: Option<bool>,
}

/// The report on what is possible after some steps.
#[derive(Serialize)]
struct Report<'s> {
    /// The number of plans that begin with the steps: digits, `infinite`, or `unknown` if counting is too expensive.
    plans: String,
    /// Whether the plan may end here.
    complete: bool,
    choices: Vec<ChoiceReport<'s>>,
}

/// An allowed action, in JSON.
#[derive(Serialize)]
struct ChoiceReport<'s> {
    /// The id of the action, with `=` and its outcome if it has one.
    action: String,
    /// Whether a plan can be finished after it. Null if that is unknown.
    leads_on: Option<bool>,
    /// The number of plans that continue with it, written like [`Report::plans`].
    plans: String,
    /// The least number of steps to the end, this one included. Null if it is unknown or there is no end.
    fewest_steps: Option<u64>,
    /// The action, for the output as text. JSON does not have it.
    #[serde(skip)]
    symbol: &'s Symbol,
}

/// Explains why an action may not follow some steps, by a conflicting set of rules. If the action has outcomes and `id`
/// names none, the first outcome is taken.
///
/// # Errors
/// `cli/step-not-allowed`: the spec has no such action, or the action has no such outcome.
fn why(
    plans: &mut PlanAutomaton,
    walk: &PartialPlan,
    id: &str,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let spec = plans.shared_spec();
    let symbols = spec.symbols();
    let (action, outcome) = match id.split_once('=') {
        Some((action, outcome)) if !symbols.iter().any(|symbol| symbol.id == id) => (action, Some(outcome)),
        _ => (id, None),
    };
    let ids: Vec<&str> = symbols.iter().map(|symbol| symbol.id.as_str()).collect();
    let unknown = || errors::step_not_allowed(id, &ids);
    let action = ids.iter().position(|known| *known == action).ok_or_else(unknown)?;
    let outcomes = &symbols[action].outcomes;
    let outcome = match outcome {
        Some(outcome) => Some(outcomes.iter().position(|known| known == outcome).ok_or_else(unknown)?),
        None => (!outcomes.is_empty()).then_some(0),
    };
    let mut steps = walk.plan().clone();
    steps.steps.push(Step::least(&spec, action).with_outcome(outcome));
    let conflict = Conflicts::new(plans.shared_spec()).of(&steps)?;
    if output.is_json() {
        output.report(&WhyReport {
            action: id,
            may_come: conflict.is_none(),
            rules: conflict.iter().flat_map(|conflict| &conflict.rules).map(ToString::to_string).collect(),
            smallest: conflict.as_ref().map(|conflict| conflict.is_smallest),
        })?;
    } else {
        match &conflict {
            None => writeln!(output, "{id} is allowed here")?,
            Some(conflict) => write!(output, "{id} is not allowed here\n{}", show::conflict(conflict))?,
        }
    }
    Ok(if conflict.is_none() { Exit::Done } else { Exit::Rejected })
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut plans = arguments.spec.load()?;
    let spec = plans.shared_spec();
    let walk = walk(&mut plans, &spec, &arguments.steps)?;
    if let Some(id) = &arguments.why {
        return why(&mut plans, &walk, id.trim(), output);
    }
    let report = report(&mut plans, &spec, &walk)?;
    match output.is_json() {
        true => output.report(&report)?,
        false => write(&report, &mut plans, &spec, &walk, output)?,
    }
    Ok(Exit::Done)
}

/// Takes steps from the start, each named by the id of its action, with `=` and the outcome if it has one.
///
/// # Errors
/// `cli/step-not-allowed`: a step is not allowed at its place.
fn walk(plans: &mut PlanAutomaton, spec: &Spec, steps: &[String]) -> Result<PartialPlan> {
    let mut walk = PartialPlan::new(plans);
    let named = |successor: &Successor| name(spec.symbols(), successor);
    for id in steps.iter().map(|id| id.trim()) {
        let successors = plans.allowed(&walk)?;
        let Some(&successor) = successors.iter().find(|successor| named(successor) == id) else {
            let allowed: Vec<String> = successors.iter().map(named).collect();
            let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
            return Err(errors::step_not_allowed(id, &allowed));
        };
        walk.push(Step::least(spec, successor.action).with_outcome(successor.outcome), successor.to);
    }
    Ok(walk)
}

/// Formats a number of plans: digits, `infinite`, or `unknown` if counting exceeded a limit. If an action is given, a
/// finite number is multiplied by the number of sets that the action may take.
fn digits(count: Result<Count>, symbol: Option<&Symbol>) -> Result<String> {
    match (count, symbol) {
        (Ok(Count::Finite(count)), Some(symbol)) => Ok((count * symbol.subsets()).to_string()),
        (Ok(Count::Finite(count)), None) => Ok(count.to_string()),
        (Ok(Count::Infinite), _) => Ok("infinite".to_owned()),
        (Err(error), _) if error.kind() == ErrorKind::Limit => Ok("unknown".to_owned()),
        (Err(error), _) => Err(error),
    }
}

/// Counts the plans after some steps, and after each action that is allowed then.
fn report<'s>(plans: &mut PlanAutomaton, spec: &'s Spec, walk: &PartialPlan) -> Result<Report<'s>> {
    let at = walk.position();
    let mut counts = Counts::default();
    let total = digits(plans.count_from(at, &mut counts), None)?;
    let complete = plans.is_complete(at.state);
    let mut choices = Vec::new();
    for successor in plans.allowed(walk)? {
        let completable = plans.completable(successor.to)?;
        let Some(symbol) = spec.symbols().get(successor.action) else { continue };
        let (leads_on, completions) = match completable {
            Completable::No => (Some(false), "0".to_owned()),
            Completable::Yes | Completable::Unknown => {
                let count = plans.count_from(successor.to, &mut counts);
                let is_known = matches!(completable, Completable::Yes);
                (is_known.then_some(true), digits(count, Some(symbol))?)
            }
        };
        let fewest = plans.fewest_steps(successor.to.state)?.map(|steps| steps + 1);
        let action = name(spec.symbols(), &successor);
        choices.push(ChoiceReport { action, leads_on, plans: completions, fewest_steps: fewest, symbol });
    }
    Ok(Report { plans: total, complete, choices })
}

fn write(
    report: &Report<'_>,
    plans: &mut PlanAutomaton,
    spec: &Spec,
    walk: &PartialPlan,
    output: &mut Output,
) -> Result<(), Failure> {
    let Report { plans: total, complete, choices } = report;
    if !walk.is_empty() {
        write!(output, "{}", tree_text(walk.plan(), spec))?;
        writeln!(output)?;
    }
    let from = match (walk.is_empty(), total == "1") {
        (true, true) => "plan",
        (true, false) => "plans",
        (false, true) => "plan continues from here",
        (false, false) => "plans continue from here",
    };
    writeln!(output, "{total} {from}{}", if *complete { "; the plan may end here" } else { "" })?;
    if total == "0"
        && let Some(conflict) = Conflicts::new(plans.shared_spec()).of(walk.plan())?
    {
        write!(output, "{}", show::conflict(&conflict))?;
    }
    if let Some(plan) = plans.completion(walk, Objective::Steps)? {
        writeln!(output, "the shortest has {}", counted(plan.steps.len(), "step"))?;
    }
    if spec.symbols().iter().any(|symbol| symbol.cost > 0)
        && let Some(plan) = plans.completion(walk, Objective::Cost)?
    {
        writeln!(output, "the cheapest costs {}", plan.cost(spec))?;
    }
    let ids = choices.iter().map(|choice| choice.action.chars().count()).max().unwrap_or(0).max(6);
    let counts = choices.iter().map(|choice| choice.plans.len()).max().unwrap_or(0).max(5);
    if !choices.is_empty() {
        writeln!(output, "\n{:ids$}  {:>counts$}  steps left  text", "action", "plans")?;
    }
    for ChoiceReport { action, leads_on, plans, fewest_steps, symbol } in choices {
        let left = match (leads_on, fewest_steps) {
            (Some(false), _) => "dead end".to_owned(),
            (_, Some(fewest)) => fewest.to_string(),
            (_, None) => "unknown".to_owned(),
        };
        let id = format!("{action}{}", " ".repeat(ids - action.chars().count()));
        writeln!(output, "{id}  {plans:>counts$}  {left:>10}  {}", symbol.shown())?;
    }
    Ok(())
}
