//! The shortest and the cheapest completion of a partial plan.

use super::automaton::{PlanAutomaton, Position};
use super::partial::{PartialPlan, Successor};
use super::step::{Plan, Step};
use grammata::error::Result;
use grammata::transitions::Completable;
use rustc_hash::FxHashMap;

/// The maximum number of positions that a search for the shortest affordable completion finds.
const POSITIONS: usize = 400_000;

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
    /// there is no completion or none was found ([`completable`](PlanAutomaton::completable) tells which). Among equally
    /// good completions, takes the first in the order of the spec's actions; with `max_cost`, any of the shortest.
    ///
    /// # Errors
    /// Limits.
    pub fn completion(&mut self, walk: &PartialPlan, objective: Objective) -> Result<Option<Plan>> {
        if objective == Objective::Steps && self.spec().max_cost().is_some() {
            return self.shortest_affordable(walk);
        }
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

    /// Completes a partial plan with the fewest steps within `max_cost`: the shortest path regardless of cost may be
    /// unaffordable. A breadth-first search over positions, which enters a state again only at a lower cost than before.
    /// Returns `None` if there is no completion, or if the search finds more than [`POSITIONS`] positions.
    fn shortest_affordable(&mut self, walk: &PartialPlan) -> Result<Option<Plan>> {
        let start = walk.position();
        // each position with the index of its predecessor
        let mut reached = vec![(start, 0)];
        let mut least = FxHashMap::from_iter([(start.state, start.cost)]);
        let mut next = 0;
        while let Some(&(at, _)) = reached.get(next) {
            if self.is_complete(at.state) {
                let path = std::iter::successors(Some(next), |&index| (index > 0).then(|| reached[index].1));
                let mut path: Vec<Position> = path.map(|index| reached[index].0).collect();
                path.pop();
                path.reverse();
                return self.along(walk.clone(), &path);
            }
            if reached.len() > POSITIONS {
                return Ok(None);
            }
            for edge in self.safe_edges(at.state)? {
                let Some(to) = self.after(at.cost, &edge) else { continue };
                let is_cheaper = least.get(&to.state).is_none_or(|&known| to.cost < known);
                if is_cheaper && self.completable(to)? != Completable::No {
                    least.insert(to.state, to.cost);
                    reached.push((to, next));
                }
            }
            next += 1;
        }
        Ok(None)
    }

    /// Extends a partial plan by steps that reach the given positions, one step each.
    fn along(&mut self, mut walk: PartialPlan, path: &[Position]) -> Result<Option<Plan>> {
        let spec = self.shared_spec();
        for &to in path {
            let Some(successor) = self.allowed(&walk)?.into_iter().find(|successor| successor.to == to)
            else {
                return Ok(None);
            };
            walk.push(Step::least(&spec, successor.action).with_outcome(successor.outcome), to);
        }
        Ok(Some(walk.into_plan()))
    }
}
