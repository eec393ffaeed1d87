//! Interned sets of texts that grow: hash-consed tries.
//!
//! A set is a node: whether it has the empty text, and per first byte the set of the rests. So sets share what they have
//! in common, a set stays what it is while others grow from it, equal sets have equal ids, and to read on in all texts of
//! a set at once is to go to a child.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// The id of a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct SetId(u32);

impl SetId {
    /// The set without texts.
    pub(crate) const EMPTY: SetId = SetId(0);
}

#[derive(Clone, Copy, Debug)]
struct Node {
    /// The children end here; they begin where those of the node before end.
    end: u32,
    has_empty: bool,
}

/// The table of sets.
#[derive(Clone, Debug, Default)]
pub(crate) struct StringSets {
    /// Of the sets other than the empty one.
    nodes: Vec<Node>,
    children: Vec<(u8, SetId)>,
    ids: HashTable<u32>,
    /// With a random key: the texts come from outside.
    hasher: DefaultHashBuilder,
}

fn children_of<'a>(nodes: &[Node], children: &'a [(u8, SetId)], id: u32) -> &'a [(u8, SetId)] {
    let end = |id: u32| id.checked_sub(1).map_or(0, |place| nodes[place as usize].end as usize);
    &children[end(id.saturating_sub(1))..end(id)]
}

impl StringSets {
    fn intern(&mut self, has_empty: bool, children: &[(u8, SetId)]) -> SetId {
        if !has_empty && children.is_empty() {
            return SetId::EMPTY;
        }
        let (nodes, all) = (&self.nodes, &self.children);
        let same = |&id: &u32| {
            nodes[id as usize - 1].has_empty == has_empty && children_of(nodes, all, id) == children
        };
        let hash = self.hasher.hash_one((has_empty, children));
        if let Some(&id) = self.ids.find(hash, same) {
            return SetId(id);
        }
        let id = self.nodes.len() as u32 + 1;
        self.children.extend_from_slice(children);
        self.nodes.push(Node { end: self.children.len() as u32, has_empty });
        let (nodes, all, hasher) = (&self.nodes, &self.children, &self.hasher);
        let again =
            |&id: &u32| hasher.hash_one((nodes[id as usize - 1].has_empty, children_of(nodes, all, id)));
        self.ids.insert_unique(hash, id, again);
        SetId(id)
    }

    /// The rests by first byte.
    pub(crate) fn children(&self, set: SetId) -> &[(u8, SetId)] {
        children_of(&self.nodes, &self.children, set.0)
    }

    /// Whether the empty text is in a set.
    pub(crate) fn has_empty(&self, set: SetId) -> bool {
        set.0.checked_sub(1).is_some_and(|place| self.nodes[place as usize].has_empty)
    }

    /// What is left of the texts that begin with some bytes.
    pub(crate) fn after(&self, set: SetId, bytes: &[u8]) -> SetId {
        bytes.iter().fold(set, |set, byte| {
            let children = self.children(set);
            let place = children.binary_search_by_key(byte, |child| child.0);
            place.map_or(SetId::EMPTY, |place| children[place].1)
        })
    }

    /// The set with one more text.
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
        self.nodes.capacity() * size_of::<Node>() + self.children.capacity() * 8 + self.ids.capacity() * 5
    }
}
