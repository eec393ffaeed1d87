//! Lookahead from a state: whether a finished plan is reachable, the fewest steps to one, and the least cost.

use super::automaton::{PlanAutomaton, Position};
use super::completion::Objective;
use super::states::PlanState;
use grammata::error::Result;
use grammata::transitions::{Completable, Measure, PathLength};

impl PlanAutomaton {
    /// Returns whether a finished plan can be reached from the position.
    ///
    /// # Errors
    /// Limits.
    pub fn completable(&mut self, at: Position) -> Result<Completable> {
        let max = self.spec().max_cost();
        if max.is_none() && self.states.registers.is_empty() {
            // every configuration can be completed
            return Ok(Completable::Yes);
        }
        let distance = match max {
            Some(_) => self.cost_ahead.distance(&mut self.states, at.state)?,
            None => self.steps_ahead.distance(&mut self.states, at.state)?,
        };
        Ok(match distance {
            PathLength::Exactly(rest) => {
                let cost = u128::from(at.cost) + u128::from(Measure::Cost.amount(rest));
                match max.is_none_or(|max| cost <= max.into()) {
                    true => Completable::Yes,
                    false => Completable::No,
                }
            }
            PathLength::Never => Completable::No,
            PathLength::Unknown => Completable::Unknown,
        })
    }

    /// Returns the fewest actions from the state to a finished plan, regardless of cost; `None` if there is no such
    /// plan or none was found.
    ///
    /// # Errors
    /// Limits.
    pub fn fewest_steps(&mut self, state: PlanState) -> Result<Option<u64>> {
        let distance = self.steps_ahead.distance(&mut self.states, state)?;
        Ok(distance.exactly().map(|steps| Measure::Letters.amount(steps)))
    }

    /// Returns the least cost of the actions from the state to a finished plan; `None` if there is no such plan or none
    /// was found.
    ///
    /// # Errors
    /// Limits.
    pub fn least_cost(&mut self, state: PlanState) -> Result<Option<u64>> {
        let distance = self.cost_ahead.distance(&mut self.states, state)?;
        Ok(distance.exactly().map(|cost| Measure::Cost.amount(cost)))
    }

    /// Returns a distance that each step of some completion reduces: the fewest steps, or with `max_cost` the least cost
    /// and then the fewest steps, because the shortest completion may be unaffordable. `None` if there is no completion
    /// or none was found.
    ///
    /// # Errors
    /// Limits.
    pub(super) fn distance_left(&mut self, state: PlanState) -> Result<Option<u128>> {
        let objective = if self.spec().max_cost().is_some() { Objective::Cost } else { Objective::Steps };
        self.rest(objective, state)
    }

    /// Returns a distance by which completions are compared: the fewest steps, or the least cost and then the fewest
    /// steps.
    pub(super) fn rest(&mut self, objective: Objective, state: PlanState) -> Result<Option<u128>> {
        let distances = match objective {
            Objective::Steps => &mut self.steps_ahead,
            Objective::Cost => &mut self.cost_ahead,
        };
        Ok(distances.distance(&mut self.states, state)?.exactly())
    }
}
