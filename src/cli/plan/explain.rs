//! `grammata plan explain`: what is feasible after some steps, and what lies behind each choice.

use super::spec::SpecArgs;
use crate::automaton::words::Count;
use crate::cli::errors;
use crate::cli::output::{Exit, Failure, Output};
use crate::error::ErrorKind;
use crate::plan::{Completable, Objective, PartialPlan, Step, tree_text};
use serde_json::{Value, json};
use std::io::Write;

/// Steps are given in the order of choices: for a spec that plans backwards, from the last step on.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    spec: SpecArgs,
    /// The steps so far, by the ids of their actions, with commas between them
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    steps: Vec<String>,
    /// Write one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Failure> {
    let mut plans = arguments.spec.load()?;
    let spec = plans.shared_spec();
    let mut walk = PartialPlan::new(&plans);
    for id in arguments.steps.iter().map(|id| id.trim()) {
        let successors = plans.allowed(&walk)?;
        let symbols = spec.symbols();
        let successor = successors
            .iter()
            .find(|successor| symbols.get(successor.action).is_some_and(|symbol| symbol.id == id));
        let Some(&successor) = successor else {
            let allowed = successors
                .iter()
                .filter_map(|successor| symbols.get(successor.action))
                .map(|s| s.id.as_str());
            return Err(errors::step_not_allowed(id, &allowed.collect::<Vec<_>>()).into());
        };
        let least =
            symbols.get(successor.action).and_then(|symbol| symbol.set.as_ref()).map_or(0, |set| set.min);
        walk.push(Step { action: successor.action, elements: (0..least).collect() }, successor.to);
    }
    let at = walk.position();
    let mut count = |position| match plans.count_from(position) {
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
            Completable::Yes | Completable::Unknown => match plans.count_from(successor.to) {
                Ok(Count::Finite(count)) => (count * symbol.subsets()).to_string(),
                Ok(Count::Infinite) => "infinite".to_owned(),
                Err(error) if error.kind() == ErrorKind::Limit => "unknown".to_owned(),
                Err(error) => return Err(error.into()),
            },
        };
        let fewest = plans.fewest_steps(successor.to.state)?.map(|steps| steps + 1);
        rows.push((symbol, completable, completions, fewest));
    }
    if arguments.json {
        let choices: Vec<Value> = rows
            .iter()
            .map(|(symbol, completable, completions, fewest)| {
                json!({
                    "action": symbol.id,
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
        output.json(&json!({ "plans": total, "complete": complete, "choices": choices }))?;
        return Ok(Exit::Done);
    }
    if !walk.is_empty() {
        write!(output, "{}", tree_text(walk.plan(), &spec))?;
        writeln!(output)?;
    }
    let from = if walk.is_empty() { "plans" } else { "plans go on from here" };
    writeln!(output, "{total} {from}{}", if complete { "; the plan may end here" } else { "" })?;
    let shortest = plans.completion(&walk, Objective::Steps)?;
    if let Some(plan) = &shortest {
        writeln!(output, "the shortest has {} steps", plan.steps.len())?;
    }
    if spec.symbols().iter().any(|symbol| symbol.cost > 0)
        && let Some(plan) = plans.completion(&walk, Objective::Cost)?
    {
        writeln!(output, "the cheapest costs {}", plan.cost(&spec))?;
    }
    let ids = rows.iter().map(|(symbol, ..)| symbol.id.chars().count()).max().unwrap_or(0).max(6);
    let counts = rows.iter().map(|(_, _, count, _)| count.len()).max().unwrap_or(0).max(5);
    if !rows.is_empty() {
        writeln!(output, "\n{:ids$}  {:>counts$}  steps left  text", "action", "plans")?;
    }
    for (symbol, completable, completions, fewest) in rows {
        let left = match (completable, fewest) {
            (Completable::No, _) => "dead end".to_owned(),
            (_, Some(fewest)) => fewest.to_string(),
            (_, None) => "unknown".to_owned(),
        };
        let id = format!("{}{}", symbol.id, " ".repeat(ids - symbol.id.chars().count()));
        writeln!(output, "{id}  {completions:>counts$}  {left:>10}  {}", symbol.shown())?;
    }
    Ok(Exit::Done)
}
