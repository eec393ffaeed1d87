//! A policy that chooses at random.

use super::{Answer, Policy, uniform};
use crate::plan::question::Question;
use grammata::error::Result;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Chooses uniformly. For a set, draws first the size, then the elements.
#[derive(Clone, Debug)]
pub struct RandomPolicy(ChaCha8Rng);

impl RandomPolicy {
    /// Creates a policy with a seed. Equal seeds give equal choices.
    pub fn new(seed: u64) -> RandomPolicy {
        RandomPolicy(ChaCha8Rng::seed_from_u64(seed))
    }
}

impl Policy for RandomPolicy {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        let count = question.choices.len().max(1);
        let Some((min, max)) = question.set else {
            let log_probability = Some(-(count as f64).ln());
            return Ok(Answer { log_probability, ..Answer::one(self.0.random_range(0..count)) });
        };
        let places: Vec<usize> = (0..question.choices.len()).collect();
        let size = self.0.random_range(min..=max.max(min));
        let mut taken: Vec<usize> = places.choose_multiple(&mut self.0, size).copied().collect();
        taken.sort_unstable();
        Ok(Answer::set(taken))
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        Ok(uniform(question.choices.len()))
    }
}
