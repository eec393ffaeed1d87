//! The closures of several states: many bytes lead from many configurations to the same ones.

use super::configuration::{ConfigurationId, Item};
use crate::automaton::tuning::REMEMBERED_KERNEL;
use crate::collections::heap::table_bytes;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Sets of items, as they were put into a closure, with the configurations that they are closed to.
#[derive(Debug, Default)]
pub(in crate::automaton) struct ClosureMemo {
    items: Vec<Item>,
    /// By hash: where the items begin and end, and the configuration.
    of: HashTable<(u64, u32, u32, ConfigurationId)>,
}

/// A set, looked for.
pub(in crate::automaton) enum Slot {
    Known(ConfigurationId),
    /// Kept for when it is closed: its hash, and where its items begin and end.
    Free((u64, u32, u32)),
    /// Not kept.
    None,
}

impl ClosureMemo {
    /// Looks for a set, and keeps its items if it is not known.
    pub(in crate::automaton) fn find(&mut self, items: &[Item]) -> Slot {
        if items.len() > REMEMBERED_KERNEL {
            return Slot::None;
        }
        let mut hasher = FxHasher::default();
        items.hash(&mut hasher);
        let hash = hasher.finish();
        let all = &self.items;
        let same = |&(other, start, end, _): &(u64, u32, u32, ConfigurationId)| {
            other == hash && all[start as usize..end as usize] == *items
        };
        match self.of.find(hash, same) {
            Some(&(.., id)) => Slot::Known(id),
            None => {
                let start = self.items.len() as u32;
                self.items.extend_from_slice(items);
                Slot::Free((hash, start, self.items.len() as u32))
            }
        }
    }

    /// Notes what a set is closed to.
    pub(in crate::automaton) fn insert(&mut self, (hash, start, end): (u64, u32, u32), id: ConfigurationId) {
        self.of.insert_unique(hash, (hash, start, end, id), |known| known.0);
    }

    /// Lets the items of a set go that is not closed to one configuration always, if no others were kept since.
    pub(in crate::automaton) fn forget(&mut self, place: Slot) {
        if let Slot::Free((_, start, end)) = place
            && end as usize == self.items.len()
        {
            self.items.truncate(start as usize);
        }
    }

    /// Bytes on the heap.
    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.items.capacity() * size_of::<Item>()
            + table_bytes::<(u64, u32, u32, ConfigurationId)>(self.of.capacity())
    }
}
