//! The shortest and the cheapest completion of a partial plan.

use super::automaton::PlanAutomaton;
use super::partial::{PartialPlan, Successor};
use super::step::{Plan, Step};
use grammata::error::Result;

/// The quantity that a completion minimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Objective {
    /// The number of steps.
    #[default]
    Steps,
    /// The cost.
    Cost,
}

impl PlanAutomaton {
    /// Completes a partial plan with the fewest steps or at the least cost, and returns the whole plan, or `None` if
    /// there is no completion or none was found. Among equally good completions, takes the first in the order of the
    /// spec's actions. With `max_cost`, the shortest completion is chosen step by step among affordable successors, and
    /// may not be the shortest of all; the cheapest is exact.
    ///
    /// # Errors
    /// Limits.
    pub fn completion(&mut self, walk: &PartialPlan, objective: Objective) -> Result<Option<Plan>> {
        let spec = self.shared_spec();
        let mut walk = walk.clone();
        loop {
            let state = walk.position().state;
            match self.rest(objective, state)? {
                None => return Ok(None),
                Some(0) => return Ok(Some(walk.into_plan())),
                Some(_) => {}
            }
            let mut best: Option<(u128, Successor)> = None;
            for successor in self.live_successors(&walk)? {
                let cost = u128::from(successor.to.cost.saturating_sub(walk.position().cost));
                let step = if objective == Objective::Steps { 0 } else { cost << 64 };
                let Some(rest) = self.rest(objective, successor.to.state)? else { continue };
                if best.is_none_or(|(known, _)| rest + step < known) {
                    best = Some((rest + step, successor));
                }
            }
            let Some((_, successor)) = best else { return Ok(None) };
            walk.push(Step::least(&spec, successor.action).with_outcome(successor.outcome), successor.to);
        }
    }
}
