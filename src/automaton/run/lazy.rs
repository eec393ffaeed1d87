//! An automaton together with its cache: the lazily determinised automaton.

use super::cache::Cache;
use crate::automaton::program::automaton::Automaton;
use crate::error::Result;
use crate::work::Budget;
use std::ops::{Deref, DerefMut};

/// An automaton with its cache, as in `regex-automata`'s lazy DFA. Steps and closures are methods of this pair, so that
/// no automaton runs in the cache of another. A `Lazy` dereferences to the cache for queries of existing data.
///
/// Methods that compute fail with `limit/exceeded` if a limit such as `cache_bytes` or `lockstep_search`, or the budget
/// of work, is exceeded. Private functions below them do not repeat this.
#[derive(Debug)]
pub struct Lazy<'a> {
    pub(crate) automaton: &'a Automaton,
    pub(crate) cache: &'a mut Cache,
}

impl<'a> Lazy<'a> {
    /// Runs an automaton in a cache that is empty or was used only with this automaton.
    pub fn new(automaton: &'a Automaton, cache: &'a mut Cache) -> Lazy<'a> {
        Lazy { automaton, cache }
    }

    /// Runs `compute` with an empty cache that is dropped afterwards. The work is taken from `budget`, also if
    /// `compute` fails.
    pub(in crate::automaton) fn within<T>(
        automaton: &Automaton,
        budget: &Budget,
        compute: impl FnOnce(&mut Lazy<'_>) -> Result<T>,
    ) -> Result<T> {
        let mut cache = Cache::new();
        cache.work = budget.clone();
        let result = compute(&mut Lazy::new(automaton, &mut cache));
        budget.settle(&cache.work);
        result
    }
}

impl Deref for Lazy<'_> {
    type Target = Cache;

    #[inline]
    fn deref(&self) -> &Cache {
        self.cache
    }
}

impl DerefMut for Lazy<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Cache {
        self.cache
    }
}
