//! Heuristics added to a policy's scores.

use super::{Answer, ArgumentRequest, Needs, Policy, normalised};
use crate::plan::errors;
use crate::plan::question::{Choice, Question};
use grammata::error::Result;
use serde_json::Value;

/// A score for each choice, added to the policy's score; higher is better.
pub trait Heuristic {
    /// Returns the scores of the choices of a question, in their order. None may be NaN or, multiplied by its weight,
    /// positive infinity. Negative infinity excludes a choice. With weight 0, the scores do not count.
    ///
    /// # Errors
    /// The heuristic fails.
    fn scores(&mut self, question: &Question) -> Result<Vec<f64>>;

    /// Returns which data about the choices the heuristic needs.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// The cost of the action, negated, in the spec's unit.
#[derive(Clone, Copy, Debug, Default)]
pub struct CostHeuristic;

impl Heuristic for CostHeuristic {
    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        Ok(question.choices.iter().map(|choice| -(choice.cost as f64)).collect())
    }
}

/// The fewest steps from the choice to a finished plan, negated. If unknown, the greatest known number among the other
/// choices is used, or 0 if none is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepsHeuristic;

impl Heuristic for StepsHeuristic {
    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        let most = question.choices.iter().filter_map(|choice| choice.steps_left).max().unwrap_or(0);
        let steps = |choice: &Choice| -(choice.steps_left.unwrap_or(most) as f64);
        Ok(question.choices.iter().map(steps).collect())
    }

    fn needs(&self) -> Needs {
        Needs { lookahead: true, ..Needs::default() }
    }
}

/// A policy that adds weighted heuristics to the scores of another policy and normalises the sum to probabilities (a
/// log-linear combination). The choice with the highest score is taken, the first among equals. Questions for a set,
/// and all questions if there are no heuristics, go to the other policy.
pub struct WeightedPolicy<'p> {
    policy: &'p mut dyn Policy,
    heuristics: Vec<(f64, Box<dyn Heuristic + 'p>)>,
}

impl std::fmt::Debug for WeightedPolicy<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let weights: Vec<f64> = self.heuristics.iter().map(|(weight, _)| *weight).collect();
        f.debug_struct("WeightedPolicy").field("weights", &weights).finish_non_exhaustive()
    }
}

impl<'p> WeightedPolicy<'p> {
    /// Combines a policy with heuristics and their weights.
    pub fn new(
        policy: &'p mut dyn Policy,
        heuristics: Vec<(f64, Box<dyn Heuristic + 'p>)>,
    ) -> WeightedPolicy<'p> {
        WeightedPolicy { policy, heuristics }
    }
}

impl Policy for WeightedPolicy<'_> {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        if question.set.is_some() || self.heuristics.is_empty() {
            return self.policy.choose(question);
        }
        let scores = self.scores(question)?;
        let best = scores.iter().enumerate().rev().max_by(|a, b| a.1.total_cmp(b.1));
        let (place, score) = best.map_or((0, 0.0), |(place, score)| (place, *score));
        Ok(Answer { log_probability: Some(score), ..Answer::one(place) })
    }

    fn arguments(&mut self, request: &ArgumentRequest<'_>) -> Result<Value> {
        self.policy.arguments(request)
    }

    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        let mut scores = self.policy.scores(question)?;
        for (weight, heuristic) in &mut self.heuristics {
            let added = heuristic.scores(question)?;
            // 0 times infinity is not a number
            let weighted = |added: &f64| if *weight == 0.0 { 0.0 } else { *weight * added };
            let is_wrong =
                |added: &f64| added.is_nan() || weighted(added).is_nan() || weighted(added) == f64::INFINITY;
            if added.len() != scores.len() || added.iter().any(is_wrong) {
                return Err(errors::bad_heuristic(added.len(), scores.len()));
            }
            scores.iter_mut().zip(&added).for_each(|(score, added)| *score += weighted(added));
        }
        normalised(&scores).ok_or_else(errors::no_probability)
    }

    fn needs(&self) -> Needs {
        self.heuristics.iter().fold(self.policy.needs(), |needs, (_, heuristic)| {
            let own = heuristic.needs();
            let (lookahead, forced) = (needs.lookahead || own.lookahead, needs.forced || own.forced);
            Needs { lookahead, forced, ..needs }
        })
    }
}
