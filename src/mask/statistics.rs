//! Sizes and counts of a compiled grammar.

use super::strategy::StrategyCounts;

/// What a compiled grammar holds at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Statistics {
    /// States of the automaton.
    pub states: usize,
    /// Configurations made so far, since the tables were last dropped.
    pub configurations: usize,
    /// Masks computed so far.
    pub masks_computed: u64,
    /// How the tokens of which they are put together were computed.
    pub strategies: StrategyCounts,
    /// Times the tables were dropped to make room.
    pub resets: u64,
    /// Bytes of the automaton.
    pub automaton_bytes: usize,
    /// Bytes of tables and masks.
    pub cache_bytes: usize,
    /// Configurations whose [distance](crate::Matcher::distance) to a word was searched for, since the tables were last
    /// dropped.
    pub distances: usize,
    /// Of these, those for which a number of tokens is known, and a search for fewer came to no end.
    pub distances_at_most: usize,
    /// Of these, those for which none is known.
    pub distances_unknown: usize,
}
