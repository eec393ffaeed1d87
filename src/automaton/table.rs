//! Configurations, interned, and the lazily filled step function between them.

use super::Automaton;
use super::closure::{Closure, Item};
use super::distinct::{Memory, TapeId};
use super::lockstep::Tuples;
use super::members::{Counted, SeenSets};
use super::stack::{Frame, StackId, Stacks};
use super::state::{State, StateId};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::limits::Limits;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The id of a configuration: what the automaton is in after a prefix. Within one [`Tables`], equal ids mean
/// equal futures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigurationId(u32);

impl ConfigurationId {
    /// The configuration after a byte that is not allowed: no completion exists. Every other configuration
    /// has a completion.
    pub const DEAD: ConfigurationId = ConfigurationId(0);

    /// Of a configuration that does not remember which items of a list came: it takes that to know what comes here. It
    /// only comes up in masks in the making, and nothing is known of its successors.
    pub(crate) const UNSURE: ConfigurationId = ConfigurationId(1);

    /// The place in the table of configurations.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of a configuration's successors.
#[derive(Clone, Copy, Debug)]
enum Row {
    Unknown,
    /// Only this byte may come; with its successor once it is known.
    Single(u8, Option<ConfigurationId>),
    /// A row of `successors`, one entry a byte class.
    Dense(u32),
    /// The configuration remembers what was read: each byte has a successor of its own.
    Remembering,
}

#[derive(Clone, Copy, Debug)]
struct Configuration {
    items_end: u32,
    accepting: bool,
    tape: TapeId,
    row: Row,
}

/// An entry of a dense row that has not been computed.
const UNKNOWN: u32 = u32::MAX;

/// The tables that grow as an automaton is run: stacks, configurations, successors.
#[derive(Debug)]
pub struct Tables {
    pub(super) stacks: Stacks,
    pub(super) seen: SeenSets,
    pub(super) counted: Counted,
    pub(super) tuples: Tuples,
    pub(super) memory: Memory,
    items: Vec<Item>,
    configurations: Vec<Configuration>,
    ids: HashTable<u32>,
    successors: Vec<u32>,
    /// The closures of single states: many bytes and many configurations lead to the same one.
    closed: FxHashMap<Item, ConfigurationId>,
    /// Work lists kept for their allocations; locksteps need more than one at a time.
    spare: Vec<Closure>,
    scratch: Vec<Item>,
}

fn hash(items: &[Item], accepting: bool, tape: TapeId) -> u64 {
    let mut hasher = FxHasher::default();
    items.hash(&mut hasher);
    (accepting, tape).hash(&mut hasher);
    hasher.finish()
}

impl Default for Tables {
    fn default() -> Tables {
        Tables::new()
    }
}

impl Tables {
    /// Empty tables.
    pub fn new() -> Tables {
        let mut tables = Tables {
            stacks: Stacks::new(),
            seen: SeenSets::new(),
            counted: Counted::new(),
            tuples: Tuples::default(),
            memory: Memory::new(),
            items: Vec::new(),
            configurations: Vec::new(),
            ids: HashTable::new(),
            successors: Vec::new(),
            closed: FxHashMap::default(),
            spare: Vec::new(),
            scratch: Vec::new(),
        };
        tables.intern(&[], false, TapeId::NONE);
        // the unsure one has a place of its own
        tables.configurations.push(Configuration {
            items_end: 0,
            accepting: false,
            tape: TapeId::NONE,
            row: Row::Unknown,
        });
        tables
    }

    /// How many configurations there are, the dead one included.
    pub fn configuration_count(&self) -> usize {
        self.configurations.len() - 1
    }

    /// The configuration before the first byte.
    ///
    /// # Errors
    /// Limits: `cache_bytes`, `lockstep_search`.
    pub fn start(&mut self, automaton: &Automaton) -> Result<ConfigurationId> {
        self.start_of(automaton, Some(automaton.start), automaton.nullable)
    }

    /// Whether the bytes so far are a word of the language.
    pub fn is_accepting(&self, id: ConfigurationId) -> bool {
        self.configurations[id.index()].accepting
    }

    /// Whether the bytes so far are a word, and no longer word begins with them.
    pub fn is_final(&self, id: ConfigurationId) -> bool {
        self.is_accepting(id) && self.items(id).is_empty()
    }

    /// The states waiting for a byte.
    pub fn states(&self, id: ConfigurationId) -> impl Iterator<Item = StateId> + '_ {
        self.items(id).iter().map(|item| item.state)
    }

