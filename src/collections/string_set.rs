//! Interned sets of strings that grow: hash-consed tries.
//!
//! A set is a node: whether it contains the empty string, and per first byte the set of the suffixes. So sets share
//! their common parts, a set stays unchanged while others grow from it, and equal sets have equal ids. Reading a byte
//! in all strings of a set is moving to a child.

use super::interner::SliceInterner;
use hashbrown::DefaultHashBuilder;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SetId(u32);

impl SetId {
    /// The set without strings, not even the empty string.
    pub(crate) const EMPTY: SetId = SetId(0);
}

/// The table of sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringSets {
    /// The sets other than the empty one: the children, and whether the set contains the empty string. Outside parties
    /// choose the strings, so the hasher has a random key.
    nodes: SliceInterner<(u8, SetId), bool, DefaultHashBuilder>,
}

impl StringSets {
    fn intern(&mut self, has_empty: bool, children: &[(u8, SetId)]) -> SetId {
        match !has_empty && children.is_empty() {
            true => SetId::EMPTY,
            false => SetId(1 + self.nodes.intern_with(has_empty, children)),
        }
    }

    /// Per first byte of the strings of a set, in ascending order: the set of the rests of the strings after that byte.
    pub(crate) fn children(&self, set: SetId) -> &[(u8, SetId)] {
        set.0.checked_sub(1).map_or(&[], |node| self.nodes.get(node))
    }

    /// Whether a set contains the empty string.
    pub(crate) fn has_empty(&self, set: SetId) -> bool {
        set.0.checked_sub(1).is_some_and(|node| self.nodes.head(node))
    }

    /// The set of the rests after `bytes` of the strings that begin with `bytes`.
    pub(crate) fn after(&self, set: SetId, bytes: &[u8]) -> SetId {
        bytes.iter().fold(set, |set, byte| {
            let children = self.children(set);
            let place = children.binary_search_by_key(byte, |child| child.0);
            place.map_or(SetId::EMPTY, |place| children[place].1)
        })
    }

    /// The set with the strings of `set` and the string `text`.
    pub(crate) fn with(&mut self, set: SetId, text: &[u8]) -> SetId {
        let mut path = vec![set];
        for end in 1..=text.len() {
            path.push(self.after(path[end - 1], &text[end - 1..end]));
        }
        let last = path.pop().unwrap_or_default();
        let children = self.children(last).to_vec();
        let mut new = self.intern(true, &children);
        for (&before, &byte) in path.iter().zip(text).rev() {
            let mut children = self.children(before).to_vec();
            match children.binary_search_by_key(&byte, |child| child.0) {
                Ok(place) => children[place].1 = new,
                Err(place) => children.insert(place, (byte, new)),
            }
            new = self.intern(self.has_empty(before), &children);
        }
        new
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.nodes.memory_usage()
    }
}
