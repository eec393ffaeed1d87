//! Search strategies and heuristics from arguments.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use grammata_agents::plan::policy::{CostHeuristic, Heuristic, StepsHeuristic};
use grammata_agents::plan::search::{STRATEGIES, Search, SearchOptions, strategy};

/// How a plan is searched for.
#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// How a plan is searched for
    #[arg(long, value_name = "NAME", default_value = "greedy", value_parser = names(), help_heading = "Search")]
    strategy: String,
    /// Unfinished plans of each length that a beam keeps
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 4, help_heading = "Search")]
    beam_width: usize,
    /// Add W times a heuristic to the policy's scores: `cost` (of the action, negated) or `steps` (fewest ones left, negated)
    #[arg(hide_short_help = true, long, value_name = "NAME=W", value_parser = heuristic, help_heading = "Search")]
    heuristic: Vec<(Kind, f64)>,
    /// After N steps, offer only actions that finish the plan in the fewest steps
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 100, help_heading = "Search")]
    max_free_steps: usize,
    /// Give up after N questions
    #[arg(hide_short_help = true, long, value_name = "N", default_value_t = 10_000, help_heading = "Search")]
    max_questions: usize,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Cost,
    Steps,
}

fn names() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(STRATEGIES.iter().map(|(name, what, _)| PossibleValue::new(*name).help(*what)))
}

fn heuristic(text: &str) -> Result<(Kind, f64), String> {
    let (name, weight) = text.split_once('=').ok_or("write a heuristic and its weight: `cost=0.1`")?;
    let kind = match name {
        "cost" => Kind::Cost,
        "steps" => Kind::Steps,
        _ => return Err("the heuristics are `cost` and `steps`".to_owned()),
    };
    let weight: f64 = weight.parse().map_err(|_| format!("`{weight}` is not a number"))?;
    if weight.is_finite() { Ok((kind, weight)) } else { Err("a weight is finite".to_owned()) }
}

impl SearchArgs {
    pub(super) fn strategy(&self) -> Box<dyn Search> {
        strategy(&self.strategy, self.beam_width)
            .unwrap_or_else(|| Box::new(grammata_agents::plan::search::Greedy))
    }

    pub(super) fn options(&self) -> SearchOptions {
        let SearchArgs { max_free_steps, max_questions, .. } = *self;
        SearchOptions::default().max_free_steps(max_free_steps).max_questions(max_questions).trace(false)
    }

    pub(super) fn heuristics(&self) -> Vec<(f64, Box<dyn Heuristic>)> {
        let make = |&(kind, weight): &(Kind, f64)| -> (f64, Box<dyn Heuristic>) {
            match kind {
                Kind::Cost => (weight, Box::new(CostHeuristic)),
                Kind::Steps => (weight, Box::new(StepsHeuristic)),
            }
        };
        self.heuristic.iter().map(make).collect()
    }
}
