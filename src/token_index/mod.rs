//! What masks precompute once per vocabulary.

pub(crate) mod alphabet;
pub(crate) mod class_trie;
pub(crate) mod loops;
pub(crate) mod quote_tokens;
pub(crate) mod subtree_summary;
pub(crate) mod tuning;
