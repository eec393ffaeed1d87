//! How many tokens are needed after the tokens of a configuration, regardless of the names read.

use crate::mask::partition::{PartitionAt, TokenPartition};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// The tokens of a configuration, by the number of tokens needed after them.
#[derive(Debug)]
pub(crate) struct Levels {
    /// `None` if all tokens are among the `listed`.
    pub(crate) partition: Option<PartitionAt>,
    /// What is needed after the tokens of the partition's groups: its groups, then those by length, then the others.
    pub(crate) groups: Vec<Level>,
    /// Further tokens, each list with what is needed after its tokens.
    pub(crate) listed: Vec<(usize, Vec<TokenId>)>,
}

/// An upper bound on the tokens needed after the tokens of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) needed: usize,
    /// Whether a lower bound may be found from the configuration that the tokens lead to.
    pub(crate) is_rough: bool,
}

impl Levels {
    /// A number of tokens that suffices after each token.
    pub(crate) fn most(&self) -> usize {
        let groups = self.groups.iter().map(|level| level.needed);
        groups.chain(self.listed.iter().map(|(needed, _)| *needed)).max().unwrap_or(0)
    }

    pub(crate) fn partition(&self) -> Option<&Arc<TokenPartition>> {
        self.partition.as_ref().map(|at| &at.partition)
    }

    /// Bytes, including the struct itself, and without the partition.
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        let listed = self.listed.iter().map(|(_, tokens)| 32 + tokens.capacity() * 4);
        size_of::<Levels>() + self.groups.len() * size_of::<Level>() + listed.sum::<usize>()
    }
}
