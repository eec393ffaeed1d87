//! Interned configurations, and the lazily filled step function between them.

use super::closure_memo::ClosureMemo;
use super::configuration::{ConfigurationId, Frame, Item};
use super::stack_set::StackSets;
use super::transitions::{Flags, Row, Transitions};
use super::work_list::Closure;
use crate::automaton::distance::bounds::Bounds;
use crate::automaton::program::ids::StateId;
use crate::automaton::register::product_states::ProductStates;
use crate::automaton::register::seen_sets::{Counted, SeenSets};
use crate::automaton::register::unique::memory::{HistoryId, Memory};
use crate::automaton::residual::canonical_form::CanonicalScratch;
use crate::automaton::residual::char_partition::CharStepMemo;
use crate::collections::heap::map_bytes;
use crate::collections::interner::SliceInterner;
use crate::work::Budget;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The tables that grow while an automaton runs: stacks, configurations, successors.
#[derive(Debug)]
pub struct Cache {
    pub(in crate::automaton) stacks: StackSets,
    pub(in crate::automaton) seen: SeenSets,
    pub(in crate::automaton) counted: Counted,
    pub(in crate::automaton) products: ProductStates,
    pub(in crate::automaton) bounds: Bounds,
    pub(in crate::automaton) memory: Memory,
    configurations: SliceInterner<Item, (Flags, HistoryId)>,
    pub(in crate::automaton) transitions: Arc<Transitions>,
    /// The end of the last dense row of successors.
    pub(in crate::automaton) rows_end: u32,
    /// Per item that was closed alone, the configuration that it is closed to, which many bytes and configurations
    /// share.
    pub(in crate::automaton) closed: FxHashMap<Item, ConfigurationId>,
    /// The configurations that sets of several items are closed to.
    pub(in crate::automaton) closure_memo: ClosureMemo,
    /// Worklists kept for their allocations; products need more than one at a time.
    #[allow(clippy::vec_box)] // they are taken out and put back for each byte
    pub(in crate::automaton) spare: Vec<Box<Closure>>,
    pub(in crate::automaton) scratch: Vec<Item>,
    pub(in crate::automaton) char_steps: CharStepMemo,
    pub(in crate::automaton) canonical_scratch: CanonicalScratch,
    /// The number of steps since the memory was last checked.
    pub(in crate::automaton) unchecked: u8,
    /// The remaining budget of work of the current computation.
    pub(crate) work: Budget,
}

impl Default for Cache {
    fn default() -> Cache {
        Cache::new()
    }
}

impl Cache {
    /// Tables that contain only the dead and the unknown configuration.
    pub fn new() -> Cache {
        let mut tables = Cache {
            stacks: StackSets::new(),
            seen: SeenSets::default(),
            counted: Counted::default(),
            products: ProductStates::default(),
            bounds: Bounds::default(),
            memory: Memory::new(),
            // the number of configurations that most first masks need
            configurations: SliceInterner::with_capacity(64),
            transitions: Arc::default(),
            rows_end: 0,
            closed: FxHashMap::default(),
            closure_memo: ClosureMemo::default(),
            spare: Vec::new(),
            scratch: Vec::new(),
            char_steps: CharStepMemo::default(),
            canonical_scratch: CanonicalScratch::default(),
            unchecked: 0,
            work: Budget::unbounded(),
        };
        tables.intern(&[], Flags::default(), HistoryId::NONE);
        // the unknown configuration has an id of its own
        tables.configurations.reserve((Flags::default(), HistoryId::NONE), &[]);
        tables.transitions.add(ConfigurationId::UNKNOWN, Flags::default(), true);
        tables
    }

    /// The number of configurations, including the dead one but not the unknown one.
    pub fn configuration_count(&self) -> usize {
        self.configurations.len() - 1
    }

    /// Whether the text so far, tokens given by their ids included, is a word of the language.
    pub fn is_accepting(&self, id: ConfigurationId) -> bool {
        self.transitions.is_accepting(id)
    }

