//! Partitions of the characters, images of their blocks, and the memo of steps by them.

use crate::automaton::program::ids::StateId;
use crate::automaton::run::configuration::ConfigurationId;
use crate::collections::heap::map_bytes;
use regex_syntax::utf8::Utf8Sequence;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Some states, in the order of items.
pub(in crate::automaton) type States = SmallVec<[StateId; 8]>;

/// Where each of some states leads, if anywhere.
pub(in crate::automaton) type StateMap = SmallVec<[Option<StateId>; 8]>;

/// Groups of characters that are distinguished, at most 64, as they are spelled in UTF-8.
#[derive(Debug)]
pub(crate) struct CharPartition {
    pub(in crate::automaton) spelled: Vec<Vec<Utf8Sequence>>,
    /// Per byte: the groups of which some character begins with it.
    pub(in crate::automaton) begun_by: [BlockSet; 256],
    /// Those of which some characters are ASCII, and those of which some are not.
    pub(in crate::automaton) ascii: BlockSet,
    pub(in crate::automaton) beyond: BlockSet,
}

/// Some of them, as bits.
pub(crate) type BlockSet = u64;

impl CharPartition {
    pub(crate) fn new(spelled: Vec<Vec<Utf8Sequence>>) -> CharPartition {
        let mut begun_by = [0; 256];
        for (group, spelled) in spelled.iter().enumerate() {
            for first in spelled.iter().filter_map(|sequence| sequence.as_slice().first()) {
                let bytes = usize::from(first.start)..=usize::from(first.end);
                begun_by[bytes].iter_mut().for_each(|groups| *groups |= 1 << group);
            }
        }
        let any = |of: &[BlockSet]| of.iter().fold(0, |all, groups| all | groups);
        let (ascii, beyond) = (any(&begun_by[..0x80]), any(&begun_by[0x80..]));
        CharPartition { spelled, begun_by, ascii, beyond }
    }

    pub(in crate::automaton) fn all(&self) -> BlockSet {
        self.ascii | self.beyond
    }

    /// Those of which some character begins with one of some bytes.
    pub(in crate::automaton) fn begun_by(&self, bytes: impl IntoIterator<Item = u8>) -> BlockSet {
        bytes.into_iter().fold(0, |all, byte| all | self.begun_by[usize::from(byte)])
    }

    /// Where they are, as a name for them.
    pub(in crate::automaton) fn partition_id(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// What characters lead to, with the groups some characters of which do.
#[derive(Clone, Debug)]
pub(crate) struct Images<T> {
    pub(crate) all: SmallVec<[(T, BlockSet); 2]>,
    /// The groups of which it takes the bytes to tell.
    pub(crate) unknown: BlockSet,
}

impl<T> Images<T> {
    /// What the characters of some groups lead to.
    pub(in crate::automaton) fn one(value: T, groups: BlockSet) -> Images<T> {
        Images { all: smallvec![(value, groups)], unknown: 0 }
    }

    /// What the characters of all groups lead to, if it is known.
    pub(crate) fn known(self) -> Option<SmallVec<[T; 2]>> {
        (self.unknown == 0).then(|| self.all.into_iter().map(|(value, _)| value).collect())
    }

    /// Adds what some characters of some groups lead to.
    pub(crate) fn add(&mut self, value: T, groups: BlockSet)
    where
        T: PartialEq,
    {
        match self.all.iter_mut().find(|known| known.0 == value) {
            Some(known) => known.1 |= groups,
            None => self.all.push((value, groups)),
        }
    }

    /// The groups whose characters lead to more than one thing.
    fn vary(&self) -> BlockSet {
        let seen = |(once, twice): (BlockSet, BlockSet), &(_, groups): &(T, BlockSet)| {
            (once | groups, twice | once & groups)
        };
        self.all.iter().fold((0, 0), seen).1
    }

    /// What two things lead to together. Where both vary in a group it takes the characters to know what goes together.
    pub(in crate::automaton) fn with<U, V>(
        &self,
        other: &Images<U>,
        mut both: impl FnMut(&T, &U) -> V,
    ) -> Images<V> {
        let unknown = self.unknown | other.unknown | self.vary() & other.vary();
        let mut all = SmallVec::new();
        for (one, groups) in &self.all {
            for (another, others) in &other.all {
                let common = groups & others & !unknown;
                if common != 0 {
                    all.push((both(one, another), common));
                }
            }
        }
        Images { all, unknown }
    }

    /// The same where what the other leads to is added.
    pub(in crate::automaton) fn extended<U>(
        mut self,
        other: &Images<U>,
        mut add: impl FnMut(&mut T, &U),
    ) -> Images<T>
    where
        T: Clone,
    {
        if let ([(only, _)], 0) = (&other.all[..], other.unknown) {
            self.all.iter_mut().for_each(|(one, _)| add(one, only));
            return self;
        }
        self.with(other, |one, another| {
            let mut both = one.clone();
            add(&mut both, another);
            both
        })
    }
}

/// In which ways characters beyond ASCII move states, of groups of which it does not take more than these states to know,
/// and where they are not too many.
pub(in crate::automaton) type StateMaps = Arc<Images<StateMap>>;

/// The ways that are known. States have the same ones in all groupings that are looked for at one address.
#[derive(Debug, Default)]
pub(in crate::automaton) struct CharStepMemo {
    pub(in crate::automaton) ways: FxHashMap<(States, usize), StateMaps>,
    /// Where they lead from operands of products, in a grouping.
    pub(in crate::automaton) of_operands: FxHashMap<(ConfigurationId, usize), Images<ConfigurationId>>,
}

impl CharStepMemo {
    /// Bytes on the heap.
    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        map_bytes(&self.ways) + map_bytes(&self.of_operands)
    }
}
