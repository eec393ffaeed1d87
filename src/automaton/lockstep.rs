//! Locksteps at run time: an intersection or complement runs the configurations of its operands side by
//! side. The tuple of configurations is a register, the value of the lockstep's frame.
//!
//! Whether a tuple can still be completed does not follow from its parts (`a*b` and `a*c` have no common
//! word), so it is searched for ([`completion`](super::completion)) over tuples, which are hash-consed, so the search ends
//! for regular operands and for others within the limit `lockstep_search`. Answers are kept.

use super::Automaton;
use super::closure::{Closure, Item};
use super::completion::Frontier;
use super::stack::StackId;
use super::state::Lockstep;
use super::successors::{Dense, Successors};
use super::table::{ConfigurationId, Tables, items_of};
use crate::error::Result;
use crate::limits::Limits;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// No shorter completion is looked for than one of so many bytes.
const SHORT: u32 = 4;

/// So many words are tried on the next tuple before others are searched for.
const COMPLETIONS: usize = 8;

/// Longer words are not tried on other tuples.
const LONGEST_TRIED: usize = 64;

/// A word that completes a tuple.
type Word = SmallVec<[u8; 8]>;

/// The configurations of a lockstep's operands.
pub(super) type Tuple = SmallVec<[ConfigurationId; 8]>;

/// What is known of the successors of a tuple's operands.
enum Rows<'a> {
    /// Only this byte may come.
    Only(u8),
    All(SmallVec<[OperandRow<'a>; 4]>),
}

/// An operand's configuration, with its successors if they are in a row.
struct OperandRow<'a> {
    configuration: ConfigurationId,
    dense: Option<Dense<'a>>,
}

impl OperandRow<'_> {
    fn entry(&self, class: usize) -> Option<ConfigurationId> {
        self.dense?.entry(class)
    }

    /// Whether the bytes of a class are known to lead to the same as those of the class before it.
    fn is_as_before(&self, class: usize) -> bool {
        self.dense.is_some_and(|row| row.is_as_before(class))
    }
}

/// Interned tuples, and which of them can be completed.
#[derive(Debug, Default)]
pub(super) struct Tuples {
    operands: Vec<ConfigurationId>,
    /// Where the operands of each end.
    ends: Vec<u32>,
    ids: HashTable<u32>,
    /// Per lockstep and tuple: whether some word that is not empty leads to acceptance; of how many bytes, if so.
    extendable: FxHashMap<(u32, u32), Option<u32>>,
    /// Per lockstep: the most bytes of those words, so far.
    reach: FxHashMap<u32, u32>,
    /// How often that became more.
    reaches: usize,
    /// Per lockstep: words that completed other tuples, the last one first.
    completions: FxHashMap<u32, VecDeque<Word>>,
    /// Of items of operands: how many bytes they take at least to be words.
    pub(super) least: FxHashMap<Item, u32>,
}

fn hash(tuple: &[ConfigurationId]) -> u64 {
    let mut hasher = FxHasher::default();
    tuple.hash(&mut hasher);
    hasher.finish()
}

impl Tuples {
    pub(super) fn intern(&mut self, tuple: &[ConfigurationId]) -> u32 {
        let hash = hash(tuple);
        let (operands, ends) = (&self.operands, &self.ends);
        if let Some(&id) = self.ids.find(hash, |&id| items_of(operands, ends, id) == tuple) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.operands.extend_from_slice(tuple);
        self.ends.push(self.operands.len() as u32);
        let (operands, ends) = (&self.operands, &self.ends);
        self.ids.insert_unique(hash, id, |&id| self::hash(items_of(operands, ends, id)));
        id
    }

    pub(super) fn get(&self, tuple: u32) -> &[ConfigurationId] {
        items_of(&self.operands, &self.ends, tuple)
    }

    /// The most bytes that it took to complete any tuple of a lockstep so far.
    pub(super) fn reach(&self, l: u32) -> u32 {
        self.reach.get(&l).copied().unwrap_or(0)
    }

    /// Keeps a word that completes a tuple for the next ones.
    fn keep(&mut self, l: u32, word: Word) {
        let words = self.completions.entry(l).or_default();
        words.truncate(COMPLETIONS - 1);
        words.push_front(word);
    }

    fn completed(&mut self, l: u32, tuple: u32, bytes: u32) {
        self.extendable.insert((l, tuple), Some(bytes));
        self.raise_reach(l, bytes);
    }

    /// Notes that some tuple takes so many bytes to complete.
    pub(super) fn raise_reach(&mut self, l: u32, bytes: u32) {
        let reach = self.reach.entry(l).or_insert(0);
        if *reach < bytes {
            *reach = bytes;
            self.reaches += 1;
        }
    }

    pub(super) fn memory_usage(&self) -> usize {
        (self.operands.capacity() + self.ends.capacity()) * 4
            + self.ids.capacity() * 5
            + self.extendable.capacity() * 17
            + self.reach.capacity() * 9
            + self.completions.len() * COMPLETIONS * (size_of::<Word>() + LONGEST_TRIED)
            + self.least.capacity() * (size_of::<(Item, u32)>() + 1)
    }
}

