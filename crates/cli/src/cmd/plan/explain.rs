//! `grammata plan explain`: shows which steps are possible after some steps, and how many plans each leads to.

use super::show;
use super::spec::SpecArgs;
use crate::io::errors;
use crate::io::output::{Exit, Failure, Output};
use grammata::error::ErrorKind;
use grammata::syntax::automaton_spec::Symbol;
use grammata::transitions::{Count, Counts};
use grammata_agents::plan::{
    Completable, Conflicts, Objective, PartialPlan, PlanAutomaton, Step, Successor, tree_text,
};
use serde_json::{Value, json};
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

/// Explains why an action may not follow some steps, by a conflicting set of rules.
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
        output.report(&json!({
            "action": id,
            "may_come": conflict.is_none(),
            "rules": conflict.iter().flat_map(|c| &c.rules).map(ToString::to_string).collect::<Vec<_>>(),
            "smallest": conflict.as_ref().map(|conflict| conflict.is_smallest),
        }))?;
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
    let mut walk = PartialPlan::new(&plans);
    for id in arguments.steps.iter().map(|id| id.trim()) {
        let successors = plans.allowed(&walk)?;
        let symbols = spec.symbols();
        let named = |successor: &Successor| name(symbols, successor);
        let Some(&successor) = successors.iter().find(|successor| named(successor) == id) else {
            let allowed: Vec<String> = successors.iter().map(named).collect();
            let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
            return Err(errors::step_not_allowed(id, &allowed).into());
        };
        walk.push(Step::least(&spec, successor.action).with_outcome(successor.outcome), successor.to);
    }
    if let Some(id) = &arguments.why {
        return why(&mut plans, &walk, id.trim(), output);
    }
    let at = walk.position();
    let mut counts = Counts::default();
    let mut count = |position| match plans.count_from(position, &mut counts) {
        Ok(Count::Finite(count)) => Ok(count.to_string()),
        Ok(Count::Infinite) => Ok("infinite".to_owned()),
        Err(error) if error.kind() == ErrorKind::Limit => Ok("unknown".to_owned()),
        Err(error) => Err(error),
    };
    let total = count(at)?;
    let complete = plans.is_complete(at.state);
    let mut rows = Vec::new();
    for successor in plans.allowed(&walk)? {
        let completable = plans.completable(successor.to)?;
        let Some(symbol) = spec.symbols().get(successor.action) else { continue };
        let completions = match completable {
            Completable::No => "0".to_owned(),
            Completable::Yes | Completable::Unknown => match plans.count_from(successor.to, &mut counts) {
                Ok(Count::Finite(count)) => (count * symbol.subsets()).to_string(),
                Ok(Count::Infinite) => "infinite".to_owned(),
                Err(error) if error.kind() == ErrorKind::Limit => "unknown".to_owned(),
                Err(error) => return Err(error.into()),
            },
        };
        let fewest = plans.fewest_steps(successor.to.state)?.map(|steps| steps + 1);
        rows.push((name(spec.symbols(), &successor), symbol, completable, completions, fewest));
    }
    if output.is_json() {
        let choices: Vec<Value> = rows
            .iter()
            .map(|(name, _, completable, completions, fewest)| {
                json!({
                    "action": name,
                    "leads_on": match completable {
                        Completable::Yes => Some(true),
                        Completable::No => Some(false),
                        Completable::Unknown => None,
                    },
                    "plans": completions,
                    "fewest_steps": fewest,
                })
            })
            .collect();
        output.report(&json!({ "plans": total, "complete": complete, "choices": choices }))?;
        return Ok(Exit::Done);
    }
    if !walk.is_empty() {
        write!(output, "{}", tree_text(walk.plan(), &spec))?;
        writeln!(output)?;
    }
    let from = match (walk.is_empty(), total == "1") {
        (true, true) => "plan",
        (true, false) => "plans",
        (false, true) => "plan continues from here",
        (false, false) => "plans continue from here",
    };
    writeln!(output, "{total} {from}{}", if complete { "; the plan may end here" } else { "" })?;
    if total == "0"
        && let Some(conflict) = Conflicts::new(plans.shared_spec()).of(walk.plan())?
    {
        write!(output, "{}", show::conflict(&conflict))?;
    }
    let shortest = plans.completion(&walk, Objective::Steps)?;
    if let Some(plan) = &shortest {
        writeln!(output, "the shortest has {}", crate::io::text::counted(plan.steps.len(), "step"))?;
    }
    if spec.symbols().iter().any(|symbol| symbol.cost > 0)
        && let Some(plan) = plans.completion(&walk, Objective::Cost)?
    {
        writeln!(output, "the cheapest costs {}", plan.cost(&spec))?;
    }
    let ids = rows.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(6);
    let counts = rows.iter().map(|(_, _, _, count, _)| count.len()).max().unwrap_or(0).max(5);
    if !rows.is_empty() {
        writeln!(output, "\n{:ids$}  {:>counts$}  steps left  text", "action", "plans")?;
    }
    for (name, symbol, completable, completions, fewest) in rows {
        let left = match (completable, fewest) {
            (Completable::No, _) => "dead end".to_owned(),
            (_, Some(fewest)) => fewest.to_string(),
            (_, None) => "unknown".to_owned(),
        };
        let id = format!("{name}{}", " ".repeat(ids - name.chars().count()));
        writeln!(output, "{id}  {completions:>counts$}  {left:>10}  {}", symbol.shown())?;
    }
    Ok(Exit::Done)
}
