//! The record of a residual, as grammars share it.

use crate::mask::token_set::{Removed, TokenSet};
use crate::mask::walk::collected::Continuation;

/// What is known of a part, in whichever grammar it is.
#[derive(Debug)]
pub(in crate::mask) struct ResidualTokens {
    /// Of a part that is nearly the same as another: the tokens to take away from those of that one.
    pub(super) removed: Option<Removed>,
    /// The tokens allowed whatever is below; of a part that is nearly the same as another, those to add.
    pub(super) tokens: TokenSet,
    /// Where it returns before a token has ended.
    pub(super) continuations: Vec<Continuation>,
    /// It took at most this many bytes to complete what runs in lockstep.
    pub(super) completion_radius: u32,
}

impl ResidualTokens {
    /// Bytes, with the struct itself.
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        size_of::<ResidualTokens>()
            + self.tokens.memory_usage()
            + self.removed.as_ref().map_or(0, Removed::memory_usage)
            + self.continuations.len() * size_of::<Continuation>()
    }
}
