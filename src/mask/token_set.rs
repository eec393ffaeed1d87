//! A mask under construction.

use super::token_mask::TokenMask;
use crate::mask::tuning::{ADDED_BEFORE_COMPACT, FEW_SORTED, NEAR};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// Zeroed words, as many as a mask has, allocated on demand.
#[derive(Debug, Default)]
pub(super) struct ScratchBits {
    words: Vec<u32>,
}

impl ScratchBits {
    /// The words, all zero. Callers must clear the bits that they set.
    fn words(&mut self, width: usize) -> &mut [u32] {
        self.words.resize(width.div_ceil(32), 0);
        &mut self.words
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.words.capacity() * 4
    }
}

/// A set of tokens: those of some words, minus the removed ones, plus the added ones. A token that is removed and added
/// is in the set.
#[derive(Clone, Debug, Default)]
pub(super) struct TokenSet {
    words: Option<Arc<[u32]>>,
    removed: Vec<u32>,
    added: Vec<u32>,
}

impl TokenSet {
    /// A set of the tokens of shared words.
    pub(super) fn of_words(words: Arc<[u32]>) -> TokenSet {
        TokenSet { words: Some(words), removed: Vec::new(), added: Vec::new() }
    }

    /// A set of some tokens.
    pub(super) fn of_ids(ids: &[u32]) -> TokenSet {
        TokenSet { words: None, removed: Vec::new(), added: ids.to_vec() }
    }

    /// Whether the set is based on words, and not only a list of added tokens.
    pub(super) fn has_base(&self) -> bool {
        self.words.is_some()
    }

    /// Whether the number of added tokens is large enough to run [`compact`](TokenSet::compact).
    pub(super) fn is_large(&self) -> bool {
        self.added.len() > ADDED_BEFORE_COMPACT
    }

    /// Adds a token; duplicates are allowed.
    #[inline]
    pub(super) fn push(&mut self, token: u32) {
        self.added.push(token);
    }

    /// Adds a token if `wanted`, without a branch.
    #[inline]
    pub(super) fn push_if(&mut self, wanted: bool, token: u32) {
        let len = self.added.len();
        self.added.push(token);
        self.added.truncate(len + usize::from(wanted));
    }

    /// Adds tokens; duplicates are allowed.
    pub(super) fn extend(&mut self, tokens: &[TokenId]) {
        match tokens {
            // most trie nodes have one token
            [token] => self.added.push(token.get()),
            _ => self.added.extend(tokens.iter().map(|token| token.get())),
        }
    }

    /// Removes tokens. `width` is the width of the vocabulary.
    pub(super) fn remove(&mut self, ids: &[u32], width: usize, marks: &mut ScratchBits) {
        if ids.is_empty() {
            return;
        }
        if !self.added.is_empty() {
            let marks = marks.words(width);
            ids.iter().for_each(|&id| marks[id as usize / 32] |= 1 << (id % 32));
            self.added.retain(|&id| !is_marked(marks, id));
            unmark(ids, marks);
        }
        if self.words.is_some() {
            self.removed.extend_from_slice(ids);
        }
    }

    /// Removes the tokens that are not in `kept`, given as bits.
    pub(super) fn keep(&mut self, kept: &[u32]) {
        self.added.retain(|&id| is_marked(kept, id));
        if let Some(words) = &mut self.words {
            let both = words.iter().zip(kept).map(|(words, kept)| words & kept);
            *words = both.collect();
        }
    }

    /// Bytes on the heap, including shared words.
    pub(super) fn memory_usage(&self) -> usize {
        let words = self.words.as_ref().map_or(0, |words| words.len());
        (words + self.removed.capacity() + self.added.capacity()) * 4
    }

    /// Adds the tokens of another set.
    pub(super) fn unite(&mut self, mut other: TokenSet) {
        if self.words.is_none() {
            std::mem::swap(self, &mut other);
        }
        match other.words.take() {
            None if self.added.is_empty() => self.added = other.added,
            None => self.added.extend_from_slice(&other.added),
            Some(words) => self.unite_wide(TokenSet { words: Some(words), ..other }),
        }
    }

    /// Adds the tokens of another set; both have words.
    fn unite_wide(&mut self, mut other: TokenSet) {
        let (Some(own), Some(others)) = (&self.words, &other.words) else { return };
        let more = |a: &[u32], b: &[u32]| a.iter().zip(b).map(|(a, b)| (a & !b).count_ones()).sum::<u32>();
        let (fewer, rest) = (more(own, others), more(others, own));
        if fewer.min(rest) as usize > NEAR || !other.removed.is_empty() || !self.removed.is_empty() {
            let (mut own, others) = (self.bits(own.len()), other.bits(others.len()));
            let own_words = Arc::make_mut(&mut own);
            own_words.iter_mut().zip(others.iter()).for_each(|(own, other)| *own |= other);
            *self = TokenSet::of_words(own);
            return;
        }
        if fewer < rest {
            std::mem::swap(self, &mut other);
        }
        self.added.append(&mut other.added);
        if let (Some(own), Some(others)) = (&self.words, &other.words) {
            for (place, (own, other)) in own.iter().zip(others.iter()).enumerate() {
                for_each_bit(other & !own, |bit| self.added.push(place as u32 * 32 + bit));
            }
        }
    }

