//! The mask of one configuration: a list of token ids, or words shared between masks.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind, Result};
use crate::vocabulary::TokenId;
use bitvec::prelude::{BitVec, Lsb0};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A set of allowed tokens. Bit `i % 32` of word `i / 32` belongs to token `i`: 1 means allowed.
#[derive(Clone)]
pub struct TokenMask {
    /// The number of meaningful bits: the width of the vocabulary.
    width: usize,
    repr: Repr,
}

#[derive(Clone)]
enum Repr {
    /// The ids, without duplicates, in any order.
    Sparse(Box<[u32]>),
    /// Words that other masks may share, and the differences of this mask: `removed` ids are set in the words, `added`
    /// ids are not.
    Near { words: Arc<[u32]>, removed: Box<[u32]>, added: Box<[u32]> },
}

impl PartialEq for TokenMask {
    fn eq(&self, other: &TokenMask) -> bool {
        self.width == other.width && self.to_bits() == other.to_bits()
    }
}

impl Eq for TokenMask {}

impl TokenMask {
    /// A mask of the given tokens, without duplicates, all below the width.
    pub(crate) fn sparse(ids: Vec<u32>, width: usize) -> TokenMask {
        TokenMask { width, repr: Repr::Sparse(ids.into()) }
    }

    /// A mask that equals `width.div_ceil(32)` words, without the tokens `removed` and with the tokens `added`. The
    /// caller ensures that `removed` tokens are in the words and `added` tokens are not, that neither list has
    /// duplicates, and that bits at and above `width` are 0.
    pub fn near(words: Arc<[u32]>, removed: Vec<u32>, added: Vec<u32>, width: usize) -> TokenMask {
        TokenMask { width, repr: Repr::Near { words, removed: removed.into(), added: added.into() } }
    }

    /// The mask with a bit for each token.
    pub(crate) fn of_bits(bits: BitVec<u32>) -> TokenMask {
        let width = bits.len();
        let mut words = bits.into_vec();
        words.truncate(width.div_ceil(32));
        TokenMask::near(words.into(), Vec::new(), Vec::new(), width)
    }

