//! Metrics of a ranked list of tools: those of the paper, corrected, and other common ones.
//!
//! For a list h of at most k tools and n needed ones, G(i) is 1 if h(i) is needed and 0 otherwise. If groups of tools
//! are given, one tool of each group is needed. Then n is the number of groups, and G(i) is 1 if h(i) is in a group
//! that no earlier tool of the list has served. A tool in several such groups serves only the first.

use super::errors;
use grammata::error::Result;
use grammata_agents::retrieval::catalogue::Catalogue;
use grammata_agents::retrieval::requests::Request;
use std::collections::HashSet;

/// The tools that a request needs, as groups: one tool of each group is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relevance {
    groups: Vec<Vec<usize>>,
}

impl Relevance {
    /// Returns the tools that a request needs, by their indices in `catalogue`.
    ///
    /// # Errors
    /// The catalogue lacks a tool, no tool is needed, or a group is empty.
    pub fn of_request(request: &Request, catalogue: &Catalogue) -> Result<Relevance> {
        Relevance::of_groups(request.needed(catalogue)?)
    }

    /// Creates groups of one tool each: all of these tools are needed.
    ///
    /// # Errors
    /// There is no tool, or one occurs twice.
    pub fn of_tools(tools: &[usize]) -> Result<Relevance> {
        let mut seen = HashSet::new();
        if let Some(&twice) = tools.iter().find(|&&tool| !seen.insert(tool)) {
            return Err(errors::twice(twice, "the needed tools"));
        }
        Relevance::of_groups(tools.iter().map(|&tool| vec![tool]).collect())
    }

    /// Creates the needs from groups: one tool of each is needed.
    ///
    /// # Errors
    /// There is no group, or one is empty.
    pub fn of_groups(groups: Vec<Vec<usize>>) -> Result<Relevance> {
        if groups.is_empty() || groups.iter().any(Vec::is_empty) {
            return Err(errors::nothing_relevant());
        }
        Ok(Relevance { groups })
    }

    /// Returns n, the number of tools that are needed.
    pub fn count(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether the tool is in some group.
    pub fn contains(&self, tool: usize) -> bool {
        self.groups.iter().any(|group| group.contains(&tool))
    }
}

/// A list that was judged by the tools that are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// G(1), G(2), ...: at most k.
    gains: Vec<bool>,
    relevant: usize,
    k: usize,
}

impl Judged {
    /// Judges the first `k` tools of a list, which may be shorter.
    ///
    /// # Errors
    /// More tools are needed than `k`, or a tool occurs twice among the first `k`.
    pub fn new(list: &[usize], relevance: &Relevance, k: usize) -> Result<Judged> {
        if relevance.count() > k {
            return Err(errors::more_relevant_than_places(relevance.count(), k));
        }
        let list = list.get(..k).unwrap_or(list);
        let mut seen = HashSet::new();
        if let Some(&twice) = list.iter().find(|&&tool| !seen.insert(tool)) {
            return Err(errors::twice(twice, "the list"));
        }
        let mut is_served = vec![false; relevance.count()];
        let gain = |tool: &usize| {
            let mut groups = is_served.iter_mut().zip(&relevance.groups);
            let served = groups.find(|(is_served, group)| !**is_served && group.contains(tool));
            served.map(|(is_served, _)| *is_served = true).is_some()
        };
        Ok(Judged { gains: list.iter().map(gain).collect(), relevant: relevance.count(), k })
    }

    /// Returns G(1), G(2), ...: whether each tool of the list serves a need.
    pub fn gains(&self) -> &[bool] {
        &self.gains
    }

    /// Returns the ranks, from 1, of the tools that serve a need.
    fn ranks(&self) -> impl Iterator<Item = usize> {
        (1..).zip(&self.gains).filter(|(_, gain)| **gain).map(|(rank, _)| rank)
    }

    fn hits(&self) -> usize {
        self.ranks().count()
    }

    /// Returns recall@x: the share of the needs that the first `x` tools serve.
    pub fn recall_at(&self, x: usize) -> f64 {
        self.ranks().take_while(|&rank| rank <= x).count() as f64 / self.relevant as f64
    }

    /// Returns the mean multi-reciprocal rank: the best possible mean rank of the needed tools, (n + 1) / 2, divided by
    /// their mean rank in the list, where a missing tool has rank k + 1. It is 1 for a perfect list, and at least (n +
    /// 1) / (2 (k + 1)).
    ///
    /// The paper prints n / 2 for the best mean rank. By that formula no list would reach 1, which its text and tables
    /// presuppose.
    pub fn mmrr(&self) -> f64 {
        let needed = self.relevant as f64;
        let found: usize = self.ranks().sum();
        let missing = (self.relevant - self.hits()) * (self.k + 1);
        (needed + 1.0) / 2.0 / ((found + missing) as f64 / needed)
    }

    /// Returns the mean average precision: the mean, over the needs, of the precision at the rank where each is served,
    /// 0 if it is not.
    pub fn map(&self) -> f64 {
        let precisions =
            (1..).zip(self.ranks()).map(|(hits, rank): (usize, usize)| hits as f64 / rank as f64);
        precisions.sum::<f64>() / self.relevant as f64
    }

    /// Returns the normalised discounted cumulative gain of the first `x` tools: gain 1, discount log2(rank + 1). 0 for
    /// `x` = 0.
    pub fn ndcg_at(&self, x: usize) -> f64 {
        let discounted = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
        let ideal: f64 = (1..=self.relevant.min(x)).map(discounted).sum();
        let found: f64 = self.ranks().take_while(|&rank| rank <= x).map(discounted).sum();
        if ideal == 0.0 { 0.0 } else { found / ideal }
    }

    /// Returns whether the list serves every need.
    pub fn is_complete(&self) -> bool {
        self.hits() == self.relevant
    }
}
