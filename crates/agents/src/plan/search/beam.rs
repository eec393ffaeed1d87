//! Beam search: keeps a bounded number of unfinished plans of each length.

use super::open::{Decisions, Open};
use super::{Outcome, Problem, Search};
use crate::plan::errors;
use grammata::error::Result;

/// Finds the most probable plan among those that stay in the beam. With unbounded width the found plan is the most
/// probable of all plans that the bounds of [`SearchOptions`](super::SearchOptions) leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beam {
    /// The number of unfinished plans kept per length; 0 counts as 1.
    pub width: usize,
}

impl Search for Beam {
    fn run(&self, problem: &mut Problem<'_>) -> Result<Outcome> {
        let mut decisions = Decisions::default();
        let mut beam = vec![Open::start(problem)];
        let mut best: Option<Open> = None;
        let mut has_dropped = false;
        while !beam.is_empty() {
            let mut next = Vec::new();
            for open in beam {
                next.extend(open.expand(problem, &mut decisions)?);
            }
            // the sort is stable: the earlier of equals stays first
            next.sort_by(|a, b| b.score.total_cmp(&a.score));
            has_dropped |= next.len() > self.width.max(1);
            next.truncate(self.width.max(1));
            let (finished, unfinished): (Vec<Open>, Vec<Open>) =
                next.into_iter().partition(|open| open.is_finished);
            for open in finished {
                if best.as_ref().is_none_or(|best| open.score > best.score) {
                    best = Some(open);
                }
            }
            // scores never increase: a plan no better than a finished one cannot become better
            beam = unfinished;
            beam.retain(|open| best.as_ref().is_none_or(|best| open.score > best.score));
        }
        // a plan that was dropped may have an end where the kept ones had none, if the lookahead could not decide
        if best.is_none() && has_dropped {
            return Err(errors::exhausted_beam(self.width.max(1)));
        }
        Ok(Open::outcome(best, problem, &decisions))
    }
}
