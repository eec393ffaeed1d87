//! Selects a model's drafts for training: one iteration of rejection sampling, and preferences.
//!
//! For each request a model writes several drafts of queries. A draft's reward is the
//! [MMRR](super::metrics::Judged::mmrr) of what retrieval finds with it. The model is then trained on what [`select`]
//! keeps, as in the paper, or on [`preferences`] between drafts of one request (DPO, Rafailov et al. 2023), which the
//! paper does not use.

use std::collections::BTreeMap;

/// The values of a draft that the selection depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Index of the request.
    pub request: usize,
    /// Number of the draft among those of its request.
    pub number: usize,
    /// The text.
    pub completion: String,
    /// Tokens of the text.
    pub tokens: usize,
    /// The reward, from 0 to 1.
    pub reward: f64,
    /// Number of needed tools that retrieval finds with the draft.
    pub hits: usize,
}

/// The conditions for keeping a draft.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Selection {
    /// The best drafts of each request that are pooled; 1 by default.
    pub drafts: usize,
    /// The least reward; 0.05 by default.
    pub least_reward: f64,
    /// The fewest needed tools found; 1 by default. The least reward alone does not exclude drafts that find no needed
    /// tool, because a list of k tools that are not needed has the reward (n + 1) / (2 (k + 1)) for n needed tools.
    pub least_hits: usize,
    /// The percentage of the pool with the highest rewards, rounded up to whole drafts; 100 by default. Drafts with the
    /// same reward as the last of them stay too.
    pub percent: f64,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection { drafts: 1, least_reward: 0.05, least_hits: 1, percent: 100.0 }
    }
}

/// The drafts that [`select`] kept, and counts of the others by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// Indices of the kept drafts, in the order of their requests.
    pub kept: Vec<usize>,
    /// Number of drafts that are not among the best of their request.
    pub not_best: usize,
    /// Number of pooled drafts outside the percentage.
    pub outside_percentage: usize,
    /// Number of pooled drafts within the percentage, but below the least reward.
    pub below_reward: usize,
    /// Number of the other drafts, which find too few needed tools.
    pub below_hits: usize,
}

/// Selects drafts by rejection sampling. Among equal rewards of one request, a draft with fewer tokens is better, then
/// one with a lower number. A reward that is NaN counts as 0.
pub fn select(drafts: &[Draft], selection: &Selection) -> Selected {
    let mut result = Selected::default();
    let mut pool: Vec<(usize, &Draft)> = Vec::new();
    for ranked in by_request(drafts).into_values() {
        result.not_best += ranked.len().saturating_sub(selection.drafts);
        pool.extend(ranked.into_iter().take(selection.drafts));
    }
    let least_of_percentage = percentile(&pool, selection.percent);
    for (index, draft) in pool {
        let reward = reward(draft);
        if reward < least_of_percentage {
            result.outside_percentage += 1;
        } else if reward < selection.least_reward {
            result.below_reward += 1;
        } else if draft.hits < selection.least_hits {
            result.below_hits += 1;
        } else {
            result.kept.push(index);
        }
    }
    result
}

/// A pair of drafts of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preference {
    /// Index of the better draft.
    pub chosen: usize,
    /// Index of the worse one.
    pub rejected: usize,
}

/// Pairs the best with the worst draft of each request, if their texts differ and their rewards differ by more than 0
/// and by at least `margin`.
pub fn preferences(drafts: &[Draft], margin: f64) -> Vec<Preference> {
    let pair = |ranked: Vec<(usize, &Draft)>| {
        let (&(chosen, best), &(rejected, worst)) = (ranked.first()?, ranked.last()?);
        let difference = reward(best) - reward(worst);
        let differ = difference > 0.0 && difference >= margin && best.completion != worst.completion;
        differ.then_some(Preference { chosen, rejected })
    };
    by_request(drafts).into_values().filter_map(pair).collect()
}

/// Returns the drafts of each request with their indices, best first.
fn by_request(drafts: &[Draft]) -> BTreeMap<usize, Vec<(usize, &Draft)>> {
    let mut requests: BTreeMap<usize, Vec<(usize, &Draft)>> = BTreeMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        requests.entry(draft.request).or_default().push((index, draft));
    }
    for ranked in requests.values_mut() {
        ranked.sort_by(|(_, first), (_, second)| {
            let by_reward = reward(second).total_cmp(&reward(first));
            by_reward.then(first.tokens.cmp(&second.tokens)).then(first.number.cmp(&second.number))
        });
    }
    requests
}

fn reward(draft: &Draft) -> f64 {
    if draft.reward.is_nan() { 0.0 } else { draft.reward }
}

/// Returns the least reward of the best `percent` of the pool; infinity if that is not a single draft.
fn percentile(pool: &[(usize, &Draft)], percent: f64) -> f64 {
    let mut rewards: Vec<f64> = pool.iter().map(|(_, draft)| reward(draft)).collect();
    rewards.sort_by(|first, second| second.total_cmp(first));
    // the conversion saturates, so any percentage is a valid number of drafts
    let count = (percent * rewards.len() as f64 / 100.0).ceil() as usize;
    match count.checked_sub(1) {
        Some(last) => rewards.get(last).or(rewards.last()).copied().unwrap_or(f64::NEG_INFINITY),
        None => f64::INFINITY,
    }
}