    /// The set as bits, in newly allocated words. If the set has no words, there are `width_words`.
    pub(super) fn bits(&self, width_words: usize) -> Arc<[u32]> {
        let mut all: Arc<[u32]> = match &self.words {
            Some(words) => Arc::from(&**words),
            None => std::iter::repeat_n(0, width_words).collect(),
        };
        let bits = Arc::make_mut(&mut all);
        self.removed.iter().for_each(|&id| bits[id as usize / 32] &= !(1 << (id % 32)));
        self.added.iter().for_each(|&id| bits[id as usize / 32] |= 1 << (id % 32));
        all
    }

    /// Makes the set cheap to clone: gives it words of its own if more tokens are removed and added than is worth
    /// listing.
    pub(super) fn compact(&mut self, width: usize) {
        let width_words = width.div_ceil(32);
        let many = match self.words {
            Some(_) => self.removed.len() + self.added.len() > NEAR,
            None => self.added.len() > width_words,
        };
        if !many {
            return;
        }
        match self.words.as_mut().and_then(Arc::get_mut) {
            Some(own) => {
                self.removed.drain(..).for_each(|id| own[id as usize / 32] &= !(1 << (id % 32)));
                self.added.drain(..).for_each(|id| own[id as usize / 32] |= 1 << (id % 32));
            }
            None => *self = TokenSet::of_words(self.bits(width_words)),
        }
    }

    /// Converts the set to a mask of `width` tokens. All bits of `marks` are clear before and after.
    pub(super) fn finish(mut self, width: usize, marks: &mut ScratchBits) -> TokenMask {
        self.compact(width);
        let TokenSet { words, mut removed, mut added } = self;
        if words.is_none() && added.len() <= FEW_SORTED {
            added.sort_unstable();
            added.dedup();
            return TokenMask::sparse(added, width);
        }
        let marks = marks.words(width);
        let Some(words) = words else {
            keep_new(&mut added, marks, |_| true);
            unmark(&added, marks);
            return TokenMask::sparse(added, width);
        };
        let has = |id: u32| is_marked(&words, id);
        keep_new(&mut added, marks, |_| true);
        // a token that was removed and added is not removed
        keep_new(&mut removed, marks, has);
        unmark(&added, marks);
        unmark(&removed, marks);
        added.retain(|&id| !has(id));
        TokenMask::near(words, removed, added, width)
    }
}

/// Tokens to remove from a set.
#[derive(Debug)]
pub(super) enum Removed {
    Few(Vec<u32>),
    /// The tokens that stay, as bits.
    AllBut(Box<[u32]>),
}

impl Removed {
    /// Lists the tokens, or stores the others as bits if that takes less memory. `width_words` is the number of words
    /// of a mask.
    pub(super) fn new(tokens: Vec<u32>, width_words: usize) -> Removed {
        if tokens.len() <= width_words {
            return Removed::Few(tokens);
        }
        let mut kept = vec![u32::MAX; width_words];
        tokens.iter().for_each(|&id| kept[id as usize / 32] &= !(1 << (id % 32)));
        Removed::AllBut(kept.into())
    }

    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        4 * match self {
            Removed::Few(tokens) => tokens.len(),
            Removed::AllBut(kept) => kept.len(),
        }
    }
}

fn is_marked(words: &[u32], id: u32) -> bool {
    words[id as usize / 32] >> (id % 32) & 1 == 1
}

/// Keeps the ids that are wanted and not marked, and marks them.
fn keep_new(ids: &mut Vec<u32>, marks: &mut [u32], wanted: impl Fn(u32) -> bool) {
    ids.retain(|&id| {
        let (word, bit) = (&mut marks[id as usize / 32], 1 << (id % 32));
        let new = *word & bit == 0 && wanted(id);
        if new {
            *word |= bit;
        }
        new
    });
}

fn unmark(ids: &[u32], marks: &mut [u32]) {
    ids.iter().for_each(|&id| marks[id as usize / 32] &= !(1 << (id % 32)));
}

fn for_each_bit(mut bits: u32, mut visit: impl FnMut(u32)) {
    while bits != 0 {
        visit(bits.trailing_zeros());
        bits &= bits - 1;
    }
}
