//! Tables of the values of member lists: interned sets of seen members, and counts.

use crate::automaton::run::frame_value::FrameValue;
use crate::collections::heap::map_bytes;
use crate::collections::interner::Interner;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

/// Interned sets of seen members; id 0 is the empty set.
#[derive(Debug, Default)]
pub(in crate::automaton) struct SeenSets {
    /// The sets other than the empty one.
    sets: Interner<FixedBitSet>,
    /// Bytes that the sets own.
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
        // grown to a multiple of 64 bits, so that equal sets compare equal whichever member was added last
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

/// The progress of a member list: the members so far, as far as they matter for the rest of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct Progress {
    /// In declared order without conditions the index of the first member that may still follow; otherwise the id of a
    /// set of seen members. With conditions, the set contains entries and, in declared order, a mark once a member
    /// without a key was seen.
    pub(in crate::automaton) base: u32,
    /// The number of members, if they are counted; without a maximum, counting stops at the minimum.
    pub(in crate::automaton) count: u32,
    /// The number of further members, counted only if their names are so few that they bound this number; otherwise 0.
    pub(in crate::automaton) further: u32,
}

/// Interned [`Progress`] of lists whose members are counted; id 0 is the beginning of a list.
#[derive(Debug, Default)]
pub(in crate::automaton) struct Counted {
    /// The values other than the initial one.
    list: Interner<Progress>,
    /// Per list with conditions and value of its frame, whether the list can be finished with that value.
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