    /// A mask of the given tokens, all below the width; duplicates are allowed.
    pub(crate) fn of<'t>(tokens: impl IntoIterator<Item = &'t TokenId>, width: usize) -> TokenMask {
        let mut words = vec![0u32; width.div_ceil(32)];
        tokens.into_iter().for_each(|token| words[token.index() / 32] |= 1 << (token.get() % 32));
        TokenMask::near(words.into(), Vec::new(), Vec::new(), width)
    }

    /// The tokens that both masks, of the same width, have.
    pub(crate) fn and(&self, other: &TokenMask) -> TokenMask {
        TokenMask::of_bits(self.to_bits() & other.to_bits())
    }

    /// The number of ids that the mask covers, from 0 on: the width of the vocabulary.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether a token is allowed; false for ids at or above the width.
    pub fn contains(&self, token: TokenId) -> bool {
        match &self.repr {
            Repr::Sparse(ids) => ids.contains(&token.get()),
            Repr::Near { words, removed, added } => {
                let in_words =
                    words.get(token.index() / 32).is_some_and(|w| w >> (token.get() % 32) & 1 == 1);
                let differs = if in_words { removed } else { added };
                in_words != differs.contains(&token.get())
            }
        }
    }

    /// The number of allowed tokens.
    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Sparse(ids) => ids.len(),
            Repr::Near { words, removed, added } => {
                let ones: usize = words.iter().map(|w| w.count_ones() as usize).sum();
                ones + added.len() - removed.len()
            }
        }
    }

    /// Whether no token is allowed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The allowed tokens, in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        let (mut ids, words) = match &self.repr {
            Repr::Sparse(ids) => (ids.to_vec(), BitVec::new()),
            Repr::Near { .. } => (Vec::new(), self.to_bits()),
        };
        ids.sort_unstable();
        let ones = (0..words.len()).filter(move |&token| words[token]).map(|token| token as u32);
        ids.into_iter().chain(ones).map(TokenId::new)
    }

    /// The mask with some tokens removed.
    pub(crate) fn without(&self, mut tokens: FxHashSet<u32>) -> TokenMask {
        let left = |ids: &[u32], tokens: &FxHashSet<u32>| -> Box<[u32]> {
            ids.iter().copied().filter(|id| !tokens.contains(id)).collect()
        };
        let repr = match &self.repr {
            Repr::Sparse(ids) => Repr::Sparse(left(ids, &tokens)),
            Repr::Near { words, removed, added } => {
                let added = left(added, &tokens);
                removed.iter().for_each(|id| {
                    tokens.remove(id);
                });
                let in_words = |&id: &u32| words[id as usize / 32] >> (id % 32) & 1 == 1;
                let more = tokens.into_iter().filter(in_words);
                let removed = removed.iter().copied().chain(more).collect();
                Repr::Near { words: Arc::clone(words), removed, added }
            }
        };
        TokenMask { width: self.width, repr }
    }

    /// The mask with some tokens added.
    pub(crate) fn with(mut self, tokens: &[TokenId]) -> TokenMask {
        let missing: Vec<u32> =
            tokens.iter().filter(|&&token| !self.contains(token)).map(|token| token.get()).collect();
        self.repr = match self.repr {
            Repr::Sparse(ids) => Repr::Sparse([&ids[..], &missing].concat().into()),
            Repr::Near { words, removed, added } => {
                let is_missing = |id: &u32| missing.contains(id);
                let more = missing.iter().filter(|id| !removed.contains(id));
                Repr::Near {
                    added: added.iter().chain(more).copied().collect(),
                    removed: removed.iter().filter(|id| !is_missing(id)).copied().collect(),
                    words,
                }
            }
        };
        self
    }

    /// Writes the mask as words. Words of the buffer beyond the mask are cleared.
    ///
    /// # Errors
    /// `mask/buffer-too-short` if `words` has fewer than `width().div_ceil(32)` words.
    pub fn write_to(&self, words: &mut [u32]) -> Result<()> {
        let needed = self.width.div_ceil(32);
        if words.len() < needed {
            return Err(buffer_too_short(words.len(), needed));
        }
        let differ = |words: &mut [u32], ids: &[u32]| {
            ids.iter().for_each(|&id| words[id as usize / 32] ^= 1 << (id % 32));
        };
        match &self.repr {
            Repr::Sparse(ids) => {
                words.fill(0);
                differ(words, ids);
            }
            Repr::Near { words: bits, removed, added } => {
                words[..needed].copy_from_slice(bits);
                words[needed..].fill(0);
                differ(words, removed);
                differ(words, added);
            }
        }
        Ok(())
    }

    /// A copy of the mask as a bit vector with `width` bits.
    pub fn to_bits(&self) -> BitVec<u32, Lsb0> {
        let mut bits = match &self.repr {
            Repr::Near { words, .. } => BitVec::from_slice(words),
            Repr::Sparse(_) => BitVec::repeat(false, self.width),
        };
        bits.truncate(self.width);
        let (added, removed): (&[u32], &[u32]) = match &self.repr {
            Repr::Sparse(ids) => (ids, &[]),
            Repr::Near { removed, added, .. } => (added, removed),
        };
        added.iter().for_each(|&id| bits.set(id as usize, true));
        removed.iter().for_each(|&id| bits.set(id as usize, false));
        bits
    }

    /// Bytes on the heap. Words that other masks share are divided by the number of their owners.
    pub fn memory_usage(&self) -> usize {
        match &self.repr {
            Repr::Sparse(ids) => ids.len() * 4,
            Repr::Near { words, removed, added } => {
                (words.len() * 4 + 16) / Arc::strong_count(words).max(1) + (removed.len() + added.len()) * 4
            }
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
