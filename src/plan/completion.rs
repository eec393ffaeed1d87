//! The shortest and the cheapest completion of a walk.

use super::automaton::PlanAutomaton;
use super::walk::{Offer, Plan, Step, Walk};
use crate::error::Result;

/// What a completion should have least of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Least {
    /// Steps.
    #[default]
    Steps,
    /// Cost.
    Cost,
}

impl PlanAutomaton {
    /// A completion of a walk with the fewest steps, or of the least cost: the whole plan. `None` if there is none, or it
    /// was not found. Of several, the first in the order of the spec's actions. With `max_cost`, the shortest completion
    /// is one of the affordable ones that were found step by step; the cheapest is exact.
    ///
    /// # Errors
    /// Limits.
    pub fn completion(&mut self, walk: &Walk, least: Least) -> Result<Option<Plan>> {
        let spec = self.shared_spec();
        let mut walk = walk.clone();
        loop {
            let state = walk.position().state;
            match self.rest(least, state)? {
                None => return Ok(None),
                Some(0) => return Ok(Some(walk.into_plan())),
                Some(_) => {}
            }
            let mut best: Option<(u128, Offer)> = None;
            for offer in self.leading_on(&walk)? {
                let cost = u128::from(offer.to.cost.saturating_sub(walk.position().cost));
                let step = if least == Least::Steps { 0 } else { cost << 64 };
                let Some(rest) = self.rest(least, offer.to.state)? else { continue };
                if best.is_none_or(|(known, _)| rest + step < known) {
                    best = Some((rest + step, offer));
                }
            }
            let Some((_, offer)) = best else { return Ok(None) };
            let min = spec
                .symbols()
                .get(offer.action)
                .and_then(|symbol| symbol.set.as_ref())
                .map_or(0, |set| set.min);
            walk.push(Step { action: offer.action, elements: (0..min).collect() }, offer.to);
        }
    }
}
