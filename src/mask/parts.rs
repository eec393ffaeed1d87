//! Parts that are bounded in tokens: what is kept of the readings of configurations, and whether parts can end at all.

use super::cache::mask_cache::MaskCache;
use super::completion::Distance;
use super::completion::Effort;
use super::errors;
use super::way_out::WayOut;
use crate::automaton::{Automaton, Cache, ConfigurationId, Lazy, Reading, WithoutParts};
use crate::error::Result;
use crate::grammar::{Expression, Grammar};
use crate::token_index::TokenIndex;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is known of configurations in whose texts a part is open or may follow, of one generation of tables.
#[derive(Debug, Default)]
pub(in crate::mask) struct Parts {
    readings: FxHashMap<ConfigurationId, Arc<[Reading]>>,
    ahead: FxHashMap<ConfigurationId, bool>,
    without: WithoutParts,
    /// Of readings: how many tokens their part may need at most after any token that may come; see `matcher/parts.rs`.
    ceilings: FxHashMap<ConfigurationId, usize>,
    ways_beyond: FxHashMap<(ConfigurationId, usize, bool), (Option<WayOut>, usize)>,
    bytes: usize,
}

impl Parts {
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        self.bytes
            + self.without.memory_usage()
            + (self.readings.capacity() + self.ahead.capacity() + self.ceilings.capacity()) * 25
            + self.ways_beyond.capacity() * 80
    }

    fn readings(
        &mut self,
        automaton: &Automaton,
        tables: &mut Cache,
        id: ConfigurationId,
    ) -> Result<Arc<[Reading]>> {
        if let Some(known) = self.readings.get(&id) {
            return Ok(Arc::clone(known));
        }
        let readings: Arc<[Reading]> = Lazy::new(automaton, tables).readings(id)?.into();
        self.bytes += 16 + size_of_val(&*readings);
        self.readings.insert(id, Arc::clone(&readings));
        Ok(readings)
    }

    /// The result of a search for a way out of a reading that may end behind its part, and how many places it visited. The key
    /// has the most tokens in the part, and whether all ways were searched.
    pub(in crate::mask) fn way_beyond(
        &self,
        key: (ConfigurationId, usize, bool),
    ) -> Option<(Option<WayOut>, usize)> {
        self.ways_beyond.get(&key).cloned()
    }

    /// Keeps a [way](Parts::way_beyond).
    pub(in crate::mask) fn keep_way_beyond(
        &mut self,
        key: (ConfigurationId, usize, bool),
        found: (Option<WayOut>, usize),
    ) {
        self.bytes += found.0.as_ref().map_or(0, WayOut::memory_usage);
        self.ways_beyond.insert(key, found);
    }

    fn is_ahead(&mut self, automaton: &Automaton, tables: &mut Cache, id: ConfigurationId) -> Result<bool> {
        if let Some(&known) = self.ahead.get(&id) {
            return Ok(known);
        }
        let is_ahead = Lazy::new(automaton, tables).is_part_ahead(id, &mut self.without)?;
        self.ahead.insert(id, is_ahead);
        Ok(is_ahead)
    }
}

impl MaskCache {
    /// The readings of a configuration.
    ///
    /// # Errors
    /// Limits.
    pub(crate) fn readings(&mut self, automaton: &Automaton, id: ConfigurationId) -> Result<Arc<[Reading]>> {
        self.parts.readings(automaton, &mut self.tables, id)
    }

    /// Whether a part may be entered on the way from a configuration to a word; where it is not known, it may.
    ///
    /// # Errors
    /// Limits.
    pub(crate) fn is_part_ahead(&mut self, automaton: &Automaton, id: ConfigurationId) -> Result<bool> {
        self.parts.is_ahead(automaton, &mut self.tables, id)
    }

    /// How many tokens the open part of a reading may need at most after any token that may come, if that is known.
    pub(crate) fn part_ceiling(&self, reading: ConfigurationId) -> Option<usize> {
        self.parts.ceilings.get(&reading).copied()
    }

    /// Keeps a [ceiling](MaskCache::part_ceiling).
    pub(crate) fn keep_part_ceiling(&mut self, reading: ConfigurationId, ceiling: usize) {
        self.parts.ceilings.insert(reading, ceiling);
    }
}

/// Refuses parts of which it is not known that they can end within their bound. `cache_of` makes empty tables for a grammar.
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
