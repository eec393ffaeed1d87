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
    /// Further tokens, each list with what is needed after its tokens; `None` if no bound is known.
    pub(crate) listed: Vec<(Option<usize>, Vec<TokenId>)>,
}

/// An upper bound on the tokens needed after the tokens of a group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// `None` if no bound is known.
    pub(crate) needed: Option<usize>,
    /// Whether a lower bound may be found from the configuration that the tokens lead to.
    pub(crate) is_rough: bool,
}

impl Levels {
    /// Whether a bound is known after some token.
    pub(crate) fn are_known(&self) -> bool {
        self.groups.iter().any(|level| level.needed.is_some())
            || self.listed.iter().any(|(needed, _)| needed.is_some())
    }

    /// Adds tokens to the list of those that need as many after them.
    pub(crate) fn list(&mut self, needed: Option<usize>, tokens: &[TokenId]) {
        match self.listed.iter_mut().find(|(known, _)| *known == needed) {
            Some((_, listed)) => listed.extend_from_slice(tokens),
            None => self.listed.push((needed, tokens.to_vec())),
        }
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