    /// Whether the text so far is a word that is not a proper prefix of another word.
    pub fn is_final(&self, id: ConfigurationId) -> bool {
        self.transitions.is_final(id)
    }

    /// The states of a configuration; each waits for a byte or a token.
    pub fn states(&self, id: ConfigurationId) -> impl Iterator<Item = StateId> + '_ {
        self.items(id).iter().map(|item| item.state)
    }

    pub(in crate::automaton) fn items(&self, id: ConfigurationId) -> &[Item] {
        self.configurations.get(id.0)
    }

    /// The transitions of the configurations, which any thread may read while this cache grows.
    pub(crate) fn transitions(&self) -> &Arc<Transitions> {
        &self.transitions
    }

    /// The state of a configuration that consists of one state waiting for a single byte. `None` for other
    /// configurations, and before the row of the configuration is created.
    pub(crate) fn only_state(&self, id: ConfigurationId) -> Option<StateId> {
        match (self.transitions.row(id), self.items(id)) {
            (Row::Single(..), [item]) => Some(item.state),
            _ => None,
        }
    }

    /// The items that two configurations share, as a configuration; `a` itself if `b` has all items of `a`. Otherwise
    /// `None` if they share no item. Also `None` if one of the two is dead, unknown or history-dependent.
    pub(crate) fn common(&mut self, a: ConfigurationId, b: ConfigurationId) -> Option<ConfigurationId> {
        if !a.is_ordinary() || !b.is_ordinary() {
            return None;
        }
        if self.is_history_dependent(a) || self.is_history_dependent(b) {
            return None;
        }
        let other = self.items(b);
        let common: SmallVec<[Item; 16]> =
            self.items(a).iter().filter(|item| other.binary_search(item).is_ok()).copied().collect();
        if common.len() == self.items(a).len() {
            return Some(a);
        }
        (!common.is_empty()).then(|| self.intern(&common, Flags::default(), HistoryId::NONE))
    }

    /// The history of a configuration; [`HistoryId::NONE`] if it does not depend on one.
    pub(in crate::automaton) fn history(&self, id: ConfigurationId) -> HistoryId {
        self.configurations.head(id.0).1
    }

    pub(in crate::automaton) fn intern(
        &mut self,
        items: &[Item],
        flags: Flags,
        history: HistoryId,
    ) -> ConfigurationId {
        let next = self.configurations.len() as u32;
        let id = ConfigurationId(self.configurations.intern_with((flags, history), items));
        if id.0 == next {
            self.transitions.add(id, flags, items.is_empty());
        }
        id
    }

    /// Whether the first stack of some item has the same return address twice. The callable has then called itself
    /// after reading a byte, and may do so any number of times: the language is infinite. The other stacks of a set are
    /// not examined, so `false` proves nothing.
    pub(in crate::automaton) fn nests_in_itself(&self, id: ConfigurationId) -> bool {
        self.items(id).iter().any(|item| {
            let mut seen = rustc_hash::FxHashSet::default();
            let mut frame = self.stacks.frame(item.stack, 0);
            while frame.to_return != Frame::BOTTOM {
                if !seen.insert(frame.to_return) {
                    return true;
                }
                frame = self.stacks.frame(frame.below, 0);
            }
            false
        })
    }

    /// Bytes on the heap, without the memory that is kept only for reuse.
    pub fn memory_usage(&self) -> usize {
        self.stacks.memory_usage()
            + self.seen.memory_usage()
            + self.counted.memory_usage()
            + self.products.memory_usage()
            + self.bounds.memory_usage()
            + self.memory.memory_usage()
            + self.char_steps.memory_usage()
            + self.configurations.memory_usage()
            + self.transitions.memory_usage()
            + map_bytes(&self.closed)
            + self.closure_memo.memory_usage()
    }
}
