//! Groups of characters that masks distinguish: the kinds of those in JSON strings.

use crate::automaton::CharPartition;
use crate::token_index::alphabet::SPELLED;
use std::sync::LazyLock;

/// The characters of each kind.
pub(in crate::mask) static KINDS: LazyLock<CharPartition> =
    LazyLock::new(|| CharPartition::new(SPELLED.clone()));

/// Those beyond ASCII alone.
pub(in crate::mask) static BEYOND_ASCII: LazyLock<CharPartition> = LazyLock::new(|| {
    let spelled =
        SPELLED.iter().map(|kind| kind.iter().filter(|spelled| spelled.len() > 1).cloned().collect());
    CharPartition::new(spelled.collect())
});
