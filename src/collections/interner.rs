//! Hash-consing tables: equal values get equal ids. Ids count from 0 in the order of first appearance.

use super::heap::table_bytes;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{BuildHasher, BuildHasherDefault, Hash};

/// The hasher for values that no outside party chooses.
type Fixed = BuildHasherDefault<FxHasher>;

/// Interned values, one `T` each. Tables for values that outside parties choose use a hasher with a random key.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T, S = Fixed> {
    values: Vec<T>,
    ids: HashTable<u32>,
    hasher: S,
}

impl<T, S: Default> Default for Interner<T, S> {
    fn default() -> Interner<T, S> {
        Interner { values: Vec::new(), ids: HashTable::new(), hasher: S::default() }
    }
}

impl<T, S> Interner<T, S> {
    /// Removes all values and keeps the allocations.
    pub(crate) fn clear(&mut self) {
        self.values.clear();
        self.ids.clear();
    }

    /// Adds a value that [`intern`](Interner::intern) does not find, and returns its id. For ids with a meaning of
    /// their own.
    pub(crate) fn reserve(&mut self, value: T) -> u32 {
        self.values.push(value);
        self.values.len() as u32 - 1
    }

    pub(crate) fn get(&self, id: u32) -> &T {
        &self.values[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Bytes on the heap, without the memory that the values own.
    pub(crate) fn memory_usage(&self) -> usize {
        self.values.capacity() * size_of::<T>() + table_bytes::<u32>(self.ids.capacity())
    }
}

impl<T: Eq + Hash, S: BuildHasher> Interner<T, S> {
    pub(crate) fn intern(&mut self, value: T) -> u32 {
        let (values, hasher) = (&mut self.values, &self.hasher);
        let hash = hasher.hash_one(&value);
        if let Some(&id) = self.ids.find(hash, |&id| values[id as usize] == value) {
            return id;
        }
        let id = values.len() as u32;
        values.push(value);
        self.ids.insert_unique(hash, id, |&id| hasher.hash_one(&values[id as usize]));
        id
    }
}

/// Interned slices in one list. A slice may have a head of a fixed size; slices are equal if their heads and their
/// items are equal.
#[derive(Clone, Debug)]
pub(crate) struct SliceInterner<T, H = (), S = Fixed> {
    items: Vec<T>,
    /// The end of each slice, and its head. A slice begins at the end of the one before.
    slices: Vec<(u32, H)>,
    ids: HashTable<u32>,
    hasher: S,
}

impl<T, H, S: Default> Default for SliceInterner<T, H, S> {
    fn default() -> SliceInterner<T, H, S> {
        SliceInterner { items: Vec::new(), slices: Vec::new(), ids: HashTable::new(), hasher: S::default() }
    }
}

/// The items of the slice with the id `id`.
#[inline]
fn slice_of<'a, T, H>(items: &'a [T], slices: &[(u32, H)], id: u32) -> &'a [T] {
    let start = if id == 0 { 0 } else { slices[id as usize - 1].0 as usize };
    &items[start..slices[id as usize].0 as usize]
}

impl<T: Copy + Eq + Hash, H: Copy + Eq + Hash, S: BuildHasher + Default> SliceInterner<T, H, S> {
    /// An empty table with room for about `count` slices of one item on average.
    pub(crate) fn with_capacity(count: usize) -> SliceInterner<T, H, S> {
        SliceInterner {
            items: Vec::with_capacity(count),
            slices: Vec::with_capacity(count),
            // a full table has eight buckets for seven entries
            ids: HashTable::with_capacity(count / 8 * 7),
            hasher: S::default(),
        }
    }

    /// Adds a slice that `intern_with` does not find, and returns its id. For ids with a meaning of their own.
    pub(crate) fn reserve(&mut self, head: H, items: &[T]) -> u32 {
        self.items.extend_from_slice(items);
        self.slices.push((self.items.len() as u32, head));
        self.slices.len() as u32 - 1
    }

    pub(crate) fn intern_with(&mut self, head: H, slice: &[T]) -> u32 {
        let hash = self.hasher.hash_one((slice, head));
        let (items, slices) = (&self.items, &self.slices);
        let same = |&id: &u32| slice_of(items, slices, id) == slice && slices[id as usize].1 == head;
        if let Some(&id) = self.ids.find(hash, same) {
            return id;
        }
        let id = self.reserve(head, slice);
        let (items, slices, hasher) = (&self.items, &self.slices, &self.hasher);
        let again = |&id: &u32| hasher.hash_one((slice_of(items, slices, id), slices[id as usize].1));
        self.ids.insert_unique(hash, id, again);
        id
    }

    pub(crate) fn get(&self, id: u32) -> &[T] {
        slice_of(&self.items, &self.slices, id)
    }

    pub(crate) fn head(&self, id: u32) -> H {
        self.slices[id as usize].1
    }

    pub(crate) fn len(&self) -> usize {
        self.slices.len()
    }

    /// The number of items of all slices.
    pub(crate) fn item_count(&self) -> usize {
        self.items.len()
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.items.capacity() * size_of::<T>()
            + self.slices.capacity() * size_of::<(u32, H)>()
            + table_bytes::<u32>(self.ids.capacity())
    }
}

impl<T: Copy + Eq + Hash, S: BuildHasher + Default> SliceInterner<T, (), S> {
    pub(crate) fn intern(&mut self, slice: &[T]) -> u32 {
        self.intern_with((), slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashbrown::DefaultHashBuilder;

    #[test]
    fn equal_values_have_equal_ids_in_the_order_in_which_they_came() {
        let mut values: Interner<String, DefaultHashBuilder> = Interner::default();
        assert_eq!(values.reserve("1".to_owned()), 0);
        let ids: Vec<u32> = (0..200).map(|number| values.intern((number % 100).to_string())).collect();
        assert_eq!(ids, (1..=100).chain(1..=100).collect::<Vec<_>>());
        assert!((1..=100).all(|id| *values.get(id) == (id - 1).to_string()) && values.len() == 101);
        assert!(values.memory_usage() >= 101 * size_of::<String>() + 100 * size_of::<u32>());
    }

    #[test]
    fn slices_are_equal_with_their_heads() {
        let mut slices: SliceInterner<u8, bool> = SliceInterner::with_capacity(16);
        assert_eq!([slices.reserve(false, &[]), slices.intern_with(false, &[])], [0, 1]);
        let mut ids = Vec::new();
        for (length, head) in (0..300).map(|number| (number % 50, number % 100 < 50)) {
            ids.push(slices.intern_with(head, &vec![7; length]));
        }
        assert!(ids[..100] == ids[100..200] && ids[..100] == ids[200..] && slices.len() == 101);
        for (place, &id) in ids.iter().enumerate() {
            assert_eq!((slices.get(id), slices.head(id)), (&vec![7; place % 50][..], place % 100 < 50));
        }
    }
}
