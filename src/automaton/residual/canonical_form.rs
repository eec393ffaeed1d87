//! Canonical forms of configurations, and the scratch memory in which they are written.

use crate::automaton::program::ids::StateId;
use crate::collections::interner::Interner;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Longer shapes are not written: few are met again.
pub(in crate::automaton) const MOST_WORDS: usize = 1024;

/// What a configuration may do until it returns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CanonicalForm(pub(in crate::automaton) Box<[u32]>);

impl CanonicalForm {
    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.0.len() * 4
    }
}

/// A shape, and the products of the grammar that it is of.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    pub(crate) form: CanonicalForm,
    pub(in crate::automaton) products: SmallVec<[u32; 2]>,
}

/// A shape in the making.
#[derive(Debug, Default)]
pub(in crate::automaton) struct CanonicalScratch {
    pub(in crate::automaton) words: Vec<u32>,
    /// The states met, in that order.
    pub(in crate::automaton) met: Interner<StateId>,
    pub(in crate::automaton) products: SmallVec<[u32; 2]>,
    /// First states of configurations whose shapes were begun in vain.
    pub(in crate::automaton) in_vain: FxHashSet<StateId>,
}
