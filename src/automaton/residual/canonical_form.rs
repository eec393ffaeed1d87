//! Canonical forms of configurations, and the scratch memory for writing them.

use crate::automaton::program::ids::StateId;
use crate::collections::interner::Interner;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// A canonical form that needs more states or stacks after this many words is given up, since few long forms recur.
pub(in crate::automaton) const MOST_WORDS: usize = 1024;

/// The behaviour of a configuration until it returns, encoded as words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CanonicalForm(pub(in crate::automaton) Box<[u32]>);

impl CanonicalForm {
    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.0.len() * 4
    }
}

/// A canonical form, and the products of the grammar that occur in it.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    pub(crate) form: CanonicalForm,
    pub(in crate::automaton) products: SmallVec<[u32; 2]>,
}

/// A canonical form under construction.
#[derive(Debug, Default)]
pub(in crate::automaton) struct CanonicalScratch {
    pub(in crate::automaton) words: Vec<u32>,
    /// The states met so far, in the order in which they were met.
    pub(in crate::automaton) met: Interner<StateId>,
    pub(in crate::automaton) products: SmallVec<[u32; 2]>,
    /// The first states of configurations whose forms could not be written after more than `WORDS_IN_VAIN` words.
    pub(in crate::automaton) in_vain: FxHashSet<StateId>,
}
