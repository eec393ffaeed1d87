//! Uniform random sampling of plans.

use super::automaton::{PlanAutomaton, Position};
use super::errors;
use super::step::Plan;
use grammata::error::{ErrorKind, Result};
use grammata::transitions::{Counts, Sample, sample};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// Samples plans of a [`PlanAutomaton`] uniformly.
#[derive(Debug)]
pub struct PlanSampler<'a> {
    plans: &'a mut PlanAutomaton,
    counts: Counts<Position>,
    random: ChaCha8Rng,
    /// The maximum number of steps, used if there are infinitely many plans.
    most: usize,
}

impl PlanSampler<'_> {
    /// Creates a sampler. Equal seeds give equal samples. `most` bounds the steps of a plan if there are infinitely
    /// many plans.
    pub fn new(plans: &mut PlanAutomaton, seed: u64, most: usize) -> PlanSampler<'_> {
        PlanSampler { plans, counts: Counts::default(), random: ChaCha8Rng::seed_from_u64(seed), most }
    }

    /// Draws a plan uniformly (among those of at most `most` steps, if there are infinitely many).
    ///
    /// # Errors
    /// `plan/none`: there is no plan or, if there are infinitely many, none of at most `most` steps;
    /// `plan/budget-exhausted`; limits.
    pub fn sample(&mut self) -> Result<Plan> {
        let most = self.plans.is_infinite()?.then_some(self.most);
        match sample(self.plans, &mut self.counts, most, &mut self.random) {
            Ok(Sample::Word(steps)) => Ok(Plan { steps }),
            Ok(Sample::Empty) => Err(errors::no_plan()),
            Ok(Sample::Infinite) => Err(errors::exhausted_infinite()),
            Err(error) if most.is_none() && error.kind() == ErrorKind::Limit => {
                Err(errors::budget_exhausted(&error))
            }
            Err(error) => Err(error),
        }
    }
}
