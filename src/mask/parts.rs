//! Parts bounded in tokens: stored data about the readings of configurations.

use super::way_out::WayOut;
use crate::automaton::{Automaton, Cache, ConfigurationId, Lazy, Reading, WithoutParts};
use crate::collections::heap::map_bytes;
use crate::error::Result;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The tokens that may come next in a reading, grouped by the configurations that they lead to. Names are ignored.
/// `None` stands for the tokens of the reading's mask that are in no other group; it is the largest group.
pub(crate) type PartGroups = [(ConfigurationId, Option<Vec<TokenId>>)];

/// What is needed after any token that may come next in a reading.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PartCeiling {
    /// The tokens that must be left for the open part, for the known way out of it.
    pub(crate) inside: usize,
    /// The tokens that then suffice to complete the text.
    pub(crate) total: usize,
}

/// Data about configurations in which a part is open or may follow, of one generation of tables.
#[derive(Debug, Default)]
pub(in crate::mask) struct Parts {
    readings: FxHashMap<ConfigurationId, Arc<[Reading]>>,
    ahead: FxHashMap<ConfigurationId, bool>,
    without: WithoutParts,
    /// Per reading, an upper bound on the tokens that its open part needs after any token that is allowed; see
    /// `matcher/parts.rs`.
    pub(in crate::mask) ceilings: FxHashMap<ConfigurationId, usize>,
    /// Per reading, what is needed to complete the text after any token that is allowed; `None` if that is unknown.
    pub(in crate::mask) totals: FxHashMap<ConfigurationId, Option<PartCeiling>>,
    groups: FxHashMap<ConfigurationId, Arc<PartGroups>>,
    ways_beyond: FxHashMap<(ConfigurationId, usize, bool), (Option<WayOut>, usize)>,
    bytes: usize,
}

impl Parts {
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        self.bytes
            + self.without.memory_usage()
            + map_bytes(&self.readings)
            + map_bytes(&self.ahead)
            + map_bytes(&self.ceilings)
            + map_bytes(&self.totals)
            + map_bytes(&self.groups)
            + map_bytes(&self.ways_beyond)
    }

    /// The readings of a configuration: its stacks, grouped by the open part that is bounded in tokens. Computed at the
    /// first call.
    pub(in crate::mask) fn readings(
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

    /// The stored groups of a reading's tokens.
    pub(in crate::mask) fn groups(&self, reading: ConfigurationId) -> Option<Arc<PartGroups>> {
        self.groups.get(&reading).cloned()
    }

    /// Stores the groups of a reading's tokens.
    pub(in crate::mask) fn keep_groups(&mut self, reading: ConfigurationId, groups: Arc<PartGroups>) {
        let listed = groups.iter().flat_map(|(_, tokens)| tokens).map(|tokens| tokens.capacity() * 4);
        self.bytes += 16 + size_of_val(&*groups) + listed.sum::<usize>();
        self.groups.insert(reading, groups);
    }

    /// The stored result of a search for a way out whose last token may end after the part, with the number of places
    /// visited. The key contains the configuration of the reading, the most tokens that may begin in the part, and
    /// whether all paths were searched.
    pub(in crate::mask) fn way_beyond(
        &self,
        key: (ConfigurationId, usize, bool),
    ) -> Option<(Option<WayOut>, usize)> {
        self.ways_beyond.get(&key).cloned()
    }

    /// Stores a [way out](Parts::way_beyond).
    pub(in crate::mask) fn keep_way_beyond(
        &mut self,
        key: (ConfigurationId, usize, bool),
        found: (Option<WayOut>, usize),
    ) {
        self.bytes += found.0.as_ref().map_or(0, WayOut::memory_usage);
        self.ways_beyond.insert(key, found);
    }

    /// Whether a part may be entered on a path from a configuration to a word; true if unknown. Computed at the first
    /// call.
    pub(in crate::mask) fn is_ahead(
        &mut self,
        automaton: &Automaton,
        tables: &mut Cache,
        id: ConfigurationId,
    ) -> Result<bool> {
        if let Some(&known) = self.ahead.get(&id) {
            return Ok(known);
        }
        let is_ahead = Lazy::new(automaton, tables).is_part_ahead(id, &mut self.without)?;
        self.ahead.insert(id, is_ahead);
        Ok(is_ahead)
    }
}
