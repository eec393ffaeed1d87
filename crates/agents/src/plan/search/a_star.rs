//! A* search (Hart, Nilsson and Raphael 1968): a plan of least cost.

use super::best_first::{Priority, cheapest_first};
use super::{Outcome, Problem, Search};
use grammata::error::Result;

/// Extends the unfinished plan with the least sum of cost so far and least cost ahead; among equals, the one with the
/// best score. The least cost ahead is exact if the automaton knows it, otherwise 0. The estimate is never too high, so
/// the plan found has the least cost of all plans that the bounds of [`SearchOptions`](super::SearchOptions) leave.
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
