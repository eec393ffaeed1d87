//! What is known of parts by their shapes: grammars for one vocabulary have strings, numbers and dates in common, and what
//! one of them has found out the next need not.

use crate::automaton::CanonicalForm;
use crate::mask::compute::record::ResidualTokens;
use crate::mask::tuning::{FREED_AT_ONCE, SHARED_BYTES};
use crate::mask::walk::collected::TrieScope;
use hashbrown::{HashTable, hash_table};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, PoisonError};

/// Of what something is known: a shape, and the tokens that it is about.
pub(in crate::mask) type Known = (CanonicalForm, TrieScope);

/// What is known, by shape. Once half of the room is full, what is not asked for until the other half is full is
/// dropped.
#[derive(Debug, Default)]
pub(in crate::mask) struct ShapeCache(Mutex<Generations>);

/// Facts, or that the part is not kept by itself.
#[derive(Debug)]
struct Entry {
    /// Of what is known: shapes are long, and a table that grows asks for the hashes of all.
    hash: u64,
    known: Known,
    facts: Option<Arc<ResidualTokens>>,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashTable<Entry>,
    old: HashTable<Entry>,
    /// To be freed.
    dropped: hash_table::IntoIter<Entry>,
    /// Of the young ones.
    bytes: usize,
}

impl ShapeCache {
    /// What is known, if it is: facts, or that the part is not kept by itself.
    pub(in crate::mask) fn get(&self, known: &Known) -> Option<Option<Arc<ResidualTokens>>> {
        let hash = FxBuildHasher.hash_one(known);
        let is_it = |entry: &Entry| entry.known == *known;
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = generations.young.find(hash, is_it) {
            return Some(entry.facts.clone());
        }
        let (entry, _) = generations.old.find_entry(hash, is_it).ok()?.remove();
        let facts = entry.facts.clone();
        generations.insert(entry);
        Some(facts)
    }

    /// Lets all go.
    pub(in crate::mask) fn clear(&self) {
        // dropped after the lock is given back
        let _halves = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Keeps what was found out.
    pub(in crate::mask) fn insert(&self, known: Known, facts: Option<Arc<ResidualTokens>>) {
        let hash = FxBuildHasher.hash_one(&known);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(Entry { hash, known, facts });
    }
}

impl Generations {
    fn insert(&mut self, entry: Entry) {
        let bytes = entry.facts.as_ref().map_or(0, |facts| facts.memory_usage());
        self.bytes += bytes + entry.known.0.memory_usage() + 2 * size_of::<Entry>();
        if self.bytes > SHARED_BYTES / 2 {
            self.bytes = 0;
            let old = std::mem::replace(&mut self.old, std::mem::take(&mut self.young));
            self.dropped = old.into_iter();
        }
        self.dropped.by_ref().take(FREED_AT_ONCE).for_each(drop);
        match self.young.entry(entry.hash, |known| known.known == entry.known, |known| known.hash) {
            hash_table::Entry::Occupied(mut known) => *known.get_mut() = entry,
            hash_table::Entry::Vacant(free) => drop(free.insert(entry)),
        }
    }
}
