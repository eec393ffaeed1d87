//! Ways to compute the tokens of a residual without a full walk of the trie.

pub(in crate::mask) mod absorbing;
pub(in crate::mask) mod class_trie;
pub(in crate::mask) mod delta;
pub(in crate::mask) mod loop_language;
