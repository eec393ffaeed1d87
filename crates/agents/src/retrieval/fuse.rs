//! Merging of several lists of tools: fusion of rankings of one query, and interleaving of rankings of several queries.

use super::{Hit, best, errors};
use grammata::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// The constant of reciprocal rank fusion; the larger it is, the less the first ranks differ.
const RRF_CONSTANT: f64 = 60.0;

/// The action of a list whose next tool is already in the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// The list contributes its first tool that is not in the result.
    #[default]
    Advance,
    /// The list contributes nothing in this round: round r offers rank r of each list.
    LoseTurn,
}

/// How the lists of several queries are merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// With [`interleave`] and [`Duplicates::Advance`], as in the paper.
    InTurn,
    /// With [`interleave`] and [`Duplicates::LoseTurn`], the other reading of the paper.
    LoseTurn,
    /// With [`reciprocal_rank_fusion`], which ranks tools first that several queries find.
    ReciprocalRanks,
    /// By the best score of each tool over all lists.
    BestScore,
}

/// Returns the first `k` distinct tools of the merged lists. Each tool comes with the list that contributed it if lists
/// are interleaved, and otherwise with the first list that ranks it best.
///
/// # Errors
/// `k` is 0.
pub fn join(lists: &[Vec<Hit>], k: usize, join: Join) -> Result<Vec<Placed>> {
    let ids: Vec<Vec<usize>> = lists.iter().map(|hits| hits.iter().map(|hit| hit.tool).collect()).collect();
    let order = match join {
        Join::InTurn => return interleave(&ids, k, Duplicates::Advance),
        Join::LoseTurn => return interleave(&ids, k, Duplicates::LoseTurn),
        _ if k == 0 => return Err(errors::no_places()),
        Join::ReciprocalRanks => reciprocal_rank_fusion(&ids).into_iter().map(|(tool, _)| tool).collect(),
        Join::BestScore => by_best_score(lists),
    };
    let place = |tool: usize| {
        let ranks = ids.iter().enumerate().filter_map(|(list, ids)| {
            let rank = ids.iter().position(|&other| other == tool)? + 1;
            Some(Placed { tool, list, rank })
        });
        ranks.min_by_key(|placed| placed.rank)
    };
    Ok(order.into_iter().take(k).filter_map(place).collect())
}

/// Tools by their best scores; ties by the lower index.
fn by_best_score(lists: &[Vec<Hit>]) -> Vec<usize> {
    let mut scores: HashMap<usize, f64> = HashMap::new();
    for hit in lists.iter().flatten() {
        let score = scores.entry(hit.tool).or_insert(hit.score);
        *score = score.max(hit.score);
    }
    let hits = scores.into_iter().map(|(tool, score)| Hit { tool, score });
    best(hits.collect(), usize::MAX).into_iter().map(|hit| hit.tool).collect()
}

/// A tool of a merged list, and the list that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Index of the tool.
    pub tool: usize,
    /// The index of the list that contributed the tool.
    pub list: usize,
    /// The rank of the tool in that list, from 1.
    pub rank: usize,
}

/// Returns the first `k` distinct tools, taken from the lists in turn: in each round, one tool from each list in order.
/// The result is shorter if all lists end earlier.
///
/// Lists of length k suffice if no tool occurs twice in one list. The result for k is a prefix of the result for k + 1.
///
/// # Errors
/// `k` is 0.
pub fn interleave<L: AsRef<[usize]>>(lists: &[L], k: usize, duplicates: Duplicates) -> Result<Vec<Placed>> {
    if k == 0 {
        return Err(errors::no_places());
    }
    let mut result = Vec::new();
    let mut taken = HashSet::new();
    // the next rank of each list to offer, from 0
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

/// Ranks tools by reciprocal rank fusion (Cormack, Clarke and Büttcher 2009). The score of a tool is the sum of
/// 1 / (60 + rank) over the lists that contain it, with ranks from 1. Ties: the better best rank first, then the lower
/// index.
///
/// Fusion serves rankings of *one* query by several indexes. Lists of different queries look for different tools, and
/// fusion would prefer the tools that the lists share: use [`interleave`] for such lists.
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
