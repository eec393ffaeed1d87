//! Which tools of a compiled set may be called.

use super::names::Spot;
use crate::mask::TokenMask;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Names by their ranks, one bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    words: Box<[u64]>,
    count: usize,
}

impl Bits {
    pub(super) fn none(len: usize) -> Bits {
        Bits { words: vec![0; len.div_ceil(64)].into(), count: 0 }
    }

    pub(super) fn insert(&mut self, rank: u32) {
        let word = &mut self.words[rank as usize / 64];
        let bit = 1 << (rank % 64);
        self.count += usize::from(*word & bit == 0);
        *word |= bit;
    }

    pub(super) fn remove(&mut self, rank: u32) {
        let word = &mut self.words[rank as usize / 64];
        let bit = 1 << (rank % 64);
        self.count -= usize::from(*word & bit != 0);
        *word &= !bit;
    }

    pub(super) fn has(&self, rank: u32) -> bool {
        self.words[rank as usize / 64] >> (rank % 64) & 1 == 1
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The first of `low..high`.
    pub(super) fn first(&self, low: u32, high: u32) -> Option<u32> {
        let mut at = low;
        while at < high {
            let word = self.words[at as usize / 64] >> (at % 64);
            if word != 0 {
                let found = at + word.trailing_zeros();
                return (found < high).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// The last of `low..high`.
    pub(super) fn last(&self, low: u32, high: u32) -> Option<u32> {
        let mut end = high;
        while end > low {
            let at = end - 1;
            let word = self.words[at as usize / 64] << (63 - at % 64);
            if word != 0 {
                let found = at - word.leading_zeros();
                return (found >= low).then_some(found);
            }
            end = at / 64 * 64;
        }
        None
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let high = self.words.len() as u32 * 64;
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.first(from, high)?;
            from = found + 1;
            Some(found)
        })
    }
}

/// Tools of one [`CompiledTools`](super::CompiledTools) that may be called, one bit each. To make one costs a word for 64 tools
/// and a look-up a name; nothing is compiled. Clones share it, and the masks within names that were made under it.
#[derive(Clone, Debug)]
pub struct Subset(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bits: Bits,
    /// The masks at places in names.
    masks: Mutex<FxHashMap<Spot, Arc<TokenMask>>>,
}

impl Subset {
    pub(super) fn of(bits: Bits) -> Subset {
        Subset(Arc::new(Inner { bits, masks: Mutex::default() }))
    }

    /// How many tools it has.
    pub fn len(&self) -> usize {
        self.0.bits.count()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn bits(&self) -> &Bits {
        &self.0.bits
    }

    pub(super) fn mask(&self, at: Spot) -> Option<Arc<TokenMask>> {
        self.masks().get(&at).cloned()
    }

    pub(super) fn keep(&self, at: Spot, mask: &Arc<TokenMask>) {
        self.masks().insert(at, Arc::clone(mask));
    }

    fn masks(&self) -> MutexGuard<'_, FxHashMap<Spot, Arc<TokenMask>>> {
        self.0.masks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
