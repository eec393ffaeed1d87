//! The records and partitions of residuals by shape. Grammars for one vocabulary share strings, numbers and dates, so
//! what one grammar has computed need not be computed again for the next.

use crate::automaton::CanonicalForm;
use crate::mask::tuning::{FREED_AT_ONCE, SHARED_BYTES};
use crate::mask::walk::collected::TrieScope;
use hashbrown::{DefaultHashBuilder, HashTable, hash_table};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is known of a shape.
pub(in crate::mask) trait OfShape {
    /// Bytes, including the struct itself.
    fn memory_usage(&self) -> usize;
}

/// The key of a record: the shape of a residual, and the tokens that the record covers.
pub(in crate::mask) type Known = (CanonicalForm, TrieScope);

/// A cache with two generations. When the younger one exceeds half of [`SHARED_BYTES`], it becomes the older one, and
/// the entries that are still in the older one are dropped. Using an entry moves it to the younger one.
#[derive(Debug)]
pub(in crate::mask) struct ShapeCache<T> {
    /// Outside parties choose the shapes, so the hasher has a random key.
    hasher: DefaultHashBuilder,
    generations: Mutex<Generations<T>>,
}

/// A key with its record, or with `None` for a residual that has no record of its own.
#[derive(Debug)]
struct Entry<T> {
    /// The hash of the key. It is stored because shapes are long and a growing hash table needs the hashes of all
    /// entries.
    hash: u64,
    known: Known,
    facts: Option<Arc<T>>,
}

#[derive(Debug)]
struct Generations<T> {
    young: HashTable<Entry<T>>,
    old: HashTable<Entry<T>>,
    /// Dropped entries that are still to be freed.
    dropped: hash_table::IntoIter<Entry<T>>,
    /// Bytes of the young entries.
    bytes: usize,
}

impl<T> Default for ShapeCache<T> {
    fn default() -> ShapeCache<T> {
        ShapeCache { hasher: DefaultHashBuilder::default(), generations: Mutex::default() }
    }
}

impl<T> Default for Generations<T> {
    fn default() -> Generations<T> {
        let (young, old) = (HashTable::new(), HashTable::new());
        Generations { young, old, dropped: HashTable::new().into_iter(), bytes: 0 }
    }
}

impl<T: OfShape> ShapeCache<T> {
    /// Looks up a key. The inner `None` means that the residual has no record of its own.
    pub(in crate::mask) fn get(&self, known: &Known) -> Option<Option<Arc<T>>> {
        let hash = self.hasher.hash_one(known);
        let is_it = |entry: &Entry<T>| entry.hash == hash && entry.known == *known;
        let mut generations = self.lock();
        if let Some(entry) = generations.young.find(hash, is_it) {
            return Some(entry.facts.clone());
        }
        let (entry, _) = generations.old.find_entry(hash, is_it).ok()?.remove();
        let facts = entry.facts.clone();
        generations.insert(entry);
        Some(facts)
    }

    /// Drops all entries. Their records are computed again when needed.
    pub(in crate::mask) fn clear(&self) {
        // freed after the lock is released
        let _halves = std::mem::take(&mut *self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, Generations<T>> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores a record, or `None` for a residual without a record of its own. Replaces an entry with the same key.
    pub(in crate::mask) fn insert(&self, known: Known, facts: Option<Arc<T>>) {
        let hash = self.hasher.hash_one(&known);
        self.lock().insert(Entry { hash, known, facts });
    }
}

impl<T: OfShape> Generations<T> {
    fn insert(&mut self, entry: Entry<T>) {
        let bytes = entry.facts.as_ref().map_or(0, |facts| facts.memory_usage());
        self.bytes += bytes + entry.known.0.memory_usage() + 2 * size_of::<Entry<T>>();
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
