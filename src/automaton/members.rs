//! Member lists at run time: which members were seen is a register, the value of the list's frame.
//!
//! In declared order the value is the place of the first member that may still come. In any order it is the
//! id of an interned set of seen members. A key is read along a trie; a branch of the trie is open only if
//! some member below it may still come, so no prefix is offered that cannot be finished.

use super::Automaton;
use super::closure::Closure;
use super::stack::{Frame, StackId};
use super::state::{Members, StateId};
use super::table::Tables;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Interned sets of seen members; id 0 is the empty set.
#[derive(Debug)]
pub(super) struct SeenSets {
    sets: Vec<FixedBitSet>,
    ids: FxHashMap<FixedBitSet, u32>,
    bytes: usize,
}

impl SeenSets {
    pub(super) fn new() -> SeenSets {
        let mut sets = SeenSets { sets: Vec::new(), ids: FxHashMap::default(), bytes: 0 };
        sets.intern(FixedBitSet::new());
        sets
    }

    fn intern(&mut self, set: FixedBitSet) -> u32 {
        if let Some(&id) = self.ids.get(&set) {
            return id;
        }
        let id = self.sets.len() as u32;
        self.bytes += 2 * (set.len().div_ceil(8) + 40);
        self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }

    fn with(&mut self, id: u32, member: u32) -> u32 {
        let mut set = self.sets[id as usize].clone();
        // grown to a multiple of 64 bits, so that equal sets are equal whichever member came last
        set.grow((member as usize + 1).next_multiple_of(64));
        set.insert(member as usize);
        self.intern(set)
    }

    fn contains(&self, id: u32, member: u32) -> bool {
        self.sets[id as usize].contains(member as usize)
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.bytes
    }
}

impl Tables {
    /// Whether `member` may come next.
    fn may_come(&self, list: &Members, value: u32, member: u32) -> bool {
        if list.any_order {
            !self.seen.contains(value, member)
        } else {
            member >= value && list.next_required[value as usize] >= member
        }
    }

    /// Whether any of the sorted `members` may come next.
    fn any_may_come(&self, list: &Members, value: u32, members: &[u32]) -> bool {
        if list.any_order {
            members.iter().any(|&m| !self.seen.contains(value, m))
        } else {
            // those that may come are an interval: from the first not passed to the next required one
            let from = members.partition_point(|&m| m < value);
            members.get(from).is_some_and(|&m| m <= list.next_required[value as usize])
        }
    }

    fn after_member(&mut self, list: &Members, value: u32, member: u32) -> u32 {
        if list.any_order { self.seen.with(value, member) } else { member + 1 }
    }

    /// The value after a further member, if one may come.
    fn after_rest(&self, list: &Members, value: u32) -> Option<u32> {
        let end = list.values.len() as u32;
        if list.any_order { Some(value) } else { (list.next_required[value as usize] == end).then_some(end) }
    }

    /// Whether all required members were seen.
    fn is_complete(&self, list: &Members, value: u32) -> bool {
        if list.any_order {
            let set = &self.seen.sets[value as usize];
            set.ones().filter(|&m| list.required[m]).count() as u32 == list.required_count
        } else {
            list.next_required[value as usize] == list.values.len() as u32
        }
    }

    pub(super) fn enter_members(
        &mut self,
        automaton: &Automaton,
        closure: &mut Closure,
        m: u32,
        stack: StackId,
    ) {
        let list = &automaton.members[m as usize];
        self.begin_member(automaton, closure, list, 0, stack);
    }

    /// Offers the keys and the rest that may come with `value`.
    fn begin_member(
        &mut self,
        a: &Automaton,
        closure: &mut Closure,
        list: &Members,
        value: u32,
        below: StackId,
    ) {
        if self.any_may_come(list, value, &list.keys[0].members) {
            let stack = self.stacks.push(list.to_return, value, below);
            self.add(closure, list.root, stack);
        }
        if let (Some(rest), Some(after)) = (list.rest, self.after_rest(list, value)) {
            let stack = self.stacks.push(list.to_return, after, below);
            self.call(a, closure, rest, stack);
        }
    }

    pub(super) fn next_member(
        &mut self,
        automaton: &Automaton,
        closure: &mut Closure,
        m: u32,
        stack: StackId,
    ) {
        let list = &automaton.members[m as usize];
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            self.begin_member(automaton, closure, list, frame.value, frame.below);
        }
    }

    /// A member is done: leave the list if it is complete, go on to the separator if another may come.
    pub(super) fn end_member(&mut self, automaton: &Automaton, closure: &mut Closure, m: u32, frame: Frame) {
        let list = &automaton.members[m as usize];
        if self.is_complete(list, frame.value) {
            self.add(closure, list.exit, frame.below);
        }
        let rest = list.rest.is_some() && self.after_rest(list, frame.value).is_some();
        if rest || self.any_may_come(list, frame.value, &list.keys[0].members) {
            let stack = self.stacks.push(list.to_return, frame.value, frame.below);
            self.add(closure, list.separator, stack);
        }
    }

    /// One byte of a key.
    pub(super) fn step_key(
        &mut self,
        automaton: &Automaton,
        closure: &mut Closure,
        (m, node): (u32, u32),
        byte: u8,
        stack: StackId,
    ) {
        let list = &automaton.members[m as usize];
        let edges = &list.keys[node as usize].edges;
        let Ok(found) = edges.binary_search_by_key(&byte, |edge| edge.0) else { return };
        let child = edges[found].1;
        let key = &list.keys[child as usize];
        let mut open: smallvec::SmallVec<[Frame; 4]> = smallvec::SmallVec::new();
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            if !key.edges.is_empty() && self.any_may_come(list, frame.value, &key.members) {
                open.push(frame);
            }
            if let Some(member) = key.terminal.filter(|&t| self.may_come(list, frame.value, t)) {
                let value = self.after_member(list, frame.value, member);
                let stack = self.stacks.push(list.to_return, value, frame.below);
                self.add(closure, list.values[member as usize], stack);
            }
        }
        if !open.is_empty() {
            let stack = self.stacks.intern(&open);
            self.add(closure, StateId(list.root.0 + child), stack);
        }
    }
}
