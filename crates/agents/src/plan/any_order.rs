//! Plans whose independent steps stand in another order than the spec's words name them.

use super::automaton::PlanAutomaton;
use super::errors;
use super::partial::PartialPlan;
use super::read::ReadPlan;
use super::step::{Plan, Step};
use super::tree::dataflow;
use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata::syntax::automaton_spec::Direction;

/// Partial orders that are tried before the search gives up.
const MOST_ORDERS: usize = 100_000;

/// What stands at one place of the word under construction.
#[derive(Clone, Copy)]
enum Given {
    /// The step of the given plan at this place, counted from 0 in the order of execution.
    At(usize),
    /// An implied step, which the given plan does not name.
    Implied,
}

impl PlanAutomaton {
    /// Finds a plan of the spec that has the same steps as the given plan, in an order that the data of the steps permits.
    ///
    /// The given order counts if each step stands after the steps whose outputs it takes ([`dataflow`] says which they are).
    /// `implied` are actions that the given plan need not name. Returns `None` if there is no such plan, and for a spec
    /// whose actions have no inputs, as nothing there says which steps are independent.
    ///
    /// # Errors
    /// `plan/budget-exhausted` if 100,000 partial orders do not decide; limits.
    pub fn find_order(&mut self, given: &ReadPlan, implied: &[usize]) -> Result<Option<Plan>> {
        let spec = self.shared_spec();
        if spec.symbols().iter().all(|symbol| symbol.inputs.is_empty()) {
            return Ok(None);
        }
        let mut walk = PartialPlan::new(self);
        let mut places: Vec<Given> = Vec::new();
        let mut used = FixedBitSet::with_capacity(given.steps.len());
        // for each step of the walk and the one after: the successors still to be tried
        let mut open = vec![self.successors(&walk, given, implied, &used)?];
        let mut tried = 0;
        loop {
            let Some(successor) = open.last_mut().and_then(Vec::pop) else {
                open.pop();
                if open.is_empty() {
                    return Ok(None);
                }
                walk.pop();
                if let Some(Given::At(place)) = places.pop() {
                    used.set(place, false);
                }
                continue;
            };
            tried += 1;
            if tried > MOST_ORDERS {
                return Err(errors::exhausted_orders(MOST_ORDERS));
            }
            let (step, to, place) = successor;
            walk.push(step, to);
            places.push(place);
            if let Given::At(place) = place {
                used.insert(place);
            }
            if used.is_full() && self.is_complete(to.state) && self.permits(walk.plan(), &places) {
                return Ok(Some(walk.into_plan()));
            }
            open.push(self.successors(&walk, given, implied, &used)?);
        }
    }

    /// What may come next: steps of the given plan that are not used, and implied ones. What the given order has first
    /// is tried first.
    fn successors(
        &mut self,
        walk: &PartialPlan,
        given: &ReadPlan,
        implied: &[usize],
        used: &FixedBitSet,
    ) -> Result<Vec<(Step, super::Position, Given)>> {
        let mut found = Vec::new();
        // two implied steps for each given one: more would have no step that takes what they make
        let may_imply = walk.len() < 3 * (given.steps.len() + 1);
        for successor in self.allowed(walk)? {
            for place in used.zeroes() {
                let meanings = given.steps.get(place).into_iter().flat_map(|step| &step.meanings);
                let meant = meanings.filter(|step| {
                    (step.action, step.outcome) == (successor.action, successor.outcome) && self.takes(step)
                });
                found.extend(meant.map(|step| (step.clone(), successor.to, Given::At(place))));
            }
            let step = Step::of(successor.action);
            let is_implied = implied.contains(&successor.action) && successor.outcome.is_none();
            if may_imply && is_implied && self.takes(&step) {
                found.push((step, successor.to, Given::Implied));
            }
        }
        // the last is tried first
        let forward = self.spec().direction() == Direction::Forward;
        found.sort_by_key(|&(_, _, given)| match given {
            Given::Implied => (0, 0),
            Given::At(place) if forward => (1, usize::MAX - place),
            Given::At(place) => (1, place),
        });
        Ok(found)
    }

    /// Whether each step of a plan stands in the given order after the steps whose outputs it takes.
    fn permits(&self, plan: &Plan, places: &[Given]) -> bool {
        let makers = dataflow(plan, self.spec());
        places.iter().zip(&makers).all(|(&taker, makers)| {
            makers.iter().flatten().all(|&maker| match (places.get(maker), taker) {
                (Some(&Given::At(maker)), Given::At(taker)) => maker < taker,
                // an implied step is carried out when it is needed
                _ => true,
            })
        })
    }
}