impl Tables {
    /// How often it took more bytes to complete a tuple than those before it. Parts are looked at anew then.
    pub(crate) fn reaches(&self) -> usize {
        self.tuples.reaches
    }

    fn accepts(&self, lockstep: &Lockstep, tuple: u32) -> bool {
        let all = self.tuples.get(tuple).iter().all(|&c| self.is_accepting(c));
        all != lockstep.complement
    }

    /// The tuple after one byte, unless no acceptance can follow because an operand is dead.
    fn step_tuple(
        &mut self,
        a: &Automaton,
        lockstep: &Lockstep,
        tuple: u32,
        byte: u8,
    ) -> Result<Option<u32>> {
        let mut next = Tuple::new();
        for place in 0..lockstep.operands.len() {
            let configuration = self.tuples.get(tuple)[place];
            let after = self.step(a, configuration, byte)?;
            if after == ConfigurationId::DEAD && !lockstep.complement {
                return Ok(None);
            }
            next.push(after);
        }
        Ok(Some(self.tuples.intern(&next)))
    }

    /// The run of bytes around one that are known to lead from a tuple to the same as it does: to that `after`. As far as
    /// it is `within` some bytes.
    fn known_run_of_tuple(
        &mut self,
        automaton: &Automaton,
        lockstep: &Lockstep,
        (tuple, after): (u32, Option<u32>),
        byte: u8,
        within: (u8, u8),
    ) -> Result<(u8, u8)> {
        let mut run = within;
        for place in 0..lockstep.operands.len() {
            let operand = self.tuples.get(tuple)[place];
            if after.is_none() && self.step(automaton, operand, byte)? == ConfigurationId::DEAD {
                // one that is dead decides alone
                return Ok(self.known_run(automaton, operand, byte, within));
            }
            run = self.known_run(automaton, operand, byte, run);
        }
        Ok(run)
    }

