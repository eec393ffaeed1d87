//! Token ids.

use std::fmt;

/// The id of a token: its index in the model's logits and in a mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
#[repr(transparent)]
pub struct TokenId(u32);

impl TokenId {
    /// The token with the id `id`, which need not be in a [`Vocabulary`](super::Vocabulary).
    pub const fn new(id: u32) -> TokenId {
        TokenId(id)
    }

    /// The id as a number, from 0.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The id as an index into an array with one entry per id, such as logits.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
