//! The step function between configurations, computed on demand, and queries of single configurations.

use super::byte_runs::ByteRun;
use super::closure_memo::Slot;
use super::configuration::{ConfigurationId, Item, StackSetId};
use super::lazy::Lazy;
use super::stack_set::StackSets;
use super::transitions::{Flags, Row};
use super::work_list::Closure;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::RegisterState;
use crate::automaton::program::state::State;
use crate::automaton::register::unique::memory::HistoryId;
use crate::automaton::tuning::{FEW_KEYS, MOVED_AT_ONCE, NEW_STEP, STEPS_PER_CHECK};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::limits::{LimitKind, Limits};

impl Lazy<'_> {
    /// The configuration before the first byte.
    ///
    /// # Errors
    /// Limits: `cache_bytes`, `lockstep_search`, and the budget of work; errors of deferred lowering.
    pub fn start(&mut self) -> Result<ConfigurationId> {
        let automaton = self.automaton;
        self.start_of(Some(automaton.start), automaton.nullable)
    }

    /// The configuration after one more byte, or [`ConfigurationId::DEAD`] if no word begins with the text so far and
    /// this byte.
    ///
    /// # Errors
    /// Limits: `cache_bytes`, `lockstep_search`, and the budget of work; errors of deferred lowering.
    pub fn step(&mut self, id: ConfigurationId, byte: u8) -> Result<ConfigurationId> {
        let automaton = self.automaton;
        if let Some(known) = self.transitions.step(automaton, id, byte) {
            return Ok(known);
        }
        match self.transitions.row(id) {
            Row::Unknown => {
                self.new_row(id);
                return self.step(id, byte);
            }
            Row::HistoryDependent => {
                if let Some(&next) = self.memory.next.get(&(id, byte)) {
                    return Ok(next);
                }
            }
            _ => {}
        }
        self.compute_step(id, byte)
    }

    /// The row of a configuration's successors, for [`Transitions::dense`]. Configurations that wait for a single byte,
    /// or depend on the history, have no such row.
    pub(crate) fn row(&mut self, id: ConfigurationId) -> Option<u32> {
        let row = match self.transitions.row(id) {
            Row::Unknown => self.new_row(id),
            known => known,
        };
        match row {
            Row::Dense(row) => Some(row),
            _ => None,
        }
    }

    /// Per state of a configuration, the bytes that it waits for: a superset of the allowed bytes. Keys, products and
    /// lists of different items may allow fewer; a [`step`](Lazy::step) decides.
    pub fn wanted_bytes<'a>(&'a self, id: ConfigurationId) -> impl Iterator<Item = (StateId, ByteSet)> + 'a {
        let automaton = self.automaton;
        self.items(id).iter().map(|item| (item.state, automaton.wanted_bytes(item.state)))
    }

    /// The bytes that may be allowed next, as a superset; see [`wanted_bytes`](Lazy::wanted_bytes).
    pub fn candidate_bytes(&self, id: ConfigurationId) -> ByteSet {
        let automaton = self.automaton;
        let mut all = ByteSet::EMPTY;
        self.items(id).iter().for_each(|item| automaton.add_wanted_bytes(item.state, &mut all));
        all
    }

    /// Whether few bytes are possible: the configuration waits for a single byte, or all its states are inside
    /// registers, such as keys, and wait for at most [`FEW_KEYS`] bytes each. True without states as well.
    pub(crate) fn is_narrow(&self, id: ConfigurationId) -> bool {
        let automaton = self.automaton;
        let in_key = |item: &Item| match automaton.state(item.state) {
            State::Register { .. } => automaton.wanted_bytes(item.state).len() <= FEW_KEYS,
            _ => false,
        };
        self.only_byte(id).is_some() || self.items(id).iter().all(in_key)
    }

    /// The only possible byte, if the configuration is one state that waits for a single byte.
    pub(crate) fn only_byte(&self, id: ConfigurationId) -> Option<u8> {
        let automaton = self.automaton;
        match (self.transitions.row(id), self.items(id)) {
            (Row::Single(byte, _), _) => Some(byte),
            (Row::Unknown, [item]) => match automaton.state(item.state) {
                State::Byte { .. } | State::Register { .. } => {
                    automaton.literal(item.state).map(|(byte, _)| byte)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// For a configuration of one [`ByteOr`](State::ByteOr) state that does not depend on the history: the byte of this
    /// state, and a configuration with the same successors for all other bytes. `None` for other configurations.
    pub(crate) fn exception(&mut self, id: ConfigurationId) -> Option<(u8, ConfigurationId)> {
        let automaton = self.automaton;
        let [item] = *self.items(id) else { return None };
        match automaton.state(item.state) {
            State::ByteOr { byte, otherwise, .. } if !self.is_history_dependent(id) => {
                let others =
                    self.intern(&[Item { state: otherwise, ..item }], Flags::default(), HistoryId::NONE);
                Some((byte, others))
            }
            _ => None,
        }
    }

    fn new_row(&mut self, id: ConfigurationId) -> Row {
        let automaton = self.automaton;
        let row = match self.only_byte(id) {
            Some(byte) => Row::Single(byte, None),
            None if self.is_history_dependent(id) => Row::HistoryDependent,
            None => {
                let (row, end) = self.transitions.new_row(self.rows_end, automaton.class_count());
                self.rows_end = end;
                Row::Dense(row)
            }
        };
        self.transitions.set_row(id, row);
        row
    }

    fn compute_step(&mut self, id: ConfigurationId, byte: u8) -> Result<ConfigurationId> {
        let automaton = self.automaton;
        self.check_memory()?;
        let mut closure = self.spare.pop().unwrap_or_default();
        closure.clear();
        let traced = match self.is_history_dependent(id) {
            true => self.trace_byte(id, byte, &mut closure.trace),
            false => Ok(()),
        };
        let moved = traced.and_then(|()| self.advance_items(id, byte, &mut closure));
        if self.memory.is_used() {
            closure.doubt(&self.stacks);
        }
        let result = moved.and_then(|run| Ok((run, self.closed(&mut closure)?)));
        let spent =
            self.cache.work.spend(NEW_STEP + closure.states().len() + self.cache.stacks.take_interned());
        self.spare.push(closure);
        spent?;
        let ((low, high), next) = result?;
        match self.transitions.row(id) {
            Row::Single(only, _) => self.transitions.set_row(id, Row::Single(only, Some(next))),
            Row::Dense(row) => {
                self.transitions.fill(row, automaton.class_of(low), automaton.class_of(high), next);
                if (low, high) == (0, u8::MAX) {
                    self.transitions.set_alike(id);
                }
            }
            Row::HistoryDependent => {
                self.memory.next.insert((id, byte), next);
            }
            Row::Unknown => {}
        }
        Ok(next)
    }

    /// Adds the states after a byte to a closure, without closing the closure. Returns the run of bytes around `byte`
    /// that have the same result.
    fn advance_items(&mut self, id: ConfigurationId, byte: u8, closure: &mut Closure) -> Result<(u8, u8)> {
        let automaton = self.automaton;
        let mut run = ByteRun::around(byte);
        let count = self.items(id).len();
        let mut moved = Vec::new();
        for place in 0..count {
            let Item { state, stack } = self.items(id)[place];
            match automaton.state(state) {
                plain @ (State::Byte { .. } | State::ByteOr { .. } | State::Bytes { .. }) => {
                    match run.follow(automaton, plain) {
                        Some(state) if count > MOVED_AT_ONCE => moved.push(Item { state, stack }),
                        Some(state) => self.add(closure, state, stack),
                        None => {}
                    }
                }
                State::Register { kind, role, record, node } => {
                    let register = RegisterState { kind, role, record, node };
                    let (low, high) = register.step(self, closure, byte, stack)?;
                    run.narrow(low, high);
                }
                _ => {}
            }
        }
        self.add_all(closure, &mut moved);
        Ok(run.bounds())
    }

    /// Closes the states in a closure, or looks up an earlier result, and returns their configuration.
    fn closed(&mut self, closure: &mut Closure) -> Result<ConfigurationId> {
        let automaton = self.automaton;
        if closure.trace.unknown {
            return Ok(ConfigurationId::UNKNOWN);
        }
        let single = match closure.states() {
            [] if !closure.accepting => return Ok(ConfigurationId::DEAD),
            &[item] if !closure.accepting => Some(item),
            _ => None,
        };
        // a closure with a history depends on the text read, so it is not cached by its states
        let single = single.filter(|_| !closure.trace.is_begun());
        if let Some(item) = single {
            let state = automaton.state(item.state);
            if state.is_leaf() {
                let flags = Flags { tokens: matches!(state, State::Token { .. }), ..Flags::default() };
                return Ok(self.intern(&[item], flags, HistoryId::NONE));
            }
            if let Some(&known) = self.closed.get(&item) {
                return Ok(known);
            }
        }
        let several = match single {
            None if !closure.accepting && !closure.trace.is_begun() => {
                self.closure_memo.find(closure.states())
            }
            _ => Slot::None,
        };
        if let Slot::Known(id) = several {
            return Ok(id);
        }
        let closed = self.close(closure).and_then(|()| self.intern_closure(closure));
        let id = match closed {
            Ok(id) if !closure.trace.depends => id,
            _ => {
                self.closure_memo.forget(several);
                return closed;
            }
        };
        match (single, several) {
            (Some(item), _) => drop(self.closed.insert(item, id)),
            (None, Slot::Free(set)) => self.closure_memo.insert(set, id),
            _ => {}
        }
        Ok(id)
    }

    /// The configuration after returning to a set of stacks.
    pub(crate) fn returned(&mut self, stack: StackSetId) -> Result<ConfigurationId> {
        self.begin(Some(Item { state: StateId::ACCEPT, stack }), false)
    }

    /// The configuration of a start state, if there is one, with an empty stack; accepting if `nullable`.
    pub(in crate::automaton) fn start_of(
        &mut self,
        start: Option<StateId>,
        nullable: bool,
    ) -> Result<ConfigurationId> {
        let item = start.map(|state| Item { state, stack: StackSets::EMPTY_STACK });
        self.begin(item, nullable)
    }

    fn begin(&mut self, item: Option<Item>, accepting: bool) -> Result<ConfigurationId> {
        self.make(|lazy, closure| {
            if let Some(Item { state, stack }) = item {
                lazy.add(closure, state, stack);
            }
            closure.accepting = accepting;
            Ok(())
        })
    }

    /// The configuration of the states that `fill` adds to a closure.
    pub(in crate::automaton) fn make(
        &mut self,
        fill: impl FnOnce(&mut Lazy<'_>, &mut Closure) -> Result<()>,
    ) -> Result<ConfigurationId> {
        let mut closure = self.spare.pop().unwrap_or_default();
        closure.clear();
        let id = fill(self, &mut closure).and_then(|()| self.closed(&mut closure));
        self.spare.push(closure);
        id
    }

    pub(in crate::automaton) fn intern_closure(&mut self, closure: &mut Closure) -> Result<ConfigurationId> {
        let automaton = self.automaton;
        if closure.trace.unknown {
            return Ok(ConfigurationId::UNKNOWN);
        }
        let mut items = std::mem::take(&mut self.scratch);
        items.clear();
        items.extend(closure.leaves(automaton));
        items.sort_unstable();
        let mut history = Ok(HistoryId::NONE);
        if closure.trace.depends || closure.trace.is_begun() {
            history = self.commit_history(&mut closure.trace, &mut items);
        }
        let flags =
            Flags { accepting: closure.accepting, named: closure.named, ..automaton.flags_of(&items) };
        let id = history.map(|history| self.intern(&items, flags, history));
        self.scratch = items;
        if let Ok(id) = id {
            self.keep_watches(id, &closure.trace);
        }
        id
    }

    /// Refuses to grow beyond the automaton's `cache_bytes`. Checks once per `STEPS_PER_CHECK` calls.
    pub(in crate::automaton) fn check_memory(&mut self) -> Result<()> {
        let automaton = self.automaton;
        self.unchecked = (self.unchecked + 1) % STEPS_PER_CHECK;
        if self.unchecked != 0 {
            return Ok(());
        }
        let limit = automaton.cache_bytes();
        let used = self.memory_usage();
        if used > limit {
            return Err(Limits::exceeded(LimitKind::CacheBytes, limit, format!("{used} bytes of tables")));
        }
        Ok(())
    }
}
