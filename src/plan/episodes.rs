//! Data to train a policy on: what was asked, what was chosen, and what the finished plan was worth (RLTF: REINFORCE on
//! valid plans only, which is all that a search under the automaton makes).

use super::policy::Answer;
use super::question::Question;
use serde_json::{Value, json};

/// One decision of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The question as it was asked.
    pub prompt: String,
    /// The labels of the choices, in the order of the question.
    pub options: Vec<String>,
    /// Steps of the plan before the decision.
    pub step: usize,
    /// The places of the choices taken, in rising order.
    pub taken: Vec<usize>,
    /// The answer as the question wants it: a number from 1, numbers with commas between them, 0 for none, or a label.
    pub completion: String,
    /// The natural logarithm of the probability with which the policy gave this answer, if it knows it.
    pub log_probability: Option<f64>,
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
        }
    }
}

impl Decision {
    /// The labels of the choices taken.
    pub fn chosen(&self) -> Vec<&str> {
        self.taken.iter().filter_map(|&place| self.options.get(place)).map(String::as_str).collect()
    }
}

/// A finished plan of a task: the decisions that made it, and its reward.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// The decisions, in order.
    pub decisions: Vec<Decision>,
    /// What the plan is worth.
    pub reward: f64,
}

/// The episodes of one task as rows for a trainer, a row for each decision: `task`, `sample` (the episode's place), `step`,
/// `prompt`, `options` and `completion` (texts), `chosen` (the options taken), `logprob` of the completion under the policy or null, `reward` of the plan,
/// and `advantage`, the reward less the mean of the task's episodes, which is REINFORCE's baseline.
pub fn policy_rows(task: &str, episodes: &[Episode]) -> Vec<Value> {
    let mut rows = Vec::new();
    for (sample, episode) in episodes.iter().enumerate() {
        // the mean of the differences: exactly 0 where all rewards are equal, which the rounded mean of rewards is not
        let differences = episodes.iter().map(|other| episode.reward - other.reward).sum::<f64>();
        let advantage = differences / episodes.len() as f64;
        for decision in &episode.decisions {
            rows.push(json!({
                "task": task,
                "sample": sample,
                "step": decision.step,
                "prompt": decision.prompt,
                "options": decision.options,
                "completion": decision.completion,
                "chosen": decision.chosen(),
                "logprob": decision.log_probability,
                "reward": episode.reward,
                "advantage": advantage,
            }));
        }
    }
    rows
}
