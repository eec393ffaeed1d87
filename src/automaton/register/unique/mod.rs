//! Lists of different items at run time.
//!
//! An item may end unless its value was seen before in its list. So a configuration inside an item remembers the text
//! read since the outermost such item began: its **history**. All of its stacks have read the same text, so one history
//! is enough. The value of the list's frame is the **items seen**: their values, their number, and the position on the
//! history at which the open item began. Between items the history is empty if no outer item is open.
//!
//! The text of an item matters only while it may become an earlier value. Such earlier values are tracked in addition
//! to the configuration ([`Watch`], `candidates.rs`, `seen_list.rs`). If none of them is left, every continuation is
//! allowed. Before that, a byte is allowed only if a search finds that it leads to a value other than the earlier ones
//! (`search.rs`), so that no dead end is offered.
//!
//! Masks are computed from forgetful configurations (`forgetful.rs`).

mod candidates;
mod forgetful;
pub(in crate::automaton) mod memory;
mod search;
mod seen_list;

use crate::automaton::distance::bounds::Estimates;
use crate::automaton::distance::measure::ENDLESS;
use crate::automaton::distance::program::{Argument, Rules};
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{RegisterState, Role, UniqueItems};
use crate::automaton::program::state::State;
use crate::automaton::register::register::{self, without_leaf_states};
use crate::automaton::register::unique::memory::{HistoryId, HistoryTrace, SeenItems, Watch};
use crate::automaton::residual::canonical::Writer;
use crate::automaton::residual::kept::Keep;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{ConfigurationId, Frame, Item, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::work_list::Closure;
use crate::error::Result;
pub(crate) use forgetful::{WatchedItem, Watches};
use rustc_hash::FxHashMap;

impl Cache {
    /// Stores the watches of a configuration, if it depends on the history and has none stored.
    pub(in crate::automaton) fn keep_watches(&mut self, id: ConfigurationId, trace: &HistoryTrace) {
        if self.history(id) == HistoryId::NONE
            || trace.watches.is_empty()
            || self.memory.watches.contains_key(&id)
        {
            return;
        }
        self.memory.watch_bytes += size_of_val(&*trace.watches);
        self.memory.watches.insert(id, trace.watches.as_slice().into());
    }

    /// If all open items begin at the end of a history, the text of the history does not matter: the history is
    /// replaced by the empty one, and the positions in `items` and `watches` by 0.
    fn begin_anew(&mut self, history: HistoryId, items: &mut [Item], watches: &mut Vec<Watch>) -> HistoryId {
        let length = self.memory.length(history);
        let open = self.open_items(items);
        if open.iter().any(|&seen| self.memory.get(seen).start != length) {
            return history;
        }
        watches.retain(|watch| watch.value.seen_items().is_some_and(|seen| open.contains(&seen)));
        let anew = |tables: &mut Cache, value: FrameValue| match value.seen_items() {
            Some(seen) if value.is_inside() => {
                let seen = tables.memory.get(seen);
                FrameValue::inside(tables.memory.seen_items(SeenItems { start: 0, ..seen }))
            }
            _ => value,
        };
        let mut known = FxHashMap::default();
        for item in items {
            let rewritten = self.rewrite(item.stack, &mut known, |tables, value| Some(anew(tables, value)));
            item.stack = rewritten.unwrap_or(item.stack);
        }
        for watch in watches {
            watch.value = anew(self, watch.value);
        }
        HistoryId::EMPTY
    }
}

impl Lazy<'_> {
    /// Starts a step of a configuration that depends on the history: appends the byte to the history.
    pub(in crate::automaton) fn trace_byte(
        &mut self,
        id: ConfigurationId,
        byte: u8,
        trace: &mut HistoryTrace,
    ) -> Result<()> {
        let before = self.history(id);
        let is_json = self.automaton.json_items;
        trace.history = self.memory.append(before, byte, is_json);
        trace.remembers = true;
        let Some(watches) = self.memory.watches.get(&id).cloned() else { return Ok(()) };
        for watch in watches.iter() {
            let candidates = self.memory.advanced(&watch.candidates, byte);
            if !candidates.is_empty() {
                let item = self.step(watch.item, byte)?;
                if item != ConfigurationId::DEAD {
                    trace.watches.push(Watch { item, candidates, ..*watch });
                }
            }
        }
        Ok(())
    }

    fn begin_item(&mut self, closure: &mut Closure, seen: SeenItems, below: StackSetId) {
        let automaton = self.automaton;
        let list = automaton.unique(seen.list);
        let start = self.memory.length(closure.trace.history);
        let value = FrameValue::inside(self.memory.seen_items(SeenItems { start, ..seen }));
        let memory = &mut self.memory;
        memory.free_lists.entry(seen.list).or_insert_with(|| {
            memory.new_lists.push(seen.list);
            None
        });
        if (seen.strings, seen.others) != Default::default() && !closure.trace.begun.contains(&value) {
            closure.trace.begun.push(value);
        }
        closure.trace.begins = true;
        closure.trace.depends = true;
        let stack = self.stacks.push(list.to_return, value, below);
        self.call(closure, list.item(seen.count), stack);
    }

    /// Begins the item after a separator.
    fn next_item(&mut self, closure: &mut Closure, list: &UniqueItems, stack: StackSetId) {
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            match frame.value {
                FrameValue::BETWEEN_ITEMS => {
                    let stack = self.stacks.push(list.to_return, FrameValue::DOUBTFUL, frame.below);
                    for &item in &list.items {
                        self.call(closure, item, stack);
                    }
                }
                FrameValue::BETWEEN_FREE_ITEMS => {
                    // before its end, an item at this place cannot be forced to equal an earlier item
                    let stack = self.stacks.push(list.to_return, FrameValue::UNKNOWN, frame.below);
                    self.call(closure, list.further_item(), stack);
                }
                value => {
                    if let Some(seen) = value.seen_items() {
                        self.begin_item(closure, self.memory.get(seen), frame.below);
                    }
                }
            }
        }
    }

    /// Ends an item, unless its value was seen: leaves the list if it is long enough, and continues if another item is
    /// possible.
    fn end_item(&mut self, closure: &mut Closure, list: &UniqueItems, frame: Frame) -> Result<()> {
        if frame.value == FrameValue::UNKNOWN {
            closure.trace.unknown = true;
            return Ok(());
        }
        let (may_end, go_on) = if let Some(seen) = frame.value.seen_items() {
            closure.trace.depends = true;
            let before = self.memory.get(seen);
            let text = self.memory.text(closure.trace.history, before.start);
            let Some(with) = self.memory.with_value(before, &text) else { return Ok(()) };
            let after = SeenItems { count: before.count.saturating_add(1), start: 0, ..with };
            let may_end = after.count >= list.min;
            let may_go_on = list.may_go_on(after.count) && (list.endless || self.is_another(after)?);
            (may_end, may_go_on.then(|| FrameValue::between(self.memory.seen_items(after))))
        } else {
            let after = FrameValue::between_forgetful(frame.value.is_free());
            (frame.value.may_end(), frame.value.may_go_on().then_some(after))
        };
        if may_end {
            self.add(closure, list.exit, frame.below);
        }
        if let Some(value) = go_on {
            let stack = self.stacks.push(list.to_return, value, frame.below);
            self.add(closure, list.separator, stack);
        }
        Ok(())
    }

    /// Removes from a closed configuration the open items that can only become earlier values, and watches the open
    /// items that may become one. Returns the history, or [`HistoryId::NONE`] if no item is open.
    pub(in crate::automaton) fn commit_history(
        &mut self,
        trace: &mut HistoryTrace,
        items: &mut Vec<Item>,
    ) -> Result<HistoryId> {
        let mut watches = std::mem::take(&mut trace.watches);
        for watch in &watches {
            if !self.may_differ(watch.item, &watch.candidates)? {
                self.remove_item(items, watch.value);
            }
        }
        watches.retain(|watch| !watch.candidates.is_empty());
        // for items that begin in this step, another value is known to exist
        for &value in &trace.begun {
            let Some(seen) = value.seen_items().map(|seen| self.memory.get(seen)) else { continue };
            let item = self.item_alone(seen.list, seen.count)?;
            watches.push(Watch { value, item, candidates: self.memory.values_seen(&seen) });
        }
        if trace.begins && self.memory.length(trace.history) > 0 {
            trace.history = self.begin_anew(trace.history, items, &mut watches);
        }
        trace.watches = watches;
        let remembers = items.iter().any(|item| self.stacks.is_inside(item.stack));
        Ok(if remembers { trace.history } else { HistoryId::NONE })
    }

    /// The configuration before the item after `count` items, without its list.
    fn item_alone(&mut self, list: u32, count: u32) -> Result<ConfigurationId> {
        let automaton = self.automaton;
        self.start_of(Some(automaton.unique(list).item(count)), false)
    }
}

