//! The unfinished plans of a search, with scores. Plans with a common prefix share its decisions.

use super::problem::Offered;
use super::{Event, Outcome, Problem};
use crate::plan::decision::Decision;
use crate::plan::errors;
use crate::plan::partial::PartialPlan;
use crate::plan::policy::Answer;
use grammata::error::Result;

/// A partial plan, or a finished one.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub(super) partial: PartialPlan,
    /// The natural logarithm of the plan's probability; at most 0.
    pub(super) score: f64,
    pub(super) is_finished: bool,
    /// The index of the plan's last decision in [`Decisions`]; `None` before the first.
    decision: Option<usize>,
    /// The number of choices that were offered for the plan's last step.
    choices: usize,
}

/// The decisions of all plans, as a tree: each with the index of its predecessor.
#[derive(Debug, Default)]
pub(super) struct Decisions(Vec<(Option<usize>, Decision)>);

impl Decisions {
    fn push(&mut self, before: Option<usize>, decision: Decision) -> Option<usize> {
        self.0.push((before, decision));
        Some(self.0.len() - 1)
    }

    fn path(&self, last: Option<usize>) -> Vec<Decision> {
        let mut path = Vec::new();
        let mut at = last;
        while let Some((before, decision)) = at.and_then(|at| self.0.get(at)) {
            path.push(decision.clone());
            at = *before;
        }
        path.reverse();
        path
    }
}

impl Open {
    /// Creates the empty plan.
    pub(super) fn start(problem: &Problem<'_>) -> Open {
        Open { partial: problem.start(), score: 0.0, is_finished: false, decision: None, choices: 0 }
    }

    /// Returns the extensions by one choice that lead to finished plans, or for which the lookahead could not decide.
    pub(super) fn expand(self, problem: &mut Problem<'_>, decisions: &mut Decisions) -> Result<Vec<Open>> {
        if self.partial.len() >= problem.options().max_steps() {
            return Err(errors::exhausted_search(self.partial.len()));
        }
        if let Some(step) = self.partial.plan().steps.last() {
            let depth = self.partial.len() - 1;
            problem.note(|| Event::Took { depth, step: step.clone(), choices: self.choices });
        }
        let choices = problem.choices(&self.partial, Offered::Live)?;
        if choices.is_empty() {
            return Ok(Vec::new());
        }
        let scored = problem.scores(&self.partial, choices)?;
        let count = scored.choices.len();
        let mut expanded = Vec::with_capacity(count);
        for (place, (choice, score)) in scored.choices.into_iter().zip(scored.scores).enumerate() {
            let mut next = Open { score: self.score + score.min(0.0), choices: count, ..self.clone() };
            if let Some(question) = &scored.question {
                let answer = Answer { log_probability: Some(score), ..Answer::one(place) };
                let decision = Decision::of(question, self.partial.len(), &answer);
                next.decision = decisions.push(next.decision, decision);
            }
            match choice.successor {
                None => next.is_finished = true,
                Some(successor) => {
                    if let Some(decision) = problem.extend(&mut next.partial, successor)? {
                        next.decision = decisions.push(next.decision, decision);
                    }
                }
            }
            expanded.push(next);
        }
        Ok(expanded)
    }

    /// Creates the outcome of a search that found the plan `found`, or no plan.
    pub(super) fn outcome(found: Option<Open>, problem: &mut Problem<'_>, decisions: &Decisions) -> Outcome {
        let outcome = problem.outcome();
        match found {
            None => outcome,
            Some(open) => Outcome {
                score: Some(open.score),
                decisions: decisions.path(open.decision),
                plan: Some(open.partial.into_plan()),
                ..outcome
            },
        }
    }
}