    pub(super) fn items(&self, id: ConfigurationId) -> &[Item] {
        let start = if id.0 == 0 { 0 } else { self.configurations[id.index() - 1].items_end as usize };
        &self.items[start..self.configurations[id.index()].items_end as usize]
    }

    /// The configuration after one more byte, or [`ConfigurationId::DEAD`] if no word goes on so.
    ///
    /// # Errors
    /// Limits: `cache_bytes`, `lockstep_search`.
    pub fn step(&mut self, automaton: &Automaton, id: ConfigurationId, byte: u8) -> Result<ConfigurationId> {
        match self.configurations[id.index()].row {
            Row::Single(only, _) if only != byte => return Ok(ConfigurationId::DEAD),
            Row::Single(_, Some(next)) => return Ok(next),
            Row::Dense(row) => {
                let next = self.successors[row as usize + automaton.class_of(byte)];
                if next != UNKNOWN {
                    return Ok(ConfigurationId(next));
                }
            }
            Row::Single(_, None) => {}
            Row::Remembering => {
                if let Some(&next) = self.memory.next.get(&(id, byte)) {
                    return Ok(next);
                }
            }
            Row::Unknown => {
                self.configurations[id.index()].row = self.new_row(automaton, id);
                return self.step(automaton, id, byte);
            }
        }
        self.compute_step(automaton, id, byte)
    }

    /// The row of a configuration's successors, for [`successor`](Tables::successor). Configurations that wait for one
    /// byte, or remember what was read, have none.
    pub(crate) fn row(&mut self, automaton: &Automaton, id: ConfigurationId) -> Option<usize> {
        if let Row::Unknown = self.configurations[id.index()].row {
            self.configurations[id.index()].row = self.new_row(automaton, id);
        }
        match self.configurations[id.index()].row {
            Row::Dense(row) => Some(row as usize),
            _ => None,
        }
    }

    /// An entry of a row, if it is known.
    #[inline]
    pub(crate) fn successor(&self, automaton: &Automaton, row: usize, byte: u8) -> Option<ConfigurationId> {
        let next = *self.successors.get(row + automaton.class_of(byte))?;
        (next != UNKNOWN).then_some(ConfigurationId(next))
    }

    /// The run of bytes around one that are known to have the same successor.
    pub(super) fn known_run(&self, automaton: &Automaton, id: ConfigurationId, byte: u8) -> (u8, u8) {
        let row = match self.configurations[id.index()].row {
            Row::Dense(row) => row as usize,
            Row::Single(only, _) if only == byte => return (byte, byte),
            // dead on all others
            Row::Single(only, _) if byte < only => return (0, only - 1),
            Row::Single(only, _) => return (only + 1, u8::MAX),
            Row::Unknown | Row::Remembering => return (byte, byte),
        };
        let row = &self.successors[row..row + automaton.class_count()];
        let class = automaton.class_of(byte);
        if row[class] == UNKNOWN {
            return (byte, byte);
        }
        let below = row[..class].iter().rev().take_while(|&&next| next == row[class]).count();
        let above = row[class..].iter().take_while(|&&next| next == row[class]).count();
        let starts = automaton.class_representatives();
        let high = starts.get(class + above).map_or(u8::MAX, |next| next - 1);
        (starts[class - below], high)
    }

