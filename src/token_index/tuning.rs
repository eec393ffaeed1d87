//! The thresholds of this module, with their units and, where measured, their reasons.

/// The most characters for which tokens are precomputed by their number, for each loop whose rounds grammars count.
/// Longer tokens are walked whole. Memory and time of the index grow with it.
pub(crate) const MAX_CHARS: usize = 24;

/// The greatest lengths of short tokens in bytes, the larger bound first. Near a bound that only long tokens can reach,
/// long tokens are examined separately. The separate examination took the mean of 14 schemas with bounds of this kind
/// from 68 to 25 µs.
pub(in crate::token_index) const SHORT: [u32; 2] = [32, 16];

/// The least number of nodes of a subtree that gets a summary, to be accepted as a whole. Trying 6 instead of 12
/// brought no gain.
pub(crate) const LARGE_SUBTREE: u32 = 8;
