//! Lists of different items at run time.
//!
//! An item may end unless its value was seen before in its list. So a configuration inside an item remembers what was
//! read since the outermost such item began, its **tape**; all of its stacks have read the same, so one is enough. The
//! frame of a list holds a **register**: the values seen, how many, and where on the tape the item began. Between items
//! nothing is on the tape, if no outer item is open.
//!
//! What was read of an item matters only as long as it may become a value that was seen. Those values are followed beside
//! the configuration ([`Watch`], `likes.rs`, `followed.rs`), and once none is left, any way on will do. Before that, a byte
//! is allowed only if a search finds that it leads to another value (`search.rs`): no dead end is offered.
//!
//! Masks are made of configurations that do not remember (`blind.rs`).

mod candidates;
mod forgetful;
mod search;
mod seen_list;

use crate::automaton::program::state::{State, StateId, UniqueItems};
use crate::automaton::run::cache::{Cache, ConfigurationId};
use crate::automaton::run::closure::{Closure, Item};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::stack_set;
use crate::automaton::run::stack_set::{Frame, REGISTER, StackSetId, is_register};
use crate::collections::string_set::{SetId, StringSets};
use crate::error::Result;
use crate::json::comparison::Comparison;
use crate::json::value::{Value, Values};
use candidates::Candidates;
pub(crate) use forgetful::{WatchedItem, Watches};
use rustc_hash::FxHashMap;
use search::Freedom;
use seen_list::{ListId, SeenLists};
use std::sync::Arc;

/// The id of a tape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct HistoryId(u32);

impl HistoryId {
    /// Nothing is remembered.
    pub(in crate::automaton) const NONE: HistoryId = HistoryId(0);
    /// Nothing was read yet.
    const EMPTY: HistoryId = HistoryId(1);
}

/// Frame values of lists: registers, and what stands in their place in blind configurations, which do not know which items
/// came.
mod code {
    /// Of an item, from which the list may end (1) and go on (2).
    pub(in crate::automaton) const MAY_END: u32 = 1;
    pub(in crate::automaton) const MAY_GO_ON: u32 = 2;
    /// Of an item after which another may begin, whatever came.
    pub(in crate::automaton) const FREE: u32 = 8;
    /// Between items.
    pub(in crate::automaton) const BETWEEN: u32 = 16;
    /// Between items, where another may begin, whatever came.
    pub(in crate::automaton) const BETWEEN_FREE: u32 = BETWEEN | FREE;
    pub(in crate::automaton) use crate::automaton::run::stack_set::{DOUBTFUL, UNKNOWN};
}

/// The frame value of a register between items.
fn between(register: u32) -> u32 {
    stack_set::BETWEEN | register
}

/// The frame value of a register inside an item.
fn inside(register: u32) -> u32 {
    REGISTER | register
}

/// The register of a value that has one.
fn register_of(value: u32) -> usize {
    (value & !stack_set::BETWEEN) as usize
}

/// Whether a list's frame stays with the parts of a mask: where it is looked at before the item ends.
pub(in crate::automaton) fn is_looked_at(value: u32) -> bool {
    value >= stack_set::BETWEEN || matches!(value, code::BETWEEN | code::BETWEEN_FREE | code::DOUBTFUL)
}

/// How far a list has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Register {
    list: u32,
    /// The strings that came, by their characters.
    strings: SetId,
    /// The other values that came, by their ids, and as a list.
    others: SetId,
    followed: ListId,
    count: u32,
    /// Where on the tape the item began.
    start: u32,
}

/// An item that may still become one that was seen.
#[derive(Clone, Copy, Debug)]
struct Watch {
    /// The value of its frame.
    value: u32,
    /// The item alone, without the list.
    item: ConfigurationId,
    /// The values that it may become.
    candidates: Candidates,
}

