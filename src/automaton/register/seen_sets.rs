//! What frames of member lists remember: interned sets of seen members, and counts.

use crate::automaton::run::frame_value::FrameValue;
use crate::collections::heap::map_bytes;
use crate::collections::interner::Interner;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Interned sets of seen members; id 0 is the empty set.
#[derive(Debug, Default)]
pub(in crate::automaton) struct SeenSets {
    /// Those other than the empty one, which is 0.
    sets: Interner<FixedBitSet>,
    /// What the sets own.
    bytes: usize,
}

impl SeenSets {
    pub(in crate::automaton) fn get(&self, id: u32) -> &FixedBitSet {
        static EMPTY: FixedBitSet = FixedBitSet::new();
        id.checked_sub(1).map_or(&EMPTY, |place| self.sets.get(place))
    }

    pub(in crate::automaton) fn intern(&mut self, set: FixedBitSet) -> u32 {
        let (next, bytes) = (self.sets.len() as u32, size_of_val(set.as_slice()));
        let id = self.sets.intern(set);
        if id == next {
            self.bytes += bytes;
        }
        id + 1
    }

    pub(in crate::automaton) fn with(&mut self, id: u32, member: u32) -> u32 {
        let mut set = self.get(id).clone();
        // grown to a multiple of 64 bits, so that equal sets are equal whichever member came last
        set.grow((member as usize + 1).next_multiple_of(64));
        set.insert(member as usize);
        self.intern(set)
    }

    pub(in crate::automaton) fn contains(&self, id: u32, member: u32) -> bool {
        self.get(id).contains(member as usize)
    }

    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.sets.memory_usage() + self.bytes
    }
}

/// How far a member list has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct Progress {
    /// In declared order the place of the first member that may still come, in any order a set of seen members.
    pub(in crate::automaton) base: u32,
    /// How many members came, where they are counted; without an upper bound, counting ends at the lower one.
    pub(in crate::automaton) count: u32,
    /// How many further members came, where there are few names for them.
    pub(in crate::automaton) further: u32,
}

/// Interned [`Progress`] of the lists whose members are counted; id 0 is that of the beginning.
#[derive(Debug, Default)]
pub(in crate::automaton) struct Counted {
    /// Those other than that of the beginning.
    list: Interner<Progress>,
    /// Of the lists with conditions: whether they can be finished.
    pub(in crate::automaton) finished: FxHashMap<(u32, FrameValue), bool>,
}

impl Counted {
    pub(in crate::automaton) fn get(&self, id: u32) -> Progress {
        id.checked_sub(1).map_or(Progress::default(), |place| *self.list.get(place))
    }

    pub(in crate::automaton) fn intern(&mut self, progress: Progress) -> u32 {
        if progress == Progress::default() {
            return 0;
        }
        1 + self.list.intern(progress)
    }

    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.list.memory_usage() + map_bytes(&self.finished)
    }
}
