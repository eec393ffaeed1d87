//! One decision of a policy on the way to a plan.

use super::policy::Answer;
use super::question::Question;

/// One decision of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The question as it was asked.
    pub prompt: String,
    /// The labels of the choices, in the order of the question.
    pub options: Vec<String>,
    /// The number of steps of the plan before the decision.
    pub step: usize,
    /// The chosen options as indices into `options`, in increasing order.
    pub taken: Vec<usize>,
    /// The answer in the question's form: a number from 1, comma-separated numbers, 0 for none, or a label.
    pub completion: String,
    /// The natural logarithm of the probability of the chosen options under the policy, if the policy knows it.
    pub log_probability: Option<f64>,
    /// The natural logarithms of the probabilities of the tokens of `completion` after `prompt`, among all tokens.
    /// Present if the policy is a model with `PromptOptions::token_log_probabilities` of `grammata-agents-drive`.
    pub token_log_probabilities: Option<Vec<f64>>,
}

impl Decision {
    pub(super) fn of(question: &Question, step: usize, answer: &Answer) -> Decision {
        Decision {
            prompt: question.text.clone(),
            options: question.choices.iter().map(|choice| choice.label.clone()).collect(),
            step,
            taken: answer.places.clone(),
            completion: question.completion(&answer.places),
            log_probability: answer.log_probability,
            token_log_probabilities: answer.token_log_probabilities.clone(),
        }
    }

    /// Returns the labels of the chosen options.
    pub fn chosen(&self) -> Vec<&str> {
        self.taken.iter().filter_map(|&place| self.options.get(place)).map(String::as_str).collect()
    }
}
