//! Search for a plan of the spec with the steps of a given plan in another order.

use super::automaton::PlanAutomaton;
use super::errors;
use super::partial::PartialPlan;
use super::read::ReadPlan;
use super::step::{Plan, Step};
use super::tree::dataflow;
use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata::syntax::automaton_spec::Direction;

/// The maximum number of partial orders that are tried.
const MOST_ORDERS: usize = 100_000;

/// The origin of one step of the word under construction.
#[derive(Clone, Copy)]
enum Given {
    /// The step of the given plan at this place, counted from 0 in the order of execution.
    At(usize),
    /// An implied step, which the given plan does not name.
    Implied,
}

impl PlanAutomaton {
    /// Finds a plan of the spec with the same steps as the given plan, in an order that the data flow permits.
    ///
    /// The found plan fits the given one if each given step is given after the given steps whose outputs it takes in
    /// the found plan (see [`dataflow`]). `implied` are actions that the given plan may omit; they are added only while
    /// the plan has fewer than 3 (n + 1) steps, where n is the number of given steps. Returns `None` if no such plan is
    /// found. Also returns `None`, without a search, if a given step has no meaning, and if no action of the spec has
    /// inputs, because then nothing says which steps are independent.
    ///
    /// # Errors
    /// `plan/budget-exhausted` if more than 100,000 partial orders would have to be tried; limits.
    pub fn find_order(&mut self, given: &ReadPlan, implied: &[usize]) -> Result<Option<Plan>> {
        let spec = self.shared_spec();
        let has_no_inputs = spec.symbols().iter().all(|symbol| symbol.inputs.is_empty());
        if has_no_inputs || given.unknown().next().is_some() {
            return Ok(None);
        }
        let mut walk = PartialPlan::new(self);
        let mut places: Vec<Given> = Vec::new();
        let mut used = FixedBitSet::with_capacity(given.steps.len());
        // for each step of the walk and the next one: the untried successors
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

    /// Returns the possible next steps, the most preferred last. Unused steps of the given plan are preferred to
    /// implied steps; among the unused steps, the first of the given plan is preferred, or the last for a backward
    /// spec.
    fn successors(
        &mut self,
        walk: &PartialPlan,
        given: &ReadPlan,
        implied: &[usize],
        used: &FixedBitSet,
    ) -> Result<Vec<(Step, super::Position, Given)>> {
        let mut found = Vec::new();
        // a bound on the search: about two implied steps per given one
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

    /// Returns whether each step of a plan comes, in the given order, after the steps whose outputs it takes.
    fn permits(&self, plan: &Plan, places: &[Given]) -> bool {
        let makers = dataflow(plan, self.spec());
        places.iter().zip(&makers).all(|(&taker, makers)| {
            makers.iter().flatten().all(|&maker| match (places.get(maker), taker) {
                (Some(&Given::At(maker)), Given::At(taker)) => maker < taker,
                // an implied step runs whenever it is needed
                _ => true,
            })
        })
    }
}
