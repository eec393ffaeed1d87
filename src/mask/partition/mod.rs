//! The tokens of a residual, grouped by the configurations that they lead to.
//!
//! Tokens of one group have the same completions, so a mask within a budget asks once per group. A partition belongs to
//! the residual and not to the stacks below it, and grammars share it like the [record](super::compute) of the residual.
//! `find.rs` computes it; `of_configuration.rs` finds the one of a configuration.

pub(in crate::mask) mod find;
pub(in crate::mask) mod of_configuration;

use super::cache::shape_cache::OfShape;
use crate::token_index::TokenIndex;
use crate::token_index::loops::ByLength;
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// Groups of the tokens of a residual. Where several groups seem to have a token, the one that comes first here has it.
#[derive(Debug)]
pub(crate) struct TokenPartition {
    /// The tokens that lead beyond the return of the residual, or beyond the end of a name that must differ from others:
    /// whether each is allowed depends on the stacks below, or on the names.
    pub(crate) leaving: Vec<TokenId>,
    pub(crate) groups: Vec<(TokenGroup, Vec<TokenId>)>,
    /// Groups of tokens of a loop with equally many characters.
    pub(crate) by_length: Vec<(TokenGroup, OfLength)>,
    /// The group of all other tokens that the residual allows.
    pub(crate) others: Option<TokenGroup>,
}

/// The tokens of a loop language with a number of characters, an incomplete one included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfLength {
    pub(in crate::mask) language: usize,
    pub(in crate::mask) characters: usize,
}

/// Tokens that lead to one configuration.
#[derive(Debug)]
pub(crate) struct TokenGroup {
    /// A text that leads to the configuration.
    pub(crate) text: Box<[u8]>,
    /// An upper bound on the tokens from there to the return of the residual; `None` if none is known, or if something
    /// other than what follows the return may come after them.
    pub(crate) bound: Option<u32>,
}

impl OfShape for TokenPartition {
    fn memory_usage(&self) -> usize {
        let group = |group: &TokenGroup| size_of::<(TokenGroup, Vec<TokenId>)>() + group.text.len();
        size_of::<TokenPartition>()
            + self.leaving.capacity() * 4
            + self.groups.iter().map(|(of, tokens)| group(of) + tokens.capacity() * 4).sum::<usize>()
            + self.by_length.iter().map(|(of, _)| group(of)).sum::<usize>()
    }
}

impl TokenPartition {
    /// All groups: those with lists of tokens, those by length, and the others.
    pub(crate) fn all(&self) -> impl Iterator<Item = &TokenGroup> {
        let groups = self.groups.iter().map(|(group, _)| group);
        groups.chain(self.by_length.iter().map(|(group, _)| group)).chain(&self.others)
    }
}

impl OfLength {
    /// The ids of the tokens.
    pub(crate) fn tokens(self, index: &TokenIndex) -> &[u32] {
        let by_length = index.loops().languages.get(self.language).and_then(|of| of.by_length.as_ref());
        let tokens = by_length.and_then(|ByLength { accepted, starts, .. }| {
            accepted.get(*starts.get(self.characters)?..*starts.get(self.characters + 1)?)
        });
        tokens.unwrap_or_default()
    }
}

/// The partition of the only residual of a configuration.
#[derive(Debug)]
pub(crate) struct PartitionAt {
    pub(crate) partition: Arc<TokenPartition>,
    /// An upper bound on the tokens after the return of the residual, to be added to the bounds of groups; `None` if
    /// none is known, or if the bounds of the residual differ from those of the configuration.
    pub(crate) after: Option<usize>,
    /// Whether tokens of a group lead from the configuration to one configuration. Otherwise the numbers of rounds of
    /// loops may differ, although the completions do not if the group has a bound.
    pub(crate) is_exact: bool,
}