    /// What is known of the successors of a tuple's operands.
    fn rows_of<'a>(
        &mut self,
        automaton: &Automaton,
        lockstep: &Lockstep,
        tuple: u32,
        successors: &'a Successors,
    ) -> Rows<'a> {
        let mut rows = SmallVec::new();
        for place in 0..lockstep.operands.len() {
            let configuration = self.tuples.get(tuple)[place];
            let dense = self.row(automaton, configuration).map(|row| successors.dense(row, automaton));
            if dense.is_none()
                && !lockstep.complement
                && let Some(byte) = self.only_byte(automaton, configuration)
            {
                return Rows::Only(byte);
            }
            rows.push(OperandRow { configuration, dense });
        }
        Rows::All(rows)
    }

    /// The tuple after the bytes of a class, as [`step_tuple`](Tables::step_tuple) finds it.
    fn step_rows(
        &mut self,
        automaton: &Automaton,
        lockstep: &Lockstep,
        rows: &[OperandRow<'_>],
        (class, byte): (usize, u8),
    ) -> Result<Option<u32>> {
        let is_dead = |row: &OperandRow<'_>| row.entry(class) == Some(ConfigurationId::DEAD);
        if !lockstep.complement && rows.iter().any(is_dead) {
            return Ok(None);
        }
        let mut after = Tuple::new();
        for row in rows {
            let next = match row.entry(class) {
                Some(known) => known,
                None => self.step(automaton, row.configuration, byte)?,
            };
            if next == ConfigurationId::DEAD && !lockstep.complement {
                return Ok(None);
            }
            after.push(next);
        }
        Ok(Some(self.tuples.intern(&after)))
    }

    /// The tuple before the first byte.
    fn first_tuple(&mut self, automaton: &Automaton, lockstep: &Lockstep) -> Result<u32> {
        let mut tuple = Tuple::new();
        for operand in &lockstep.operands {
            tuple.push(self.start_of(automaton, operand.start, operand.nullable)?);
        }
        Ok(self.tuples.intern(&tuple))
    }

    pub(super) fn enter_lockstep(
        &mut self,
        automaton: &Automaton,
        closure: &mut Closure,
        l: u32,
        stack: StackId,
    ) -> Result<()> {
        let lockstep = automaton.lockstep(l);
        let tuple = self.first_tuple(automaton, lockstep)?;
        if self.is_extendable(automaton, l, tuple)? {
            let stack = self.stacks.push(lockstep.state, tuple, stack);
            self.add(closure, lockstep.state, stack);
        }
        Ok(())
    }

    /// Whether the words of a lockstep include one that is not empty.
    pub(super) fn lockstep_has_words(&mut self, automaton: &Automaton, l: u32) -> Result<bool> {
        let tuple = self.first_tuple(automaton, automaton.lockstep(l))?;
        self.is_extendable(automaton, l, tuple)
    }

    /// Adds what follows a byte, and returns a run of bytes around it that lead to the same.
    pub(super) fn step_lockstep(
        &mut self,
        automaton: &Automaton,
        closure: &mut Closure,
        l: u32,
        byte: u8,
        stack: StackId,
    ) -> Result<(u8, u8)> {
        let lockstep = automaton.lockstep(l);
        let mut run = (0, u8::MAX);
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            let after = self.step_tuple(automaton, lockstep, frame.value, byte)?;
            run = self.known_run_of_tuple(automaton, lockstep, (frame.value, after), byte, run)?;
            if let Some(tuple) = after {
                self.come_to_tuple(automaton, closure, (l, tuple), frame.below)?;
            }
        }
        Ok(run)
    }

    /// Adds what follows where a lockstep comes to a tuple.
    pub(super) fn come_to_tuple(
        &mut self,
        automaton: &Automaton,
        closure: &mut Closure,
        (l, tuple): (u32, u32),
        below: StackId,
    ) -> Result<()> {
        let lockstep = automaton.lockstep(l);
        if self.accepts(lockstep, tuple) {
            self.add(closure, lockstep.exit, below);
        }
        if self.is_extendable(automaton, l, tuple)? {
            let stack = self.stacks.push(lockstep.state, tuple, below);
            self.add(closure, lockstep.state, stack);
        }
        Ok(())
    }

    /// Whether a word leads from `tuple` to acceptance; if so, that is noted of all that it leads through.
    fn is_completed_by(&mut self, automaton: &Automaton, l: u32, tuple: u32, word: &[u8]) -> Result<bool> {
        let lockstep = automaton.lockstep(l);
        let mut path: SmallVec<[u32; 16]> = smallvec::smallvec![tuple];
        let mut at = tuple;
        for &byte in word {
            match self.step_tuple(automaton, lockstep, at, byte)? {
                Some(next) => at = next,
                None => return Ok(false),
            }
            path.push(at);
        }
        if !self.accepts(lockstep, at) {
            return Ok(false);
        }
        path.pop();
        for (&at, bytes) in path.iter().rev().zip(1..) {
            if !self.tuples.extendable.contains_key(&(l, at)) {
                self.tuples.completed(l, at, bytes);
            }
        }
        Ok(true)
    }

    /// Whether at least one more byte can lead from `tuple` to acceptance.
    fn is_extendable(&mut self, automaton: &Automaton, l: u32, tuple: u32) -> Result<bool> {
        if let Some(&known) = self.tuples.extendable.get(&(l, tuple)) {
            return Ok(known.is_some());
        }
        let lockstep = automaton.lockstep(l);
        for place in 0..self.tuples.completions.get(&l).map_or(0, VecDeque::len) {
            let word = self.tuples.completions[&l][place].clone();
            if self.is_completed_by(automaton, l, tuple, &word)? {
                return Ok(true);
            }
        }
        let limit = automaton.limits().lockstep_search;
        let successors = Arc::clone(self.successors());
        let mut frontier = Frontier::new(tuple);
        while let Some((current, read)) = self.next_tuple(automaton, lockstep, &mut frontier)? {
            // how many bytes lead to acceptance, and the last one if it does at once
            let (mut bytes, mut last) = (None, None);
            let rows = self.rows_of(automaton, lockstep, current, &successors);
            let mut before = None;
            for (class, &byte) in automaton.class_representatives().iter().enumerate() {
                let next = match &rows {
                    Rows::Only(only) if *only != byte => continue,
                    Rows::Only(_) => self.step_tuple(automaton, lockstep, current, byte)?,
                    Rows::All(rows) if rows.iter().all(|row| row.is_as_before(class)) => continue,
                    Rows::All(rows) => self.step_rows(automaton, lockstep, rows, (class, byte))?,
                };
                let Some(next) = next.filter(|_| next != before) else { continue };
                before = Some(next);
                if self.accepts(lockstep, next) {
                    (bytes, last) = (Some(1), Some(byte));
                    break;
                }
                let known = self.tuples.extendable.get(&(l, next)).copied();
                if let Some(Some(more)) = known {
                    let through = more.saturating_add(1);
                    bytes = Some(bytes.map_or(through, |bytes| through.min(bytes)));
                    if through <= SHORT {
                        break;
                    }
                }
                if known.is_none() && !frontier.ways.contains_key(&next) {
                    if frontier.ways.len() >= limit {
                        return Err(Limits::exceeded(
                            "lockstep_search",
                            limit,
                            "an intersection or complement with no completion found so far",
                        ));
                    }
                    frontier.push(next, (current, read), byte);
                }
            }
            if let Some(bytes) = bytes {
                let (mut on_path, mut bytes) = (current, bytes);
                let mut word: Word = last.into_iter().collect();
                loop {
                    self.tuples.completed(l, on_path, bytes);
                    if on_path == tuple {
                        break;
                    }
                    let (parent, byte) = frontier.ways[&on_path];
                    word.push(byte);
                    on_path = parent;
                    bytes = bytes.saturating_add(1);
                }
                word.reverse();
                if last.is_some() && word.len() <= LONGEST_TRIED {
                    self.tuples.keep(l, word);
                }
                return Ok(true);
            }
            self.check_memory(automaton)?;
        }
        // nothing was found: none of the tuples seen leads to acceptance
        for &dead in frontier.ways.keys() {
            self.tuples.extendable.insert((l, dead), None);
        }
        Ok(false)
    }
}