/// What the lists of a grammar remember.
#[derive(Debug)]
pub(in crate::automaton) struct Memory {
    values: Values,
    /// Of what came.
    sets: StringSets,
    followed: SeenLists,
    /// Items alone, from which endlessly many values can come or not.
    free: FxHashMap<ConfigurationId, Freedom>,
    /// Items alone and the values that they may become, from which another can come or not.
    elsewhere: FxHashMap<(ConfigurationId, Candidates), bool>,
    /// Lists whose items are free as long as they are not done, or not; `None` where that is to be found out.
    free_lists: FxHashMap<u32, Option<bool>>,
    /// How many searches for another item run, each within the one before.
    searches: usize,
    new_lists: Vec<u32>,
    registers: Vec<Register>,
    register_ids: FxHashMap<Register, u32>,
    /// Per tape: the one before its last byte, that byte, and its length.
    histories: Vec<(HistoryId, u8, u32)>,
    history_ids: FxHashMap<(HistoryId, u8), HistoryId>,
    watches: FxHashMap<ConfigurationId, Arc<[Watch]>>,
    watch_bytes: usize,
    /// Successors of the configurations that have a tape.
    pub(in crate::automaton) next: FxHashMap<(ConfigurationId, u8), ConfigurationId>,
    /// Stacks without what they remember.
    forgetful: FxHashMap<StackSetId, Option<StackSetId>>,
}

/// What a closure knows of lists.
#[derive(Debug, Default)]
pub(in crate::automaton) struct HistoryTrace {
    /// What was read, if it will be remembered.
    history: HistoryId,
    watches: Vec<Watch>,
    /// Whether an item begins.
    begins: bool,
    /// The registers of the items that begin where others came.
    begun: Vec<u32>,
    /// Whether the outcome depends on the tape.
    pub(in crate::automaton) depends: bool,
    /// Whether it takes the tape to know the outcome, and there is none.
    pub(in crate::automaton) unknown: bool,
}

impl HistoryTrace {
    pub(in crate::automaton) fn clear(&mut self) {
        self.history = HistoryId::EMPTY;
        self.watches.clear();
        self.begins = false;
        self.begun.clear();
        self.depends = false;
        self.unknown = false;
    }

    /// Whether something was read that is remembered.
    pub(in crate::automaton) fn is_begun(&self) -> bool {
        self.history != HistoryId::EMPTY
    }
}

impl Memory {
    pub(in crate::automaton) fn new() -> Memory {
        Memory {
            values: Values::default(),
            sets: StringSets::default(),
            followed: SeenLists::default(),
            free: FxHashMap::default(),
            elsewhere: FxHashMap::default(),
            free_lists: FxHashMap::default(),
            searches: 0,
            new_lists: Vec::new(),
            registers: Vec::new(),
            register_ids: FxHashMap::default(),
            histories: vec![(HistoryId::NONE, 0, 0); 2],
            history_ids: FxHashMap::default(),
            watches: FxHashMap::default(),
            watch_bytes: 0,
            next: FxHashMap::default(),
            forgetful: FxHashMap::default(),
        }
    }

    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.values.memory_usage()
            + self.sets.memory_usage()
            + self.followed.memory_usage()
            + self.free.capacity() * 6
            + self.elsewhere.capacity() * (size_of::<(ConfigurationId, Candidates)>() + 2)
            + self.free_lists.capacity() * 8
            + self.registers.capacity() * size_of::<Register>()
            + self.register_ids.capacity() * (size_of::<Register>() + 5)
            + self.histories.capacity() * 12
            + self.history_ids.capacity() * 13
            + self.watches.capacity() * 25
            + self.watch_bytes
            + self.next.capacity() * 13
            + self.forgetful.capacity() * 9
    }

    /// Whether any list was entered.
    pub(in crate::automaton) fn is_used(&self) -> bool {
        !self.registers.is_empty()
    }

    fn register(&mut self, register: Register) -> u32 {
        let next = self.registers.len() as u32;
        let registers = &mut self.registers;
        *self.register_ids.entry(register).or_insert_with(|| {
            registers.push(register);
            next
        })
    }

    fn append(&mut self, history: HistoryId, byte: u8) -> HistoryId {
        let next = HistoryId(self.histories.len() as u32);
        let histories = &mut self.histories;
        *self.history_ids.entry((history, byte)).or_insert_with(|| {
            let length = histories[history.0 as usize].2 + 1;
            histories.push((history, byte, length));
            next
        })
    }

    fn length(&self, history: HistoryId) -> u32 {
        self.histories[history.0 as usize].2
    }

    /// What is on a tape from a place on.
    fn text(&self, history: HistoryId, start: u32) -> Vec<u8> {
        let mut text = Vec::new();
        let mut at = history;
        while self.length(at) > start {
            let (before, byte, _) = self.histories[at.0 as usize];
            text.push(byte);
            at = before;
        }
        text.reverse();
        text
    }

    /// The values of items that came, before the first byte of another.
    fn values_seen(&self, register: &Register) -> Candidates {
        Candidates::new(register.strings, register.followed)
    }

    /// What came, with one more item; nothing if it came before.
    fn with_value(&mut self, before: Register, text: &[u8]) -> Option<Register> {
        let id = self.values.read(text);
        let own = id.to_be_bytes();
        let (set, text): (_, &[u8]) = match self.values.get(id) {
            Value::String(content) => (before.strings, content),
            _ => (before.others, &own),
        };
        if self.sets.has_empty(self.sets.after(set, text)) {
            return None;
        }
        let with = self.sets.with(set, text);
        Some(match self.values.get(id) {
            Value::String(_) => Register { strings: with, ..before },
            _ => {
                let followed = self.followed.with(&self.values, before.followed, Comparison::new(id));
                Register { others: with, followed, ..before }
            }
        })
    }
}

