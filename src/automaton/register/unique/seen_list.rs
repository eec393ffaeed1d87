//! Values that a text may still become, followed one by one, as lists.
//!
//! A list is a cell: a value, and the list before it. Lists are interned and a list keeps what is left of it after a
//! byte, so where one more value came, only that one has to be examined: what is left of the others is known from the
//! list before.

use crate::json::comparison::Comparison;
use crate::json::value::Values;
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// The id of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct ListId(u32);

impl ListId {
    /// The empty list.
    pub(super) const EMPTY: ListId = ListId(0);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Cons {
    before: ListId,
    comparison: u32,
}

/// What is true of some value of a list.
#[derive(Clone, Copy, Debug, Default)]
struct About {
    /// It was read whole.
    is_equal: bool,
    /// It is a number whose exponent is being read.
    in_exponent: bool,
    /// It is not the same to a search.
    needs_widening: bool,
}

/// The table of lists.
#[derive(Debug)]
pub(super) struct SeenLists {
    comparisons: Vec<Comparison>,
    comparison_ids: HashTable<u32>,
    /// Cells, and what is true of the list that ends there; the first one stands for the empty list.
    cells: Vec<(Cons, About)>,
    ids: FxHashMap<Cons, ListId>,
    next: FxHashMap<(ListId, u8), ListId>,
    bytes: usize,
}

impl Default for SeenLists {
    fn default() -> SeenLists {
        let none = Cons { before: ListId::EMPTY, comparison: 0 };
        SeenLists {
            comparisons: Vec::new(),
            comparison_ids: HashTable::new(),
            cells: vec![(none, About::default())],
            ids: FxHashMap::default(),
            next: FxHashMap::default(),
            bytes: 0,
        }
    }
}

impl SeenLists {
    fn intern(&mut self, comparison: Comparison) -> u32 {
        let hash = FxBuildHasher.hash_one(&comparison);
        let comparisons = &mut self.comparisons;
        if let Some(&id) = self.comparison_ids.find(hash, |&id| comparisons[id as usize] == comparison) {
            return id;
        }
        let id = comparisons.len() as u32;
        self.bytes += comparison.heap_bytes();
        comparisons.push(comparison);
        self.comparison_ids.insert_unique(hash, id, |&id| FxBuildHasher.hash_one(&comparisons[id as usize]));
        id
    }

    /// A list with one more value.
    pub(super) fn with(&mut self, values: &Values, before: ListId, comparison: Comparison) -> ListId {
        let comparison = self.intern(comparison);
        let cell = Cons { before, comparison };
        if let Some(&known) = self.ids.get(&cell) {
            return known;
        }
        let one = &self.comparisons[comparison as usize];
        let others = self.cells[before.0 as usize].1;
        let about = About {
            is_equal: others.is_equal || one.is_equal(values),
            in_exponent: others.in_exponent || one.is_in_exponent(),
            needs_widening: others.needs_widening || one.needs_widening(),
        };
        let id = ListId(self.cells.len() as u32);
        self.cells.push((cell, about));
        self.ids.insert(cell, id);
        id
    }

    /// The list of what may still be after one more byte.
    pub(super) fn after(&mut self, values: &Values, list: ListId, byte: u8) -> ListId {
        let mut unknown = Vec::new();
        let mut at = list;
        let mut left = loop {
            if at == ListId::EMPTY {
                break ListId::EMPTY;
            }
            if let Some(&known) = self.next.get(&(at, byte)) {
                break known;
            }
            unknown.push(at);
            at = self.cells[at.0 as usize].0.before;
        };
        while let Some(list) = unknown.pop() {
            let mut one = self.comparisons[self.cells[list.0 as usize].0.comparison as usize].clone();
            if one.add(values, byte) {
                left = self.with(values, left, one);
            }
            self.next.insert((list, byte), left);
        }
        left
    }

    /// Whether the text is a whole spelling of one of the values.
    pub(super) fn is_equal(&self, list: ListId) -> bool {
        self.cells[list.0 as usize].1.is_equal
    }

    /// Whether the text stands in the exponent of one of the values.
    pub(super) fn is_in_exponent(&self, list: ListId) -> bool {
        self.cells[list.0 as usize].1.in_exponent
    }

    /// The same for all numbers of zeros beyond a bound, so that a search which meets nothing but zeros ends.
    pub(super) fn widened(&mut self, values: &Values, list: ListId) -> ListId {
        let mut fine = Vec::new();
        let mut at = list;
        while self.cells[at.0 as usize].1.needs_widening {
            let cell = self.cells[at.0 as usize].0;
            fine.push(cell.comparison);
            at = cell.before;
        }
        while let Some(one) = fine.pop() {
            let widened = self.comparisons[one as usize].widened();
            at = self.with(values, at, widened);
        }
        at
    }

    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        self.comparisons.capacity() * size_of::<Comparison>()
            + self.bytes
            + self.comparison_ids.capacity() * 5
            + self.cells.capacity() * size_of::<(Cons, About)>()
            + self.ids.capacity() * (size_of::<(Cons, ListId)>() + 1)
            + self.next.capacity() * (size_of::<((ListId, u8), ListId)>() + 1)
    }
}
