//! Parts bounded in tokens: queries of the tables, and the check that parts can end within their bounds.

use super::cache::mask_cache::MaskCache;
use super::completion::Effort;
use super::distance::Distance;
use super::errors;
use super::parts::{PartCeiling, PartGroups};
use crate::automaton::{Automaton, ConfigurationId, Reading};
use crate::error::Result;
use crate::grammar::{Expression, Grammar};
use crate::token_index::TokenIndex;
use std::sync::Arc;

impl MaskCache {
    /// The readings of a configuration: its stacks, grouped by the open part that is bounded in tokens.
    pub(crate) fn readings(&mut self, automaton: &Automaton, id: ConfigurationId) -> Result<Arc<[Reading]>> {
        self.parts.readings(automaton, &mut self.tables, id)
    }

    /// Whether a part may be entered on a path from a configuration to a word; true if unknown.
    pub(crate) fn is_part_ahead(&mut self, automaton: &Automaton, id: ConfigurationId) -> Result<bool> {
        self.parts.is_ahead(automaton, &mut self.tables, id)
    }

    /// An upper bound on the tokens that the open part of a reading needs after any token that is allowed; `None` if
    /// unknown.
    pub(crate) fn part_ceiling(&self, reading: ConfigurationId) -> Option<usize> {
        self.parts.ceilings.get(&reading).copied()
    }

    /// Stores a [ceiling](MaskCache::part_ceiling).
    pub(crate) fn keep_part_ceiling(&mut self, reading: ConfigurationId, ceiling: usize) {
        self.parts.ceilings.insert(reading, ceiling);
    }

    /// What is needed to complete the text after any token that may come next in a reading. The outer `None` means that
    /// it was not computed, the inner one that it is unknown.
    pub(crate) fn part_total(&self, reading: ConfigurationId) -> Option<Option<PartCeiling>> {
        self.parts.totals.get(&reading).copied()
    }

    /// Stores what [is needed](MaskCache::part_total).
    pub(crate) fn keep_part_total(&mut self, reading: ConfigurationId, total: Option<PartCeiling>) {
        self.parts.totals.insert(reading, total);
    }

    /// The groups of the tokens that may come next in a reading, if they were stored.
    pub(crate) fn part_groups(&self, reading: ConfigurationId) -> Option<Arc<PartGroups>> {
        self.parts.groups(reading)
    }

    /// Stores [groups](MaskCache::part_groups).
    pub(crate) fn keep_part_groups(&mut self, reading: ConfigurationId, groups: &Arc<PartGroups>) {
        self.parts.keep_groups(reading, Arc::clone(groups));
    }
}

/// Checks that each part is known to be able to end within its bound. `lower` compiles a grammar, with empty tables.
///
/// # Errors
/// `mask/part-bound` with the place of the first part that is not known to be able to end within its bound;
/// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
pub(super) fn check(
    grammar: &Grammar,
    index: &TokenIndex,
    lower: impl Fn(&Grammar) -> Result<(Automaton, MaskCache)>,
) -> Result<()> {
    for (id, expression) in grammar.reached() {
        let &Expression::MaxTokens { body, most } = expression else { continue };
        let &Expression::Rule(rule) = grammar.expression(body) else { continue };
        let place = |error: crate::Error| error.or_at(&grammar.place_of(id));
        let (automaton, mut cache) = lower(&grammar.with_root(rule)).map_err(place)?;
        let start = cache.start(&automaton)?;
        let start = cache.id(start)?;
        let mut distance = Distance::Unknown;
        for effort in Effort::ALL {
            let known = cache.completion(&automaton, index, start, effort).map_err(place)?;
            distance = known.distance(known.completions(effort).next().map(|tokens| &**tokens));
            if distance.known().is_some_and(|tokens| tokens <= most as usize) {
                break;
            }
        }
        if distance.known().is_none_or(|tokens| tokens > most as usize) {
            return Err(errors::part_too_short(most, distance, grammar.place_of(id)));
        }
    }
    Ok(())
}
