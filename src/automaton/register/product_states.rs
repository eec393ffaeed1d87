//! Interned product states, and the known facts about their completions.

use crate::automaton::run::configuration::{ConfigurationId, Item};
use crate::automaton::run::frame_value::ProductStateId;
use crate::collections::heap::{map_bytes, table_bytes};
use crate::collections::interner::SliceInterner;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// The number of recent completions that are kept per product and tried on further product states before a search.
pub(in crate::automaton) const COMPLETIONS: usize = 8;

/// A word that completes a product state.
pub(in crate::automaton) type Word = SmallVec<[u8; 8]>;

/// The configurations of a product's operands.
pub(in crate::automaton) type ProductState = SmallVec<[ConfigurationId; 8]>;

/// Interned product states, and which of them can be completed.
#[derive(Debug, Default)]
pub(in crate::automaton) struct ProductStates {
    /// Per product state, the configurations of its operands.
    states: SliceInterner<ConfigurationId>,
    /// Per product and product state, the length in bytes of some non-empty word that leads to acceptance; `None` if
    /// there is none.
    pub(in crate::automaton) co_accessible: FxHashMap<(u32, ProductStateId), Option<u32>>,
    /// Per product, the completion radius: the greatest length in `co_accessible` so far, or a greater length that was
    /// found in another grammar.
    completion_radius: FxHashMap<u32, u32>,
    /// The products of which a product state was widened with the completion radius known then.
    widened: FxHashSet<u32>,
    /// How often the completion radius of a product in `widened` has increased.
    pub(in crate::automaton) radius_epoch: usize,
    /// Per product, the last [`COMPLETIONS`] words found that complete a product state and have at most
    /// [`LONGEST_TRIED`] bytes, the most recent first.
    pub(in crate::automaton) completions: FxHashMap<u32, VecDeque<Word>>,
    /// Per item of an operand, a lower bound on the number of bytes after which the item accepts.
    pub(in crate::automaton) least: FxHashMap<Item, u32>,
}

impl ProductStates {
    pub(in crate::automaton) fn intern(&mut self, tuple: &[ConfigurationId]) -> ProductStateId {
        ProductStateId(self.states.intern(tuple))
    }

    pub(in crate::automaton) fn get(&self, tuple: ProductStateId) -> &[ConfigurationId] {
        self.states.get(tuple.0)
    }

    /// The number of operands of all product states.
    pub(in crate::automaton) fn operand_count(&self) -> usize {
        self.states.item_count()
    }

    /// The completion radius of a product, in bytes; 0 before a completion is known.
    pub(in crate::automaton) fn completion_radius(&self, l: u32) -> u32 {
        self.completion_radius.get(&l).copied().unwrap_or(0)
    }

    /// Stores a word that completes a product state, to be tried on further product states.
    pub(in crate::automaton) fn keep(&mut self, l: u32, word: Word) {
        let words = self.completions.entry(l).or_default();
        words.truncate(COMPLETIONS - 1);
        words.push_front(word);
    }

    pub(in crate::automaton) fn completed(&mut self, l: u32, tuple: ProductStateId, bytes: u32) {
        self.co_accessible.insert((l, tuple), Some(bytes));
        self.raise_completion_radius(l, bytes);
    }

    /// Records that a product state of a product was widened with the current completion radius.
    pub(in crate::automaton) fn record_widening(&mut self, l: u32) {
        self.widened.insert(l);
    }

    /// Raises the completion radius of a product to at least `bytes`.
    pub(in crate::automaton) fn raise_completion_radius(&mut self, l: u32, bytes: u32) {
        let completion_radius = self.completion_radius.entry(l).or_insert(0);
        if *completion_radius < bytes {
            *completion_radius = bytes;
            // nothing else depends on the radius
            self.radius_epoch += usize::from(self.widened.contains(&l));
        }
    }

    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.states.memory_usage()
            + map_bytes(&self.co_accessible)
            + map_bytes(&self.completion_radius)
            + table_bytes::<u32>(self.widened.capacity())
            + self.completions.len() * COMPLETIONS * (size_of::<Word>() + LONGEST_TRIED)
            + map_bytes(&self.least)
    }
}

/// Longer words, in bytes, are not tried on other product states.
pub(in crate::automaton) const LONGEST_TRIED: usize = 64;
