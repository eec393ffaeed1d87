//! Policies, which decide at the choices of a search.
//!
//! A policy answers a [`Question`] with an [`Answer`]. A policy that can also weigh the choices ([`Policy::scores`])
//! serves the searches by score. Each policy has a file in this folder and a row of the program's `--policy`; policies
//! that ask a model or a person are in `grammata-agents-drive`.

mod adversarial;
mod arguments;
mod first;
mod random;
mod scripted;
mod weighted;

pub use adversarial::AdversarialPolicy;
pub use arguments::ArgumentRequest;
pub use first::FirstPolicy;
pub use random::RandomPolicy;
pub use scripted::ScriptedPolicy;
pub use weighted::{CostHeuristic, Heuristic, StepsHeuristic, WeightedPolicy};

pub use crate::plan::errors::{input_ended, no_arguments, no_probability};

use crate::plan::errors;
use crate::plan::question::{AnswerForm, Choice, Question};
use grammata::error::Result;
use serde_json::Value;

/// What a policy answers to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The places of the choices taken, from 0 and in increasing order: one, or as many as a set may have.
    pub places: Vec<usize>,
    /// The natural logarithm of the policy's probability of this answer, if the policy knows it.
    pub log_probability: Option<f64>,
    /// The natural logarithms of the probabilities of the tokens of the answer's text after the question, among all
    /// tokens of a model's vocabulary, if a model was asked for them.
    pub token_log_probabilities: Option<Vec<f64>>,
}

impl Answer {
    /// Creates the answer that takes the choice at `place`, counted from 0.
    pub fn one(place: usize) -> Answer {
        Answer::set(vec![place])
    }

    /// Creates the answer that takes the elements of a set at `places`, in increasing order.
    pub fn set(places: Vec<usize>) -> Answer {
        Answer { places, log_probability: None, token_log_probabilities: None }
    }
}

/// The questions and the data about choices that a policy needs. Computing the data takes time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Whether the policy needs to know, for each choice, whether a finished plan can be reached and the fewest steps
    /// to one.
    pub lookahead: bool,
    /// Whether questions with a single choice are asked, too.
    pub forced: bool,
    /// The form of the answers to questions. A question for a set is always answered with numbers.
    pub form: AnswerForm,
}

/// Decides at the choices of a search.
pub trait Policy {
    /// Returns the answer to a question, which has at least one choice.
    ///
    /// # Errors
    /// The policy fails, or has no answer.
    fn choose(&mut self, question: &Question) -> Result<Answer>;

    /// Returns the natural logarithm of the probability of each choice, none above 0. Best-first, beam and A* search
    /// need the scores. The question is never one for a set.
    ///
    /// # Errors
    /// `plan/no-scores`: the policy does not weigh choices. Otherwise the errors of the policy.
    fn scores(&mut self, question: &Question) -> Result<Vec<f64>> {
        let _ = question;
        Err(errors::no_scores())
    }

    /// Returns arguments for an action that match the action's schema. The default implementation returns the arguments
    /// with the shortest text.
    ///
    /// # Errors
    /// The policy fails, or has no answer.
    fn arguments(&mut self, request: &ArgumentRequest<'_>) -> Result<Value> {
        request.shortest()
    }

    /// Returns which questions and which data about the choices the policy needs. By default, it needs no lookahead and
    /// no questions with a single choice, and answers with numbers.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// Returns the same score for each of `choices` choices, the logarithm of 1 / `choices`.
fn uniform(choices: usize) -> Vec<f64> {
    vec![-(choices.max(1) as f64).ln(); choices]
}

/// Parses an answer: the number of a choice, counted from 1, or its label. For a set, the text lists numbers or labels
/// with commas between them, or is 0 or empty for no element. Returns `None` if the text names no choice, or for a set
/// also if an element occurs twice or the number of elements is out of the bounds of the set.
pub fn answer_of(question: &Question, text: &str) -> Option<Answer> {
    let text = text.trim();
    let Some((min, max)) = question.set else {
        return place_of(&question.choices, text).map(Answer::one);
    };
    let mut places = Vec::new();
    if !text.is_empty() && text != "0" {
        for part in text.split(',') {
            places.push(place_of(&question.choices, part)?);
        }
    }
    places.sort_unstable();
    let distinct = places.is_sorted_by(|a, b| a < b);
    (distinct && (min..=max).contains(&places.len())).then(|| Answer::set(places))
}

fn place_of(choices: &[Choice], text: &str) -> Option<usize> {
    let text = text.trim();
    match text.parse::<usize>() {
        Ok(number) => number.checked_sub(1).filter(|&place| place < choices.len()),
        Err(_) => choices.iter().position(|choice| choice.label == text),
    }
}

/// Subtracts from each logarithm the logarithm of the sum of the probabilities, so that the probabilities sum to 1.
/// Returns `None` if the greatest logarithm is not finite, or some logarithm is not a number.
pub fn normalised(scores: &[f64]) -> Option<Vec<f64>> {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !top.is_finite() || scores.iter().any(|score| score.is_nan()) {
        return None;
    }
    let sum = scores.iter().map(|score| (score - top).exp()).sum::<f64>().ln() + top;
    Some(scores.iter().map(|score| score - sum).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_normalised_without_overflow() {
        let scores = normalised(&[-1e6, -1e6 + 1.0, f64::NEG_INFINITY]).unwrap();
        let sum: f64 = scores.iter().map(|score| score.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-9 && scores[2] == f64::NEG_INFINITY, "{scores:?}");
        assert_eq!(normalised(&[f64::NEG_INFINITY]), None);
        assert_eq!(normalised(&[0.0, f64::NAN]), None);
    }
}
