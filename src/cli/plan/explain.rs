//! `grammata plan explain`: what is feasible after some steps, and what lies behind each choice.

use super::spec::SpecArgs;
use crate::automaton::words::Count;
use crate::cli::errors;
use crate::cli::output::{Exit, Failure, Output};
use crate::error::ErrorKind;
use crate::plan::{Least, Outlook, Step, Walk, tree_text};
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
    let mut walk = Walk::new(&plans);
    for id in arguments.steps.iter().map(|id| id.trim()) {
        let offers = plans.allowed(&walk)?;
        let symbols = spec.symbols();
        let offer =
            offers.iter().find(|offer| symbols.get(offer.action).is_some_and(|symbol| symbol.id == id));
        let Some(&offer) = offer else {
            let allowed = offers.iter().filter_map(|offer| symbols.get(offer.action)).map(|s| s.id.as_str());
            return Err(errors::step_not_allowed(id, &allowed.collect::<Vec<_>>()).into());
        };
        let least = symbols.get(offer.action).and_then(|symbol| symbol.set.as_ref()).map_or(0, |set| set.min);
        walk.push(Step { action: offer.action, elements: (0..least).collect() }, offer.to);
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
    for offer in plans.allowed(&walk)? {
        let outlook = plans.outlook(offer.to)?;
        let Some(symbol) = spec.symbols().get(offer.action) else { continue };
        let completions = match outlook {
            Outlook::DeadEnd => "0".to_owned(),
            Outlook::Open | Outlook::Unknown => match plans.count_from(offer.to) {
                Ok(Count::Finite(count)) => (count * symbol.subsets()).to_string(),
                Ok(Count::Infinite) => "infinite".to_owned(),
                Err(error) if error.kind() == ErrorKind::Limit => "unknown".to_owned(),
                Err(error) => return Err(error.into()),
            },
        };
        let fewest = plans.fewest_steps(offer.to.state)?.map(|steps| steps + 1);
        rows.push((symbol, outlook, completions, fewest));
    }
    if arguments.json {
        let choices: Vec<Value> = rows
            .iter()
            .map(|(symbol, outlook, completions, fewest)| {
                json!({
                    "action": symbol.id,
                    "leads_on": match outlook {
                        Outlook::Open => Some(true),
                        Outlook::DeadEnd => Some(false),
                        Outlook::Unknown => None,
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
    let shortest = plans.completion(&walk, Least::Steps)?;
    if let Some(plan) = &shortest {
        writeln!(output, "the shortest has {} steps", plan.steps.len())?;
    }
    if spec.symbols().iter().any(|symbol| symbol.cost > 0)
        && let Some(plan) = plans.completion(&walk, Least::Cost)?
    {
        writeln!(output, "the cheapest costs {}", plan.cost(&spec))?;
    }
    let ids = rows.iter().map(|(symbol, ..)| symbol.id.chars().count()).max().unwrap_or(0).max(6);
    let counts = rows.iter().map(|(_, _, count, _)| count.len()).max().unwrap_or(0).max(5);
    if !rows.is_empty() {
        writeln!(output, "\n{:ids$}  {:>counts$}  steps left  text", "action", "plans")?;
    }
    for (symbol, outlook, completions, fewest) in rows {
        let left = match (outlook, fewest) {
            (Outlook::DeadEnd, _) => "dead end".to_owned(),
            (_, Some(fewest)) => fewest.to_string(),
            (_, None) => "unknown".to_owned(),
        };
        let id = format!("{}{}", symbol.id, " ".repeat(ids - symbol.id.chars().count()));
        writeln!(output, "{id}  {completions:>counts$}  {left:>10}  {}", symbol.shown())?;
    }
    Ok(Exit::Done)
}
