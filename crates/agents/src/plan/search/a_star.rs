//! A* search (Hart, Nilsson and Raphael 1968): the plan of the least cost.

use super::best_first::{Priority, cheapest_first};
use super::{Outcome, Problem, Search};
use grammata::error::Result;

/// Extends the unfinished plan of which the cost so far and the least cost ahead are together least; of equals, that with
/// the best score. The least cost ahead is exact where the automaton knows it, else 0: never too much, so the plan found is
/// one of the least cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AStar;

impl Search for AStar {
    fn run(&self, problem: &mut Problem<'_>) -> Result<Outcome> {
        cheapest_first(problem, |problem, open| {
            let at = open.partial.position();
            let ahead = match open.is_finished {
                true => 0,
                false => problem.plans().least_cost(at.state)?.unwrap_or(0),
            };
            Ok(Priority { cost: at.cost.saturating_add(ahead), score: open.score })
        })
    }
}
