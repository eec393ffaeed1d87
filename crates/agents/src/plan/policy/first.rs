//! A policy that takes the first choice.

use super::{Answer, Policy, uniform};
use crate::plan::question::Question;
use grammata::error::Result;

/// Takes the first choice. For a set, takes the first elements, as few as allowed.
#[derive(Clone, Copy, Debug, Default)]
pub struct FirstPolicy;

impl Policy for FirstPolicy {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        Ok(match question.set {
            None => Answer::one(0),
            Some((min, _)) => Answer::set((0..min).collect()),
        })
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        Ok(uniform(question.choices.len()))
    }
}
