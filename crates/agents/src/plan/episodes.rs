//! Data to train a policy on: what was asked, what was chosen, and what the finished plan was worth (RLTF: REINFORCE on
//! valid plans only, which is all that a search under the automaton makes).

use super::decision::Decision;
use serde_json::{Value, json};

/// A finished plan of a task: the decisions that made it, and its reward.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// The decisions, in order.
    pub decisions: Vec<Decision>,
    /// What the plan is worth.
    pub reward: f64,
}

/// The episodes of one task as rows for a trainer, a row for each decision: `task`, `sample` (the episode's place), `step`,
/// `prompt`, `options` and `completion` (texts), `chosen` (the options taken), `logprob` of the choice under the policy or null,
/// `token_logprobs` (the log-probabilities of the tokens of `completion` after `prompt` under the model) or null, `reward` of the plan,
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
                "token_logprobs": decision.token_log_probabilities,
                "reward": episode.reward,
                "advantage": advantage,
            }));
        }
    }
    rows
}
