//! Sizes and counts of a compiled grammar.

use super::strategy::StrategyCounts;

/// Sizes and counts of a compiled grammar at one point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Statistics {
    /// The number of states of the automaton, including the parts lowered so far.
    pub states: usize,
    /// The number of configurations in the tables, computed since the tables were last dropped.
    pub configurations: usize,
    /// The number of masks computed so far, including masks that were dropped since.
    pub masks_computed: u64,
    /// How often each strategy computed the tokens of a configuration, or of a part of one (a residual), from which
    /// masks are assembled.
    pub strategies: StrategyCounts,
    /// How often the tables were dropped to free memory.
    pub resets: u64,
    /// Bytes of the automaton, including the parts lowered so far.
    pub automaton_bytes: usize,
    /// Bytes of the tables and masks, which `cache_bytes` in [`Limits`](crate::Limits) bounds.
    pub cache_bytes: usize,
    /// The number of configurations whose [distance](crate::Matcher::distance) to a word was searched for since the
    /// tables were last dropped.
    pub distances: usize,
    /// The number of configurations among `distances` with a known number of tokens, where a search for fewer with the
    /// greatest effort did not finish.
    pub distances_at_most: usize,
    /// The number of configurations among `distances` with an unknown distance after a search with the greatest effort.
    pub distances_unknown: usize,
}
