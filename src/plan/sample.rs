//! Plans drawn at random, each as likely as any other.

use super::automaton::PlanAutomaton;
use super::errors;
use super::partial::{PartialPlan, Plan, Step};
use crate::error::Result;
use num_bigint::BigUint;
use rand::seq::index;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Draws plans of a [`PlanAutomaton`].
#[derive(Clone, Debug)]
pub struct PlanSampler {
    random: ChaCha8Rng,
    /// The greatest number of steps, where there is no end of plans.
    most: usize,
}

impl PlanSampler {
    /// Equal seeds draw alike. `most` bounds the steps of a plan where there is no end of plans.
    pub fn new(seed: u64, most: usize) -> PlanSampler {
        PlanSampler { random: ChaCha8Rng::seed_from_u64(seed), most }
    }

    /// A plan, each as likely as any other (of at most so many steps, where there is no end of plans).
    ///
    /// # Errors
    /// `plan/none`: there is no plan; `plan/budget-exhausted`; limits.
    pub fn sample(&mut self, plans: &mut PlanAutomaton) -> Result<Plan> {
        let bounded = plans.is_infinite()?;
        let mut walk = PartialPlan::new(plans);
        loop {
            let left = self.most.saturating_sub(walk.len());
            let at = walk.position();
            let own = BigUint::from(u8::from(plans.is_complete(at.state)));
            let mut weights = vec![(None, own)];
            if left > 0 || !bounded {
                for successor in plans.live_successors(&walk)? {
                    let rest = if bounded {
                        plans.count_within(successor.to, left - 1)?
                    } else {
                        match plans.count_from(successor.to)? {
                            crate::automaton::words::Count::Finite(rest) => rest,
                            crate::automaton::words::Count::Infinite => {
                                return Err(errors::exhausted_infinite());
                            }
                        }
                    };
                    let subsets = plans.spec().symbols().get(successor.action).map(|symbol| symbol.subsets());
                    weights.push((Some(successor), rest * subsets.unwrap_or_default()));
                }
            }
            let total: BigUint = weights.iter().map(|(_, weight)| weight).sum();
            if total == BigUint::ZERO {
                return Err(errors::no_plan());
            }
            let mut drawn = self.below(&total);
            let mut chosen = None;
            for (successor, weight) in weights {
                if drawn < weight {
                    chosen = successor;
                    break;
                }
                drawn -= weight;
            }
            let Some(successor) = chosen else { return Ok(walk.into_plan()) };
            let elements = self.elements(plans, successor.action);
            walk.push(
                Step { elements, ..Step::of(successor.action).with_outcome(successor.outcome) },
                successor.to,
            );
        }
    }

    /// A number below `limit`, which is not 0.
    fn below(&mut self, limit: &BigUint) -> BigUint {
        let bits = limit.bits();
        loop {
            let mut bytes = vec![0; bits.div_ceil(8) as usize];
            self.random.fill_bytes(&mut bytes);
            if let Some(top) = bytes.last_mut() {
                *top &= 0xff >> ((8 - bits % 8) % 8);
            }
            let drawn = BigUint::from_bytes_le(&bytes);
            if drawn < *limit {
                return drawn;
            }
        }
    }

    fn elements(&mut self, plans: &PlanAutomaton, action: usize) -> Vec<usize> {
        let Some(set) = plans.spec().symbols().get(action).and_then(|symbol| symbol.set.as_ref()) else {
            return Vec::new();
        };
        let n = set.of.len();
        let mut ways = vec![BigUint::from(1u32)];
        for k in 0..n {
            let next = &ways[k] * (n - k) / (k + 1);
            ways.push(next);
        }
        let sizes = set.min..=set.max.min(n);
        let total: BigUint = ways[sizes.clone()].iter().sum();
        let mut drawn = self.below(&total);
        let mut size = set.min;
        for k in sizes {
            size = k;
            if drawn < ways[k] {
                break;
            }
            drawn -= &ways[k];
        }
        let mut elements = index::sample(&mut self.random, n, size).into_vec();
        elements.sort_unstable();
        elements
    }
}
