//! Forgetful configurations: they do not remember items, and allow the continuations that are allowed whichever items
//! were seen.
//!
//! The frame of a list whose item is open then only says whether the list may end after this item, whether it may
//! continue, and whether another item may begin whatever was seen. An item that begins later in the same text might
//! equal an earlier item; only the history tells. So a forgetful configuration ends in [`ConfigurationId::UNKNOWN`]
//! after such an item, or at its beginning if its prefix may matter too. Thus forgetful configurations have the usual
//! masks of strings and objects, and few tokens remain to be examined one by one.

use super::candidates::Candidates;
use super::memory::{HistoryId, Watch};
use crate::automaton::program::automaton::Automaton;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{ConfigurationId, Frame, Item, StackSetId};
use crate::automaton::run::frame_value::{FrameValue, SeenItemsId};
use crate::automaton::run::lazy::Lazy;
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The open items of a configuration that may become earlier values.
#[derive(Clone, Debug)]
pub(crate) struct Watches(SmallVec<[Watch; 1]>);

impl Cache {
    /// Whether the configuration depends on the history. Bytes of one class may then have different successors.
    #[inline]
    pub(crate) fn is_history_dependent(&self, id: ConfigurationId) -> bool {
        self.history(id) != HistoryId::NONE
    }

    /// Whether a stack of the configuration records the items seen by a list, so that the allowed continuations may
    /// depend on them.
    pub(crate) fn remembers_items(&self, id: ConfigurationId) -> bool {
        self.items(id).iter().any(|item| self.stacks.remembers_items(item.stack))
    }

    /// Whether an item is open whose bytes have successors that depend on the history.
    pub(crate) fn is_doubtful(&self, id: ConfigurationId) -> bool {
        self.items(id).iter().any(|item| self.stacks.is_doubtful(item.stack))
    }

    /// Whether an item is open after which the history is needed: a token that ends with it may not be allowed.
    pub(crate) fn may_become_unknown(&self, id: ConfigurationId) -> bool {
        self.items(id).iter().any(|item| self.stacks.is_unknown(item.stack))
    }

    /// The value that replaces the items seen in a forgetful configuration.
    fn forgetful_value(&self, automaton: &Automaton, value: FrameValue) -> FrameValue {
        let Some(seen) = value.seen_items() else { return value };
        let seen = self.memory.get(seen);
        let list = automaton.unique(seen.list);
        let is_free = list.endless && self.memory.free_lists.get(&seen.list) == Some(&Some(true));
        let is_free = |count| is_free && list.is_further(count);
        if value.is_between() {
            return FrameValue::between_forgetful(is_free(seen.count));
        }
        if !list.endless {
            return FrameValue::UNKNOWN;
        }
        let count = seen.count.saturating_add(1);
        FrameValue::forgetful_item(count >= list.min, list.may_go_on(count), is_free(count))
    }

    /// The ids of the items seen by each list whose item is open.
    pub(super) fn open_items(&self, items: &[Item]) -> FxHashSet<SeenItemsId> {
        let mut open: Vec<StackSetId> = items.iter().map(|item| item.stack).collect();
        let (mut seen, mut found) = (FxHashSet::default(), FxHashSet::default());
        while let Some(stack) = open.pop() {
            if self.stacks.is_inside(stack) && seen.insert(stack) {
                for frame in self.stacks.frames(stack) {
                    found.extend(frame.value.seen_items().filter(|_| frame.value.is_inside()));
                    open.push(frame.below);
                }
            }
        }
        found
    }

    /// Removes an open item, with all frames above it, from the stacks of a configuration, and the states that have no
    /// stacks left.
    pub(super) fn remove_item(&mut self, items: &mut Vec<Item>, value: FrameValue) {
        let mut known = FxHashMap::default();
        items.retain_mut(|item| {
            let others = |_: &mut Cache, other| (other != value).then_some(other);
            let stack = self.rewrite(item.stack, &mut known, others);
            item.stack = stack.unwrap_or(item.stack);
            stack.is_some()
        });
    }

