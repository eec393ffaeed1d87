//! Lists of the values that a text may still become, tracked one by one.
//!
//! A list is a cell: a value, and the list before it. Lists are interned, and the list that remains after a byte is
//! cached. So if one value is added, only that value must be examined: the rest is known from the list before.

use crate::collections::heap::map_bytes;
use crate::collections::interner::Interner;
use crate::json::comparison::Comparison;
use crate::json::value::Values;
use rustc_hash::FxHashMap;

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

/// Properties that hold for some value of a list.
#[derive(Clone, Copy, Debug, Default)]
struct About {
    /// The text read so far is a complete spelling of the value.
    is_equal: bool,
    /// The value is a number whose exponent is being read.
    in_exponent: bool,
    /// The value is a number with more zeros than searches distinguish: `widened` merges it with others.
    needs_widening: bool,
}

/// The table of interned lists of values.
#[derive(Debug)]
pub(super) struct SeenLists {
    comparisons: Interner<Comparison>,
    /// The first cell represents the empty list.
    cells: Interner<Cons>,
    /// Per cell, the properties of the list whose last value is in the cell.
    about: Vec<About>,
    next: FxHashMap<(ListId, u8), ListId>,
    bytes: usize,
}

impl Default for SeenLists {
    fn default() -> SeenLists {
        let mut cells = Interner::default();
        cells.reserve(Cons { before: ListId::EMPTY, comparison: 0 });
        SeenLists {
            comparisons: Interner::default(),
            cells,
            about: vec![About::default()],
            next: FxHashMap::default(),
            bytes: 0,
        }
    }
}

impl SeenLists {
    fn intern(&mut self, comparison: Comparison) -> u32 {
        let (next, bytes) = (self.comparisons.len() as u32, comparison.heap_bytes());
        let id = self.comparisons.intern(comparison);
        if id == next {
            self.bytes += bytes;
        }
        id
    }

    /// The list `before` with one more value.
    pub(super) fn with(&mut self, values: &Values, before: ListId, comparison: Comparison) -> ListId {
        let comparison = self.intern(comparison);
        let id = ListId(self.cells.intern(Cons { before, comparison }));
        if id.0 as usize == self.about.len() {
            let (one, others) = (self.comparisons.get(comparison), self.about[before.0 as usize]);
            self.about.push(About {
                is_equal: others.is_equal || one.is_equal(values),
                in_exponent: others.in_exponent || one.is_in_exponent(),
                needs_widening: others.needs_widening || one.needs_widening(),
            });
        }
        id
    }

    /// The list of the values that the text may still become after one more byte.
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
            at = self.cells.get(at.0).before;
        };
        while let Some(list) = unknown.pop() {
            let mut one = self.comparisons.get(self.cells.get(list.0).comparison).clone();
            if one.add(values, byte) {
                left = self.with(values, left, one);
            }
            self.next.insert((list, byte), left);
        }
        left
    }

    /// Whether the text read so far is a complete spelling of one of the values.
    pub(super) fn is_equal(&self, list: ListId) -> bool {
        self.about[list.0 as usize].is_equal
    }

    /// Whether the text read so far ends in the exponent of one of the values.
    pub(super) fn is_in_exponent(&self, list: ListId) -> bool {
        self.about[list.0 as usize].in_exponent
    }

    /// Merges all numbers with more zeros than a bound, so that a search that reads only zeros terminates.
    pub(super) fn widened(&mut self, values: &Values, list: ListId) -> ListId {
        let mut fine = Vec::new();
        let mut at = list;
        while self.about[at.0 as usize].needs_widening {
            let cell = *self.cells.get(at.0);
            fine.push(cell.comparison);
            at = cell.before;
        }
        while let Some(one) = fine.pop() {
            let widened = self.comparisons.get(one).widened();
            at = self.with(values, at, widened);
        }
        at
    }

    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        self.comparisons.memory_usage()
            + self.bytes
            + self.cells.memory_usage()
            + self.about.capacity() * size_of::<About>()
            + map_bytes(&self.next)
    }
}