impl UniqueItems {
    /// The start of the item after `count` items.
    fn item(&self, count: u32) -> StateId {
        self.items.get(count as usize).copied().unwrap_or(self.further_item())
    }

    /// The start of the items at all places that have no start of their own: the last of `items`.
    fn further_item(&self) -> StateId {
        self.items.last().copied().unwrap_or(StateId::ACCEPT)
    }

    /// Whether the item after `count` items, and all later items, have the start
    /// [`further_item`](UniqueItems::further_item).
    fn is_further(&self, count: u32) -> bool {
        count as usize + 1 >= self.items.len()
    }

    /// Whether the maximum allows another item after `count` items.
    fn may_go_on(&self, count: u32) -> bool {
        self.max.is_none_or(|max| count < max)
    }
}

impl register::Register for UniqueItems {
    without_leaf_states!();

    fn enter(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()> {
        match at.role {
            Role::Enter => {
                lazy.begin_item(closure, SeenItems { list: at.record, ..SeenItems::default() }, stack);
            }
            Role::Next => lazy.next_item(closure, self, stack),
            // return addresses are never entered without their frame
            Role::Return | Role::Between | Role::Inside => {}
        }
        Ok(())
    }

    fn leave(
        &self,
        _: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        frame: Frame,
    ) -> Result<()> {
        lazy.end_item(closure, self, frame)
    }

    fn canonical(&self, _: RegisterState, _: &mut Writer<'_>) -> Option<()> {
        None
    }

    fn canonical_value(&self, _: RegisterState, _: &mut Writer<'_>, _: FrameValue) -> Option<()> {
        None
    }

    fn keep(&self, at: RegisterState, _: &mut Lazy<'_>, frame: &Frame, _: (State, u32)) -> (Keep, bool) {
        let stays = at.role == Role::Return && frame.value.is_examined();
        (if stays { Keep::Last(frame.value) } else { Keep::Away }, false)
    }

    fn may_return(&self, _: RegisterState, _: &mut dyn FnMut(StateId, bool)) -> bool {
        false
    }

    fn least(&self, at: RegisterState, rules: &mut Rules<'_>, target: u32) {
        match at.role {
            Role::Enter => {
                let item = rules.node();
                let is_upper = rules.measure.is_upper();
                if is_upper && self.min > 1 {
                    return;
                }
                let first = if is_upper { 1 } else { self.items.len() };
                for &start in self.items.iter().take(first) {
                    rules.add(item, 0, &[(rules.at(start), 1)]);
                }
                let count = self.min.max(1);
                let separators = (rules.at(self.separator), count - 1);
                rules.add(target, 0, &[(Argument::Node(item), count), separators, (rules.at(self.exit), 1)]);
            }
            // `least_after` of the frame includes the rest of the list
            Role::Next => rules.add(target, 0, &[]),
            // never entered without a frame
            Role::Return | Role::Between | Role::Inside => {}
        }
    }

    fn least_after(
        &self,
        _: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        frame: &Frame,
    ) -> Result<u32> {
        let exit = estimates.state(lazy, self.exit);
        let is_upper = estimates.measure.is_upper();
        let value = frame.value;
        let Some(seen) = value.seen_items() else {
            // of a forgetful item no earlier value matters: the list ends after it, if it may
            let ends = !is_upper || value.may_end() && value != FrameValue::UNKNOWN;
            return Ok(if ends { exit } else { ENDLESS });
        };
        let came = lazy.memory.get(seen).count;
        let between = value.is_between();
        if is_upper {
            // the first item needs no difference, as there are no earlier items
            let is_first = came == 0 && !between;
            return Ok(if is_first && self.min <= 1 { exit } else { ENDLESS });
        }
        let item = self.items.iter().map(|&item| estimates.state(lazy, item)).min().unwrap_or(ENDLESS);
        let separator = estimates.state(lazy, self.separator);
        let items = match between {
            true => self.min.saturating_sub(came).max(1),
            false => self.min.saturating_sub(came.saturating_add(1)),
        };
        let separators = items - u32::from(between);
        let times = |count: u32, each: u32| if count == 0 { 0 } else { each.saturating_mul(count) };
        Ok(times(items, item).saturating_add(times(separators, separator)).saturating_add(exit))
    }
}
