//! Configurations, interned, and the lazily filled step function between them.

use super::Automaton;
use super::closure::{Closure, Item};
use super::lockstep::Tuples;
use super::members::{Counted, SeenSets};
use super::stack::{Frame, Stacks};
use super::state::{State, StateId};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::limits::Limits;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// The id of a configuration: what the automaton is in after a prefix. Within one [`Tables`], equal ids mean
/// equal futures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigurationId(u32);

impl ConfigurationId {
    /// The configuration after a byte that is not allowed: no completion exists. Every other configuration
    /// has a completion.
    pub const DEAD: ConfigurationId = ConfigurationId(0);

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
}

#[derive(Clone, Copy, Debug)]
struct Configuration {
    items_end: u32,
    accepting: bool,
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
    items: Vec<Item>,
    configurations: Vec<Configuration>,
    ids: HashTable<u32>,
    successors: Vec<u32>,
    /// Work lists kept for their allocations; locksteps need more than one at a time.
    spare: Vec<Closure>,
    scratch: Vec<Item>,
}

fn hash(items: &[Item], accepting: bool) -> u64 {
    let mut hasher = FxHasher::default();
    items.hash(&mut hasher);
    accepting.hash(&mut hasher);
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
            items: Vec::new(),
            configurations: Vec::new(),
            ids: HashTable::new(),
            successors: Vec::new(),
            spare: Vec::new(),
            scratch: Vec::new(),
        };
        tables.intern(&[], false);
        tables
    }

    /// How many configurations there are, the dead one included.
    pub fn configuration_count(&self) -> usize {
        self.configurations.len()
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
            Row::Unknown => {
                self.configurations[id.index()].row = self.new_row(automaton, id);
                return self.step(automaton, id, byte);
            }
        }
        let next = self.compute_step(automaton, id, byte)?;
        match &mut self.configurations[id.index()].row {
            Row::Single(_, successor) => *successor = Some(next),
            Row::Dense(row) => self.successors[*row as usize + automaton.class_of(byte)] = next.0,
            Row::Unknown => {}
        }
        Ok(next)
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

    /// Whether the configuration is a single state that waits for a single byte.
    pub(crate) fn waits_for_one_byte(&self, automaton: &Automaton, id: ConfigurationId) -> bool {
        matches!(self.items(id), [item] if matches!(automaton.state(item.state), State::Byte { .. }))
    }

    fn new_row(&mut self, automaton: &Automaton, id: ConfigurationId) -> Row {
        if let [item] = self.items(id)
            && let State::Byte { byte, .. } = automaton.state(item.state)
        {
            return Row::Single(byte, None);
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
        let result = self.advance_items(automaton, id, byte, &mut closure);
        let next = result.map(|()| self.intern_closure(automaton, &closure));
        self.spare.push(closure);
        next
    }

    fn advance_items(
        &mut self,
        a: &Automaton,
        id: ConfigurationId,
        byte: u8,
        closure: &mut Closure,
    ) -> Result<()> {
        for place in 0..self.items(id).len() {
            let Item { state, stack } = self.items(id)[place];
            match a.state(state) {
                State::Byte { byte: only, next } if only == byte => self.add(closure, next, stack),
                State::Bytes { first, len } => {
                    let edges = a.edges(first, len);
                    let after = edges.partition_point(|edge| edge.low <= byte);
                    if let Some(edge) = edges[..after].last().filter(|edge| byte <= edge.high) {
                        self.add(closure, edge.next, stack);
                    }
                }
                State::Key { members, node } => self.step_key(a, closure, (members, node), byte, stack),
                State::Lockstep(l) => self.step_lockstep(a, closure, l, byte, stack)?,
                _ => {}
            }
        }
        self.close(a, closure)
    }

    /// The configuration of a start state with an empty stack.
    pub(super) fn start_of(
        &mut self,
        automaton: &Automaton,
        start: Option<StateId>,
        nullable: bool,
    ) -> Result<ConfigurationId> {
        let mut closure = self.spare.pop().unwrap_or_default();
        closure.clear();
        if let Some(start) = start {
            self.add(&mut closure, start, Stacks::EMPTY_STACK);
        }
        let result = self.close(automaton, &mut closure);
        closure.accepting |= nullable;
        let id = result.map(|()| self.intern_closure(automaton, &closure));
        self.spare.push(closure);
        id
    }

    fn intern_closure(&mut self, automaton: &Automaton, closure: &Closure) -> ConfigurationId {
        let mut items = std::mem::take(&mut self.scratch);
        items.clear();
        items.extend(closure.leaves(automaton));
        items.sort_unstable();
        let id = self.intern(&items, closure.accepting);
        self.scratch = items;
        id
    }

    fn intern(&mut self, items: &[Item], accepting: bool) -> ConfigurationId {
        let hash = hash(items, accepting);
        let (all, configurations) = (&self.items, &self.configurations);
        let get = |id: u32| {
            let start = if id == 0 { 0 } else { configurations[id as usize - 1].items_end as usize };
            &all[start..configurations[id as usize].items_end as usize]
        };
        let same = |&id: &u32| configurations[id as usize].accepting == accepting && get(id) == items;
        if let Some(&id) = self.ids.find(hash, same) {
            return ConfigurationId(id);
        }
        let id = self.configurations.len() as u32;
        self.items.extend_from_slice(items);
        self.configurations.push(Configuration {
            items_end: self.items.len() as u32,
            accepting,
            row: Row::Unknown,
        });
        let (all, configurations) = (&self.items, &self.configurations);
        self.ids.insert_unique(hash, id, |&id| {
            let start = if id == 0 { 0 } else { configurations[id as usize - 1].items_end as usize };
            let configuration = &configurations[id as usize];
            self::hash(&all[start..configuration.items_end as usize], configuration.accepting)
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
            + self.items.capacity() * size_of::<Item>()
            + self.configurations.capacity() * size_of::<Configuration>()
            + self.ids.capacity() * 5
            + self.successors.capacity() * 4
    }
}
