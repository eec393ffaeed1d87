//! One list of tools from several: fusion of rankings of one query, interleaving of rankings of several.

use super::errors;
use crate::error::Result;
use std::collections::{HashMap, HashSet};

/// The constant of reciprocal rank fusion: how little the first ranks differ.
const RRF_CONSTANT: f64 = 60.0;

/// What a list does in its turn when its next tool is in the result already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// It gives its first tool that is not.
    #[default]
    Advance,
    /// It gives nothing in this round: round r offers rank r of each list.
    LoseTurn,
}

/// A tool of an interleaved list, and where it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the tool.
    pub tool: usize,
    /// The list that gave it.
    pub list: usize,
    /// Its rank in that list, from 1.
    pub rank: usize,
}

/// The first `k` tools of the lists, taken in turn: round by round, in each round from each list in order. No tool is there
/// twice; the result ends early where all lists do.
///
/// Lists of length k suffice, whatever follows. The result for k is a prefix of that for k + 1.
///
/// # Errors
/// `k` is 0.
pub fn interleave<L: AsRef<[usize]>>(lists: &[L], k: usize, duplicates: Duplicates) -> Result<Vec<Placed>> {
    if k == 0 {
        return Err(errors::no_places());
    }
    let mut result = Vec::new();
    let mut taken = HashSet::new();
    // of each list, the rank that it offers next, from 0
    let mut cursors = vec![0; lists.len()];
    let mut is_open = true;
    while is_open && result.len() < k {
        is_open = false;
        for (list, (tools, cursor)) in lists.iter().zip(&mut cursors).enumerate() {
            let tools = tools.as_ref();
            if duplicates == Duplicates::Advance {
                while tools.get(*cursor).is_some_and(|tool| taken.contains(tool)) {
                    *cursor += 1;
                }
            }
            let Some(&tool) = tools.get(*cursor) else { continue };
            is_open = true;
            *cursor += 1;
            if result.len() < k && taken.insert(tool) {
                result.push(Placed { tool, list, rank: *cursor });
            }
        }
    }
    Ok(result)
}

/// Tools by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): a tool's score is the sum of 1 / (60 + rank) over
/// the lists that have it, ranks from 1. Equal scores: the better best rank first, then the lower index.
///
/// For rankings of *one* query by several indexes. Lists of different queries look for different tools, and fusion
/// prefers what they share: [`interleave`] those.
pub fn reciprocal_rank_fusion<L: AsRef<[usize]>>(lists: &[L]) -> Vec<(usize, f64)> {
    // the score and the best rank of each tool
    let mut scores: HashMap<usize, (f64, usize)> = HashMap::new();
    for list in lists {
        let mut seen = HashSet::new();
        for (rank, &tool) in (1..).zip(list.as_ref()).filter(|&(_, &tool)| seen.insert(tool)) {
            let (score, best) = scores.entry(tool).or_insert((0.0, rank));
            *score += 1.0 / (RRF_CONSTANT + rank as f64);
            *best = rank.min(*best);
        }
    }
    let mut tools: Vec<(usize, f64, usize)> =
        scores.into_iter().map(|(tool, (score, best))| (tool, score, best)).collect();
    tools.sort_unstable_by(|first, second| {
        second.1.total_cmp(&first.1).then(first.2.cmp(&second.2)).then(first.0.cmp(&second.0))
    });
    tools.into_iter().map(|(tool, score, _)| (tool, score)).collect()
}
