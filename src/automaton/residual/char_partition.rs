//! Partitions of the characters, the images of their blocks, and the memo of steps by characters.

use crate::automaton::program::ids::StateId;
use crate::automaton::run::configuration::ConfigurationId;
use crate::collections::heap::map_bytes;
use regex_syntax::utf8::Utf8Sequence;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Some states, in the order of items.
pub(in crate::automaton) type States = SmallVec<[StateId; 8]>;

/// The successor of each of some states; `None` for a state that does not read the character.
pub(in crate::automaton) type StateMap = SmallVec<[Option<StateId>; 8]>;

/// At most 64 groups of characters that are distinguished, each as its UTF-8 sequences.
#[derive(Debug)]
pub(crate) struct CharPartition {
    pub(in crate::automaton) spelled: Vec<Vec<Utf8Sequence>>,
    /// Per first byte, the groups with a character that begins with it.
    pub(in crate::automaton) begun_by: [BlockSet; 256],
    /// The groups with ASCII characters, and the groups with characters beyond ASCII.
    pub(in crate::automaton) ascii: BlockSet,
    pub(in crate::automaton) beyond: BlockSet,
}

/// A set of groups, as bits.
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

    /// The groups with a character that begins with one of some bytes.
    pub(in crate::automaton) fn begun_by(&self, bytes: impl IntoIterator<Item = u8>) -> BlockSet {
        bytes.into_iter().fold(0, |all, byte| all | self.begun_by[usize::from(byte)])
    }

    /// The address of the partition, as its id.
    pub(in crate::automaton) fn partition_id(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

/// The results of reading characters. Each result has the groups that contain some character with this result.
#[derive(Clone, Debug)]
pub(crate) struct Images<T> {
    pub(crate) all: SmallVec<[(T, BlockSet); 2]>,
    /// The groups whose results must be computed byte by byte.
    pub(crate) unknown: BlockSet,
}

impl<T> Images<T> {
    /// One result for all characters of some groups.
    pub(in crate::automaton) fn one(value: T, groups: BlockSet) -> Images<T> {
        Images { all: smallvec![(value, groups)], unknown: 0 }
    }

    /// The results of the characters of all groups; `None` if some are unknown.
    pub(crate) fn known(self) -> Option<SmallVec<[T; 2]>> {
        (self.unknown == 0).then(|| self.all.into_iter().map(|(value, _)| value).collect())
    }

    /// Adds a result of some characters of some groups.
    pub(crate) fn add(&mut self, value: T, groups: BlockSet)
    where
        T: PartialEq,
    {
        match self.all.iter_mut().find(|known| known.0 == value) {
            Some(known) => known.1 |= groups,
            None => self.all.push((value, groups)),
        }
    }

    /// The groups whose characters have more than one result.
    fn vary(&self) -> BlockSet {
        let seen = |(once, twice): (BlockSet, BlockSet), &(_, groups): &(T, BlockSet)| {
            (once | groups, twice | once & groups)
        };
        self.all.iter().fold((0, 0), seen).1
    }

    /// Combines two results for the same characters. A group in which both results vary becomes unknown, since it is
    /// not known which of them belong to the same characters.
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

    /// Extends each result by the result of `other` for the same characters; groups become unknown as in
    /// [`with`](Images::with).
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

/// The ways in which characters beyond ASCII move some states. A group is unknown if its characters cannot be followed
/// by these states alone, or if there are too many ways.
pub(in crate::automaton) type StateMaps = Arc<Images<StateMap>>;

/// The ways in which characters move states, as far as they were computed. The key of a partition is its address.
#[derive(Debug, Default)]
pub(in crate::automaton) struct CharStepMemo {
    pub(in crate::automaton) ways: FxHashMap<(States, usize), StateMaps>,
    /// The results for operands of products, by configuration and partition.
    pub(in crate::automaton) of_operands: FxHashMap<(ConfigurationId, usize), Images<ConfigurationId>>,
}

impl CharStepMemo {
    /// Bytes on the heap of the tables, without the memory that their entries own.
    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        map_bytes(&self.ways) + map_bytes(&self.of_operands)
    }
}
