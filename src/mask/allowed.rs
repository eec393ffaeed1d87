//! A mask in the making.

use super::token_mask::TokenMask;
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// Lists of more tokens than this are sorted by way of bits.
const SORTED: usize = 48;

/// Walks put so many tokens into words at a time.
const MANY: usize = 1 << 13;

/// Masks that differ from shared words in more tokens than this get words of their own.
const NEAR: usize = 512;

/// Allowed tokens: those of some words without the removed ones, and those added.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowed {
    words: Option<Arc<[u32]>>,
    removed: Vec<u32>,
    added: Vec<u32>,
}

impl Allowed {
    /// Begins with the tokens of shared words.
    pub(super) fn of_words(words: Arc<[u32]>) -> Allowed {
        Allowed { words: Some(words), removed: Vec::new(), added: Vec::new() }
    }

    /// Begins with a list of tokens.
    pub(super) fn of_ids(ids: &[u32]) -> Allowed {
        Allowed { words: None, removed: Vec::new(), added: ids.to_vec() }
    }

    /// Whether there are words.
    pub(super) fn is_wide(&self) -> bool {
        self.words.is_some()
    }

    /// Whether there are so many added ones that they had better be settled.
    pub(super) fn are_many(&self) -> bool {
        self.added.len() > MANY
    }

    /// Adds a token.
    #[inline]
    pub(super) fn push(&mut self, token: u32) {
        self.added.push(token);
    }

    /// Adds tokens.
    pub(super) fn extend(&mut self, tokens: &[TokenId]) {
        match tokens {
            // most trie nodes have one token
            [token] => self.added.push(token.get()),
            _ => self.added.extend(tokens.iter().map(|token| token.get())),
        }
    }

    /// Takes tokens out.
    pub(super) fn remove(&mut self, ids: &[u32]) {
        if ids.is_empty() {
            return;
        }
        if !self.added.is_empty() {
            let gone: rustc_hash::FxHashSet<u32> = ids.iter().copied().collect();
            self.added.retain(|id| !gone.contains(id));
        }
        if self.words.is_some() {
            self.removed.extend_from_slice(ids);
        }
    }

    /// Bytes on the heap, those of shared words among them.
    pub(super) fn memory_usage(&self) -> usize {
        let words = self.words.as_ref().map_or(0, |words| words.len());
        (words + self.removed.capacity() + self.added.capacity()) * 4
    }

    /// Adds all that another has.
    pub(super) fn unite(&mut self, mut other: Allowed) {
        if other.words.is_some() {
            std::mem::swap(self, &mut other);
        }
        match other.words.take() {
            None => self.added.extend_from_slice(&other.added),
            Some(words) => {
                let mut own = self.bits(words.len());
                let mut others = Allowed { words: Some(words), ..other };
                let others = others.bits(own.len());
                own.iter_mut().zip(others).for_each(|(own, other)| *own |= other);
                *self = Allowed::of_words(own.into());
            }
        }
    }

    /// The bits, in as many words.
    fn bits(&mut self, width_words: usize) -> Vec<u32> {
        let mut bits = match &self.words {
            Some(words) => words.to_vec(),
            None => vec![0; width_words],
        };
        self.removed.iter().for_each(|&id| bits[id as usize / 32] &= !(1 << (id % 32)));
        self.added.iter().for_each(|&id| bits[id as usize / 32] |= 1 << (id % 32));
        bits
    }

    /// Makes what follows cheap to share: words of its own if it is near no others.
    pub(super) fn settle(&mut self, width: usize) {
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
            None => *self = Allowed::of_words(self.bits(width_words).into()),
        }
    }

    /// The mask. `scratch` are zeros, as many words as a mask has, and are left so.
    pub(super) fn finish(mut self, width: usize, scratch: &mut [u32]) -> TokenMask {
        self.settle(width);
        match self.words {
            None => TokenMask::sparse(sorted(self.added, scratch), width),
            Some(words) => {
                let has = |id: u32| words[id as usize / 32] >> (id % 32) & 1 == 1;
                let Allowed { mut removed, mut added, .. } = self;
                if !removed.is_empty() {
                    let back: rustc_hash::FxHashSet<u32> = added.iter().copied().collect();
                    removed.retain(|&id| has(id) && !back.contains(&id));
                    removed = sorted(removed, scratch);
                }
                added.retain(|&id| !has(id));
                TokenMask::near(words, removed, sorted(added, scratch), width)
            }
        }
    }
}

/// Sorted, each once.
fn sorted(mut ids: Vec<u32>, scratch: &mut [u32]) -> Vec<u32> {
    if ids.len() <= SORTED {
        ids.sort_unstable();
        ids.dedup();
        return ids;
    }
    // one bit a word says where there are any
    let mut used = vec![0u64; scratch.len().div_ceil(64)];
    for id in ids.drain(..) {
        let place = id as usize / 32;
        scratch[place] |= 1 << (id % 32);
        used[place / 64] |= 1 << (place % 64);
    }
    for (group, &bits) in used.iter().enumerate() {
        for_each_bit(bits, |bit| {
            let place = group * 64 + bit as usize;
            let word = std::mem::take(&mut scratch[place]);
            for_each_bit(u64::from(word), |bit| ids.push(place as u32 * 32 + bit));
        });
    }
    ids
}

fn for_each_bit(mut bits: u64, mut visit: impl FnMut(u32)) {
    while bits != 0 {
        visit(bits.trailing_zeros());
        bits &= bits - 1;
    }
}
