//! Training data for a policy: the questions, the choices, and the reward of the finished plan. The data serves RLTF:
//! REINFORCE on valid plans only, since a search under the automaton makes only valid plans.

use super::decision::Decision;
use serde_json::{Value, json};

/// A finished plan of a task: the decisions that led to it, and its reward.
#[derive(Clone, Debug, PartialEq)]
pub struct Episode {
    /// The decisions, in order.
    pub decisions: Vec<Decision>,
    /// The value of the plan.
    pub reward: f64,
}

/// Returns the decisions of the episodes of one task as rows for a trainer, one row per decision. Each row has:
///
/// - `task`, `sample` (the index of the episode), `step`, `prompt`, `options` and `completion` (texts);
/// - `chosen`: the options taken;
/// - `logprob`: the log-probability of the choice under the policy, or null;
/// - `token_logprobs`: the log-probabilities of the tokens of `completion` after `prompt` under the model, or null;
/// - `reward` of the plan, and `advantage`: the reward minus the mean of the task's episodes (REINFORCE's baseline).
pub fn policy_rows(task: &str, episodes: &[Episode]) -> Vec<Value> {
    let mut rows = Vec::new();
    for (sample, episode) in episodes.iter().enumerate() {
        // the mean of the differences is exactly 0 if all rewards are equal; a rounded mean of rewards may not be
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
