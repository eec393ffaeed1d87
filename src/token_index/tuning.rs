//! The thresholds of this room: their units, what set them, and what doubling them does.

/// Characters of a token up to which tokens are precomputed by their number, for each loop whose rounds grammars count. Longer
/// ones are walked whole. Doubled: memory and time of the index grow with it.
pub(crate) const MAX_CHARS: usize = 24;

/// Bytes up to which tokens are short, the larger bound first: near a bound that only long tokens can reach, these are
/// examined by themselves. They took the mean of 14 schemas with such bounds from 68 to 25 µs.
pub(in crate::token_index) const SHORT: [u32; 2] = [32, 16];

/// Nodes of a subtree from which on it is summarised, to be accepted whole. 6 in place of 12 were
/// tried without gain.
pub(crate) const LARGE_SUBTREE: u32 = 8;
