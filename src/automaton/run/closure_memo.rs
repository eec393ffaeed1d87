//! A memo of closures of several items, which many bytes and configurations share.

use super::configuration::{ConfigurationId, Item};
use crate::automaton::tuning::REMEMBERED_KERNEL;
use crate::collections::heap::table_bytes;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Sets of items, in the order in which they were added to a closure, with the configurations that they are closed to.
#[derive(Debug, Default)]
pub(in crate::automaton) struct ClosureMemo {
    items: Vec<Item>,
    /// By hash, the range of the items, and the configuration.
    of: HashTable<(u64, u32, u32, ConfigurationId)>,
}

/// The result of looking up a set.
pub(in crate::automaton) enum Slot {
    Known(ConfigurationId),
    /// The set is unknown and can be inserted once it is closed: its hash, and the range of its items.
    Free((u64, u32, u32)),
    /// The set is not stored: it is too large, or was not looked up.
    None,
}

impl ClosureMemo {
    /// Looks up a set, and stores its items if it is unknown. A set of more than [`REMEMBERED_KERNEL`] items is neither
    /// looked up nor stored; the same items in another order are another set.
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

    /// Stores the configuration that a set is closed to.
    pub(in crate::automaton) fn insert(&mut self, (hash, start, end): (u64, u32, u32), id: ConfigurationId) {
        self.of.insert_unique(hash, (hash, start, end, id), |known| known.0);
    }

    /// Removes the items of a set that [`find`](ClosureMemo::find) stored and that will not be inserted, unless other
    /// items were stored after them. Sets that are not always closed to the same configuration are not inserted.
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
