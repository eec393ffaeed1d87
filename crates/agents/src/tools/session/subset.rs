//! Subsets of the tools of a compiled set.

use super::bits::Bits;
use super::names::Spot;
use grammata::mask::TokenMask;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The tools of one [`CompiledTools`](super::CompiledTools) that may be called. Creating a subset costs one lookup per
/// name and, if it has many tools, one bit per tool of the set; nothing is compiled. Clones share the subset, and the
/// masks inside of names that were computed for it.
#[derive(Clone, Debug)]
pub struct Subset(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bits: Bits,
    /// The masks at positions inside of names.
    masks: Mutex<FxHashMap<Spot, Arc<TokenMask>>>,
    /// An upper bound on the bytes that the shortest call of any of the tools needs for its name and arguments,
    /// computed on first use. The inner value is `None` if a tool has no known bound.
    longest: OnceLock<Option<usize>>,
}

impl Subset {
    pub(super) fn of(bits: Bits) -> Subset {
        Subset(Arc::new(Inner { bits, masks: Mutex::default(), longest: OnceLock::new() }))
    }

    /// Returns the number of tools in the subset.
    pub fn len(&self) -> usize {
        self.0.bits.count()
    }

    /// Returns whether the subset has no tools.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn bits(&self) -> &Bits {
        &self.0.bits
    }

    /// Returns the result of `find` for the ranks of the subset, computed on the first call.
    pub(super) fn longest(
        &self,
        find: impl FnOnce(&mut dyn Iterator<Item = u32>) -> Option<usize>,
    ) -> Option<usize> {
        *self.0.longest.get_or_init(|| find(&mut self.0.bits.iter()))
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
