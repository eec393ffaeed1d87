//! The groups of characters that masks distinguish: the kinds of characters in JSON strings.

use crate::automaton::CharPartition;
use crate::token_index::alphabet::SPELLED;
use std::sync::LazyLock;

/// The characters of each kind, in UTF-8.
pub(in crate::mask) static KINDS: LazyLock<CharPartition> =
    LazyLock::new(|| CharPartition::new(SPELLED.clone()));

/// The characters of each kind, only those beyond ASCII.
pub(in crate::mask) static BEYOND_ASCII: LazyLock<CharPartition> = LazyLock::new(|| {
    let spelled =
        SPELLED.iter().map(|kind| kind.iter().filter(|spelled| spelled.len() > 1).cloned().collect());
    CharPartition::new(spelled.collect())
});