    /// Returns the stacks with other values in place of the items seen; stacks with a frame for which `value` returns
    /// `None` are removed. `None` if no stack is left.
    pub(super) fn rewrite(
        &mut self,
        root: StackSetId,
        known: &mut FxHashMap<StackSetId, Option<StackSetId>>,
        value: impl Fn(&mut Cache, FrameValue) -> Option<FrameValue>,
    ) -> Option<StackSetId> {
        let mut open = vec![root];
        while let Some(&stack) = open.last() {
            if known.contains_key(&stack) {
                open.pop();
                continue;
            }
            if !self.stacks.remembers_items(stack) {
                known.insert(stack, Some(stack));
                continue;
            }
            let missing = open.len();
            open.extend(self.stacks.frames(stack).iter().map(|f| f.below).filter(|b| !known.contains_key(b)));
            if open.len() > missing {
                continue;
            }
            let mut all: Option<StackSetId> = None;
            for place in 0..self.stacks.frame_count(stack) {
                let Frame { to_return, value: old, below } = self.stacks.frame(stack, place);
                let new = if old.seen_items().is_some() { value(self, old) } else { Some(old) };
                let (Some(new), Some(Some(below))) = (new, known.get(&below).copied()) else { continue };
                let one = self.stacks.push(to_return, new, below);
                all = Some(all.map_or(one, |all| self.stacks.union(all, one)));
            }
            known.insert(stack, all);
        }
        known.get(&root).copied().flatten()
    }

    /// The watches of a configuration: its open items, each with the earlier values that it may become but must not
    /// equal.
    pub(crate) fn watches_of(&self, id: ConfigurationId) -> Watches {
        let watches = self.memory.watches.get(&id);
        Watches(watches.iter().flat_map(|watches| watches.iter()).copied().collect())
    }
}

impl Lazy<'_> {
    /// The forgetful form of a configuration. The forgetful form allows everything that the configuration allows,
    /// except where its successor is [`ConfigurationId::UNKNOWN`].
    pub(crate) fn forgetful(&mut self, id: ConfigurationId) -> Result<ConfigurationId> {
        let automaton = self.automaton;
        if !self.remembers_items(id) {
            return Ok(id);
        }
        while let Some(list) = self.memory.new_lists.pop() {
            let free = self.is_free_throughout(list)?;
            self.memory.free_lists.insert(list, Some(free));
        }
        let mut items = self.items(id).to_vec();
        let mut known = std::mem::take(&mut self.memory.forgetful);
        for item in &mut items {
            let keep = |tables: &mut Cache, value| Some(tables.forgetful_value(automaton, value));
            item.stack = self.rewrite(item.stack, &mut known, keep).unwrap_or(item.stack);
        }
        self.memory.forgetful = known;
        let flags = self.transitions().flags(id);
        Ok(self.intern(&items, flags, HistoryId::NONE))
    }

    /// The watches that remain after one more byte: the watches of items that can continue and may still become an
    /// earlier value. `None` if none remain.
    pub(crate) fn advance_watches(&mut self, watches: &Watches, byte: u8) -> Result<Option<Watches>> {
        let mut left = SmallVec::new();
        for watch in &watches.0 {
            let candidates = self.memory.advanced(&watch.candidates, byte);
            if !candidates.is_empty() {
                let item = self.step(watch.item, byte)?;
                if item != ConfigurationId::DEAD {
                    left.push(Watch { item, candidates, ..*watch });
                }
            }
        }
        Ok((!left.is_empty()).then_some(Watches(left)))
    }

    /// Whether some watched item equals an earlier item, or can only become one. The continuations of such an item
    /// differ from the continuations of other items.
    pub(crate) fn is_decisive(&mut self, watches: &Watches) -> Result<bool> {
        for watch in &watches.0 {
            if self.memory.is_equal(&watch.candidates) || !self.may_differ(watch.item, &watch.candidates)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// An open item, and the values that it may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct WatchedItem(ConfigurationId, Candidates);

impl Watches {
    /// The watched item, if there is exactly one.
    pub(crate) fn only(&self) -> Option<WatchedItem> {
        match self.0.as_slice() {
            [watch] => Some(WatchedItem(watch.item, watch.candidates)),
            _ => None,
        }
    }

    /// Whether no item is watched.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
