//! One mask.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind, Result};
use crate::vocabulary::TokenId;
use bitvec::prelude::{BitSlice, BitVec, Lsb0};

/// A set of allowed tokens. Bit `i % 32` of word `i / 32` stands for token `i`, 1 = allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenMask {
    /// Tokens in the vocabulary: the number of bits that mean something.
    width: usize,
    repr: Repr,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Repr {
    /// Sorted, each once.
    Sparse(Box<[u32]>),
    Dense(Box<[u32]>),
}

impl TokenMask {
    /// The mask of these tokens, in any order, each below the width.
    pub(crate) fn sparse(mut ids: Vec<u32>, width: usize) -> TokenMask {
        ids.sort_unstable();
        ids.dedup();
        TokenMask { width, repr: Repr::Sparse(ids.into()) }
    }

    /// The mask of these bits, `width.div_ceil(32)` words.
    pub(crate) fn dense(words: Vec<u32>, width: usize) -> TokenMask {
        TokenMask { width, repr: Repr::Dense(words.into()) }
    }

    /// How many tokens the mask speaks about.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a token is allowed.
    pub fn contains(&self, token: TokenId) -> bool {
        match &self.repr {
            Repr::Sparse(ids) => ids.binary_search(&token.get()).is_ok(),
            Repr::Dense(words) => {
                words.get(token.index() / 32).is_some_and(|w| w >> (token.get() % 32) & 1 == 1)
            }
        }
    }

    /// How many tokens are allowed.
    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Sparse(ids) => ids.len(),
            Repr::Dense(words) => words.iter().map(|w| w.count_ones() as usize).sum(),
        }
    }

    /// Whether no token is allowed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The allowed tokens, by id.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        let (ids, words): (&[u32], &[u32]) = match &self.repr {
            Repr::Sparse(ids) => (ids, &[]),
            Repr::Dense(words) => (&[], words),
        };
        let bits = BitSlice::<u32, Lsb0>::from_slice(words).iter_ones().map(|bit| bit as u32);
        ids.iter().copied().chain(bits).map(TokenId::new)
    }

    /// Writes the mask as words; those past the mask are cleared.
    ///
    /// # Errors
    /// `mask/buffer-too-short` if `words` has fewer than `width().div_ceil(32)` words.
    pub fn write_to(&self, words: &mut [u32]) -> Result<()> {
        let needed = self.width.div_ceil(32);
        if words.len() < needed {
            return Err(buffer_too_short(words.len(), needed));
        }
        match &self.repr {
            Repr::Sparse(ids) => {
                words.fill(0);
                for &id in ids {
                    words[id as usize / 32] |= 1 << (id % 32);
                }
            }
            Repr::Dense(bits) => {
                words[..needed].copy_from_slice(bits);
                words[needed..].fill(0);
            }
        }
        Ok(())
    }

    /// The mask as a bit vector of `width` bits.
    pub fn to_bits(&self) -> BitVec<u32, Lsb0> {
        let mut bits = match &self.repr {
            Repr::Dense(words) => BitVec::from_slice(words),
            Repr::Sparse(_) => BitVec::repeat(false, self.width),
        };
        bits.truncate(self.width);
        if let Repr::Sparse(ids) = &self.repr {
            ids.iter().for_each(|&id| bits.set(id as usize, true));
        }
        bits
    }

    /// Bytes on the heap.
    pub fn memory_usage(&self) -> usize {
        match &self.repr {
            Repr::Sparse(list) | Repr::Dense(list) => list.len() * 4,
        }
    }
}

fn buffer_too_short(found: usize, needed: usize) -> Error {
    Error::new(
        ErrorKind::Usage,
        Diagnostic::new("mask/buffer-too-short", "the buffer for the mask is too short")
            .found(format!("{found} words of 32 bits"))
            .allowed(format!("at least {needed} words"))
            .help("make it `Vocabulary::mask_words()` long"),
    )
}