    /// Per state that waits for a byte: the bytes it waits for, as a superset that only key registers and
    /// locksteps make smaller; a [`step`](Tables::step) tells.
    pub fn wanted_bytes<'a>(
        &'a self,
        automaton: &'a Automaton,
        id: ConfigurationId,
    ) -> impl Iterator<Item = (StateId, ByteSet)> + 'a {
        self.items(id).iter().map(|item| (item.state, automaton.wanted_bytes(item.state)))
    }

    /// The bytes that may come next, as a superset; see [`wanted_bytes`](Tables::wanted_bytes).
    pub fn candidate_bytes(&self, automaton: &Automaton, id: ConfigurationId) -> ByteSet {
        self.wanted_bytes(automaton, id).fold(ByteSet::EMPTY, |all, (_, bytes)| all.union(&bytes))
    }

    /// The one byte that may come, if the configuration is a single state that waits for a single byte.
    pub(crate) fn only_byte(&self, automaton: &Automaton, id: ConfigurationId) -> Option<u8> {
        match (self.configurations[id.index()].row, self.items(id)) {
            (Row::Single(byte, _), _) => Some(byte),
            (Row::Unknown, [item]) => match automaton.state(item.state) {
                State::Byte { byte, .. } => Some(byte),
                _ => None,
            },
            _ => None,
        }
    }

    fn new_row(&mut self, automaton: &Automaton, id: ConfigurationId) -> Row {
        if let Some(byte) = self.only_byte(automaton, id) {
            return Row::Single(byte, None);
        }
        if self.remembers(id) {
            return Row::Remembering;
        }
        let row = self.successors.len() as u32;
        self.successors.resize(self.successors.len() + automaton.class_count(), UNKNOWN);
        Row::Dense(row)
    }

    fn compute_step(
        &mut self,
        automaton: &Automaton,
        id: ConfigurationId,
        byte: u8,
    ) -> Result<ConfigurationId> {
        self.check_memory(automaton)?;
        let mut closure = self.spare.pop().unwrap_or_default();
        closure.clear();
        let traced = match self.remembers(id) {
            true => self.trace_byte(automaton, id, byte, &mut closure.trace),
            false => Ok(()),
        };
        let moved = traced.and_then(|()| self.advance_items(automaton, id, byte, &mut closure));
        let result = moved.and_then(|run| Ok((run, self.closed(automaton, &mut closure)?)));
        self.spare.push(closure);
        let ((low, high), next) = result?;
        match &mut self.configurations[id.index()].row {
            Row::Single(_, successor) => *successor = Some(next),
            Row::Dense(row) => {
                let row = *row as usize;
                self.successors[row + automaton.class_of(low)..=row + automaton.class_of(high)].fill(next.0);
            }
            Row::Remembering => {
                self.memory.next.insert((id, byte), next);
            }
            Row::Unknown => {}
        }
        Ok(next)
    }

    /// The states after a byte, not yet closed, and the run of bytes around it that lead to the same ones.
    fn advance_items(
        &mut self,
        a: &Automaton,
        id: ConfigurationId,
        byte: u8,
        closure: &mut Closure,
    ) -> Result<(u8, u8)> {
        let mut run = Run { byte, low: 0, high: u8::MAX };
        for place in 0..self.items(id).len() {
            let Item { state, stack } = self.items(id)[place];
            match a.state(state) {
                State::Byte { byte: only, next } => {
                    let moves = run.narrow(only, only);
                    if moves {
                        self.add(closure, next, stack);
                    }
                }
                State::Bytes { first, len } => {
                    let edges = a.edges(first, len);
                    let after = edges.partition_point(|edge| edge.low <= byte);
                    if let Some(edge) = edges.get(after) {
                        run.narrow(edge.low, edge.high);
                    }
                    if let Some(edge) = edges[..after].last()
                        && run.narrow(edge.low, edge.high)
                    {
                        self.add(closure, edge.next, stack);
                    }
                }
                State::Key { members, node } => {
                    for &(key, _) in a.key_edges(members, node) {
                        run.narrow(key, key);
                    }
                    self.step_key(a, closure, (members, node), byte, stack);
                }
                State::Lockstep(l) => {
                    let (low, high) = self.step_lockstep(a, closure, l, byte, stack)?;
                    run.narrow(low, high);
                }
                _ => {}
            }
        }
        Ok((run.low, run.high))
    }

    /// The configuration of the states in a closure that is not closed yet.
    fn closed(&mut self, automaton: &Automaton, closure: &mut Closure) -> Result<ConfigurationId> {
        let single = match closure.states() {
            [] if !closure.accepting => return Ok(ConfigurationId::DEAD),
            &[item] if !closure.accepting => Some(item),
            _ => None,
        };
        // what was read is part of what follows
        let single = single.filter(|_| !closure.trace.is_begun());
        if let Some(item) = single {
            if automaton.state(item.state).is_leaf() {
                return Ok(self.intern(&[item], false, TapeId::NONE));
            }
            if let Some(&known) = self.closed.get(&item) {
                return Ok(known);
            }
        }
        self.close(automaton, closure)?;
        let id = self.intern_closure(automaton, closure)?;
        if let Some(item) = single.filter(|_| !closure.trace.depends) {
            self.closed.insert(item, id);
        }
        Ok(id)
    }

    /// The configuration after returning to a set of stacks.
    ///
    /// # Errors
    /// Limits: `cache_bytes`, `lockstep_search`.
    pub(crate) fn returned(&mut self, automaton: &Automaton, stack: StackId) -> Result<ConfigurationId> {
        self.begin(automaton, Some(Item { state: StateId::ACCEPT, stack }), false)
    }

    /// The configuration of a start state with an empty stack.
    pub(super) fn start_of(
        &mut self,
        automaton: &Automaton,
        start: Option<StateId>,
        nullable: bool,
    ) -> Result<ConfigurationId> {
        let item = start.map(|state| Item { state, stack: Stacks::EMPTY_STACK });
        self.begin(automaton, item, nullable)
    }

    fn begin(
        &mut self,
        automaton: &Automaton,
        item: Option<Item>,
        accepting: bool,
    ) -> Result<ConfigurationId> {
        let mut closure = self.spare.pop().unwrap_or_default();
        closure.clear();
        if let Some(Item { state, stack }) = item {
            self.add(&mut closure, state, stack);
        }
        closure.accepting = accepting;
        let id = self.closed(automaton, &mut closure);
        self.spare.push(closure);
        id
    }

    fn intern_closure(&mut self, automaton: &Automaton, closure: &mut Closure) -> Result<ConfigurationId> {
        if closure.trace.unsure {
            return Ok(ConfigurationId::UNSURE);
        }
        let mut items = std::mem::take(&mut self.scratch);
        items.clear();
        items.extend(closure.leaves(automaton));
        items.sort_unstable();
        let mut tape = Ok(TapeId::NONE);
        if closure.trace.depends || closure.trace.is_begun() {
            tape = self.settle(automaton, &mut closure.trace, &mut items);
        }
        let id = tape.map(|tape| self.intern(&items, closure.accepting, tape));
        self.scratch = items;
        if let Ok(id) = id {
            self.keep_alerts(id, &closure.trace);
        }
        id
    }

    /// What the configuration remembers.
    pub(super) fn tape(&self, id: ConfigurationId) -> TapeId {
        self.configurations[id.index()].tape
    }

    pub(super) fn intern(&mut self, items: &[Item], accepting: bool, tape: TapeId) -> ConfigurationId {
        let hash = hash(items, accepting, tape);
        let (all, configurations) = (&self.items, &self.configurations);
        let get = |id: u32| {
            let start = if id == 0 { 0 } else { configurations[id as usize - 1].items_end as usize };
            &all[start..configurations[id as usize].items_end as usize]
        };
        let same = |&id: &u32| {
            let configuration = &configurations[id as usize];
            (configuration.accepting, configuration.tape) == (accepting, tape) && get(id) == items
        };
        if let Some(&id) = self.ids.find(hash, same) {
            return ConfigurationId(id);
        }
        let id = self.configurations.len() as u32;
        self.items.extend_from_slice(items);
        self.configurations.push(Configuration {
            items_end: self.items.len() as u32,
            accepting,
            tape,
            row: Row::Unknown,
        });
        let (all, configurations) = (&self.items, &self.configurations);
        self.ids.insert_unique(hash, id, |&id| {
            let start = if id == 0 { 0 } else { configurations[id as usize - 1].items_end as usize };
            let configuration = &configurations[id as usize];
            let items = &all[start..configuration.items_end as usize];
            self::hash(items, configuration.accepting, configuration.tape)
        });
        ConfigurationId(id)
    }

    /// Whether some stack returns to one state twice. What was called there has then called itself after
    /// reading a byte, and might do so any number of times: the language is infinite.
    pub(super) fn nests_in_itself(&self, id: ConfigurationId) -> bool {
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

    /// Refuses to grow beyond the automaton's `cache_bytes`.
    pub(super) fn check_memory(&self, automaton: &Automaton) -> Result<()> {
        let limit = automaton.limits().cache_bytes;
        let used = self.memory_usage();
        if used > limit {
            return Err(Limits::exceeded("cache_bytes", limit, format!("{used} bytes of tables")));
        }
        Ok(())
    }

    /// Bytes on the heap.
    pub fn memory_usage(&self) -> usize {
        self.stacks.memory_usage()
            + self.seen.memory_usage()
            + self.counted.memory_usage()
            + self.tuples.memory_usage()
            + self.memory.memory_usage()
            + self.items.capacity() * size_of::<Item>()
            + self.configurations.capacity() * size_of::<Configuration>()
            + self.ids.capacity() * 5
            + self.successors.capacity() * 4
            + self.closed.capacity() * (size_of::<Item>() + 5)
    }
}

/// Bytes around one byte that a configuration does not tell apart from it.
struct Run {
    byte: u8,
    low: u8,
    high: u8,
}

impl Run {
    /// Takes into account that `low..=high` are told apart from all others; returns whether the byte is in there.
    fn narrow(&mut self, low: u8, high: u8) -> bool {
        if high < self.byte {
            self.low = self.low.max(high + 1);
        } else if self.byte < low {
            self.high = self.high.min(low - 1);
        } else {
            self.low = self.low.max(low);
            self.high = self.high.min(high);
            return true;
        }
        false
    }
}
