//! What is known of parts by their shapes: grammars for one vocabulary have strings, numbers and dates in common, and what
//! one of them has found out the next need not.

use super::compute::{Facts, Spot};
use crate::automaton::Shape;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// So many bytes are kept at most.
const MOST_BYTES: usize = 32 << 20;

/// Of what something is known: a shape, and the tokens that it is about.
pub(super) type Known = (Shape, Spot);

/// What is known, by shape. Once half of the room is full, what is not asked for until the other half is full is
/// dropped.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<Halves>);

#[derive(Debug, Default)]
struct Halves {
    young: FxHashMap<Known, Option<Arc<Facts>>>,
    old: FxHashMap<Known, Option<Arc<Facts>>>,
    /// Of the young ones.
    bytes: usize,
}

impl Shared {
    /// What is known, if it is: facts, or that the part is not kept by itself.
    pub(super) fn get(&self, known: &Known) -> Option<Option<Arc<Facts>>> {
        let mut halves = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = halves.young.get(known) {
            return Some(facts.clone());
        }
        let (known, facts) = halves.old.remove_entry(known)?;
        halves.insert(known, facts.clone());
        Some(facts)
    }

    pub(super) fn insert(&self, known: Known, facts: Option<Arc<Facts>>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(known, facts);
    }
}

impl Halves {
    fn insert(&mut self, known: Known, facts: Option<Arc<Facts>>) {
        let bytes = facts.as_ref().map_or(0, |facts| facts.memory_usage());
        self.bytes += bytes + known.0.memory_usage() + 2 * size_of::<(Known, Option<Arc<Facts>>)>();
        if self.bytes > MOST_BYTES / 2 {
            self.bytes = 0;
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(known, facts);
    }
}