impl Cache {
    /// Keeps what must be followed beside a configuration.
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

    /// Where all open items begin at the end of a tape, what is on it does not matter: an empty one takes its place.
    fn begin_anew(&mut self, history: HistoryId, items: &mut [Item], watches: &mut Vec<Watch>) -> HistoryId {
        let length = self.memory.length(history);
        let open = self.registers_inside(items);
        if open.iter().any(|&register| self.memory.registers[register].start != length) {
            return history;
        }
        watches.retain(|watch| open.contains(&register_of(watch.value)));
        let anew = |tables: &mut Cache, value| match value {
            stack_set::BETWEEN.. => value,
            _ => {
                let register = tables.memory.registers[register_of(value)];
                inside(tables.memory.register(Register { start: 0, ..register }))
            }
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
    /// Begins the step of a configuration that remembers: the byte is put on its tape.
    pub(in crate::automaton) fn trace_byte(
        &mut self,
        id: ConfigurationId,
        byte: u8,
        trace: &mut HistoryTrace,
    ) -> Result<()> {
        let before = self.history(id);
        trace.history = self.memory.append(before, byte);
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

    /// Begins an item.
    fn begin_item(&mut self, closure: &mut Closure, register: Register, below: StackSetId) {
        let automaton = self.automaton;
        let list = automaton.distinct(register.list);
        let start = self.memory.length(closure.trace.history);
        let value = inside(self.memory.register(Register { start, ..register }));
        let memory = &mut self.memory;
        memory.free_lists.entry(register.list).or_insert_with(|| {
            memory.new_lists.push(register.list);
            None
        });
        if (register.strings, register.others) != Default::default() && !closure.trace.begun.contains(&value)
        {
            closure.trace.begun.push(value);
        }
        closure.trace.begins = true;
        closure.trace.depends = true;
        let stack = self.stacks.push(list.to_return, value, below);
        self.call(closure, list.item(register.count), stack);
    }

    pub(in crate::automaton) fn enter_distinct(
        &mut self,
        closure: &mut Closure,
        list: u32,
        stack: StackSetId,
    ) {
        self.begin_item(closure, Register { list, ..Register::default() }, stack);
    }

    /// After a separator.
    pub(in crate::automaton) fn next_item(&mut self, closure: &mut Closure, list: u32, stack: StackSetId) {
        let automaton = self.automaton;
        let list = automaton.distinct(list);
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            match frame.value {
                code::BETWEEN => {
                    let stack = self.stacks.push(list.to_return, code::DOUBTFUL, frame.below);
                    for &item in &list.items {
                        self.call(closure, item, stack);
                    }
                }
                code::BETWEEN_FREE => {
                    // only its end may be that of an item that came
                    let stack = self.stacks.push(list.to_return, code::UNKNOWN, frame.below);
                    self.call(closure, list.further_item(), stack);
                }
                value => {
                    let register = self.memory.registers[register_of(value)];
                    self.begin_item(closure, register, frame.below);
                }
            }
        }
    }

    /// An item is done, unless it was seen: leave the list if it is long enough, go on if another may come.
    pub(in crate::automaton) fn end_item(&mut self, closure: &mut Closure, frame: Frame) -> Result<()> {
        let automaton = self.automaton;
        if frame.value == code::UNKNOWN {
            closure.trace.unknown = true;
            return Ok(());
        }
        let list;
        let (may_end, go_on) = if is_register(frame.value) {
            closure.trace.depends = true;
            let before = self.memory.registers[register_of(frame.value)];
            list = automaton.distinct(before.list);
            let text = self.memory.text(closure.trace.history, before.start);
            let Some(with) = self.memory.with_value(before, &text) else { return Ok(()) };
            let after = Register { count: before.count.saturating_add(1), start: 0, ..with };
            let may_end = after.count >= list.min;
            let may_go_on = list.may_go_on(after.count) && (list.endless || self.is_another(after)?);
            (may_end, may_go_on.then(|| between(self.memory.register(after))))
        } else {
            let State::UniqueReturn(d) = automaton.state(frame.to_return) else { return Ok(()) };
            list = automaton.distinct(d);
            let after = code::BETWEEN | frame.value & code::FREE;
            (frame.value & code::MAY_END != 0, (frame.value & code::MAY_GO_ON != 0).then_some(after))
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

    /// Takes out of a closed configuration what can only become values that were seen, and follows what may become one.
    /// Returns the tape, and the alerts.
    pub(in crate::automaton) fn commit_history(
        &mut self,
        trace: &mut HistoryTrace,
        items: &mut Vec<Item>,
    ) -> Result<HistoryId> {
        let mut watches = std::mem::take(&mut trace.watches);
        for watch in &watches {
            if !self.may_differ(watch.item, &watch.candidates)? {
                self.remove_register(items, watch.value);
            }
        }
        watches.retain(|watch| !watch.candidates.is_empty());
        // where these begin, it is known that there is another
        for &value in &trace.begun {
            let register = self.memory.registers[register_of(value)];
            let item = self.item_alone(register.list, register.count)?;
            watches.push(Watch { value, item, candidates: self.memory.values_seen(&register) });
        }
        if trace.begins && self.memory.length(trace.history) > 0 {
            trace.history = self.begin_anew(trace.history, items, &mut watches);
        }
        trace.watches = watches;
        let remembers = items.iter().any(|item| self.stacks.is_inside(item.stack));
        Ok(if remembers { trace.history } else { HistoryId::NONE })
    }

    /// The configuration before an item that comes after so many, without its list.
    fn item_alone(&mut self, list: u32, count: u32) -> Result<ConfigurationId> {
        let automaton = self.automaton;
        self.start_of(Some(automaton.distinct(list).item(count)), false)
    }
}

impl UniqueItems {
    /// Start of the item after so many.
    fn item(&self, count: u32) -> StateId {
        self.items.get(count as usize).copied().unwrap_or(self.further_item())
    }

    /// Start of the items at places that are not listed.
    fn further_item(&self) -> StateId {
        self.items.last().copied().unwrap_or(StateId::ACCEPT)
    }

    /// Whether the item after so many, and all after it, are such.
    fn is_further(&self, count: u32) -> bool {
        count as usize + 1 >= self.items.len()
    }

    /// Whether another item may come after so many, as far as the upper bound goes.
    fn may_go_on(&self, count: u32) -> bool {
        self.max.is_none_or(|max| count < max)
    }
}
