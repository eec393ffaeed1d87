//! The tokens and continuations of a residual, in the form that grammars share.

use crate::mask::cache::shape_cache::OfShape;
use crate::mask::token_set::{Removed, TokenSet};
use crate::mask::walk::collected::Continuation;

/// The tokens of a residual, valid in any grammar for the same vocabulary.
#[derive(Debug)]
pub(in crate::mask) struct ResidualTokens {
    /// For a residual that is stored as a difference to a base: the tokens to remove from those of the base.
    pub(super) removed: Option<Removed>,
    /// The tokens allowed regardless of the stack below; for a difference to a base, the tokens to add.
    pub(super) tokens: TokenSet,
    /// The trie nodes at which the residual returns before a token has ended.
    pub(super) continuations: Vec<Continuation>,
    /// The length in bytes of the longest completion of products in the residual that was known when the record was
    /// computed.
    pub(super) completion_radius: u32,
}

impl OfShape for ResidualTokens {
    fn memory_usage(&self) -> usize {
        size_of::<ResidualTokens>()
            + self.tokens.memory_usage()
            + self.removed.as_ref().map_or(0, Removed::memory_usage)
            + self.continuations.len() * size_of::<Continuation>()
    }
}
