//! Locksteps at run time: an intersection or complement runs the configurations of its operands side by
//! side. The tuple of configurations is a register, the value of the lockstep's frame.
//!
//! Whether a tuple can still be completed does not follow from its parts (`a*b` and `a*c` have no common
//! word), so it is searched for: breadth first over tuples, which are hash-consed, so the search ends for
//! regular operands and for others within the limit `lockstep_search`. Answers are kept.

use super::Automaton;
use super::closure::Closure;
use super::stack::StackId;
use super::state::Lockstep;
use super::table::{ConfigurationId, Tables};
use crate::error::Result;
use crate::limits::Limits;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

type Tuple = smallvec::SmallVec<[ConfigurationId; 4]>;

/// Interned tuples, and which of them can be completed.
#[derive(Debug, Default)]
pub(super) struct Tuples {
    tuples: Vec<Tuple>,
    ids: FxHashMap<Tuple, u32>,
    /// Per lockstep and tuple: whether some word that is not empty leads to acceptance.
    extendable: FxHashMap<(u32, u32), bool>,
}

impl Tuples {
    fn intern(&mut self, tuple: Tuple) -> u32 {
        if let Some(&id) = self.ids.get(&tuple) {
            return id;
        }
        let id = self.tuples.len() as u32;
        self.tuples.push(tuple.clone());
        self.ids.insert(tuple, id);
        id
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.tuples.capacity() * size_of::<Tuple>()
            + self.ids.capacity() * (size_of::<Tuple>() + 5)
            + self.extendable.capacity() * 10
    }
}

impl Tables {
    fn accepts(&self, lockstep: &Lockstep, tuple: u32) -> bool {
        let all = self.tuples.tuples[tuple as usize].iter().all(|&c| self.is_accepting(c));
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
            let configuration = self.tuples.tuples[tuple as usize][place];
            let after = self.step(a, configuration, byte)?;
            if after == ConfigurationId::DEAD && !lockstep.complement {
                return Ok(None);
            }
            next.push(after);
        }
        Ok(Some(self.tuples.intern(next)))
    }

    /// The tuple before the first byte.
    fn first_tuple(&mut self, automaton: &Automaton, lockstep: &Lockstep) -> Result<u32> {
        let mut tuple = Tuple::new();
        for operand in &lockstep.operands {
            tuple.push(self.start_of(automaton, operand.start, operand.nullable)?);
        }
        Ok(self.tuples.intern(tuple))
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
        let (mut low, mut high) = (0, u8::MAX);
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            let after = self.step_tuple(automaton, lockstep, frame.value, byte)?;
            let mut run = (0, u8::MAX);
            for place in 0..lockstep.operands.len() {
                let operand = self.tuples.tuples[frame.value as usize][place];
                let of_operand = self.known_run(automaton, operand, byte);
                if after.is_none() && self.step(automaton, operand, byte)? == ConfigurationId::DEAD {
                    // one that is dead decides alone
                    run = of_operand;
                    break;
                }
                run = (run.0.max(of_operand.0), run.1.min(of_operand.1));
            }
            (low, high) = (low.max(run.0), high.min(run.1));
            let Some(tuple) = after else { continue };
            if self.accepts(lockstep, tuple) {
                self.add(closure, lockstep.exit, frame.below);
            }
            if self.is_extendable(automaton, l, tuple)? {
                let stack = self.stacks.push(lockstep.state, tuple, frame.below);
                self.add(closure, lockstep.state, stack);
            }
        }
        Ok((low, high))
    }

    /// Whether at least one more byte can lead from `tuple` to acceptance.
    fn is_extendable(&mut self, automaton: &Automaton, l: u32, tuple: u32) -> Result<bool> {
        if let Some(&known) = self.tuples.extendable.get(&(l, tuple)) {
            return Ok(known);
        }
        let lockstep = automaton.lockstep(l);
        let limit = automaton.limits().lockstep_search;
        let mut parents: FxHashMap<u32, u32> = FxHashMap::default();
        let mut queue = VecDeque::from([tuple]);
        parents.insert(tuple, tuple);
        while let Some(current) = queue.pop_front() {
            for &byte in automaton.class_representatives() {
                let Some(next) = self.step_tuple(automaton, lockstep, current, byte)? else { continue };
                let known = self.tuples.extendable.get(&(l, next)).copied();
                if self.accepts(lockstep, next) || known == Some(true) {
                    let mut on_path = current;
                    loop {
                        self.tuples.extendable.insert((l, on_path), true);
                        if on_path == tuple {
                            return Ok(true);
                        }
                        on_path = parents[&on_path];
                    }
                }
                if known.is_none() && !parents.contains_key(&next) {
                    if parents.len() >= limit {
                        return Err(Limits::exceeded(
                            "lockstep_search",
                            limit,
                            "an intersection or complement with no completion found so far",
                        ));
                    }
                    parents.insert(next, current);
                    queue.push_back(next);
                }
            }
            self.check_memory(automaton)?;
        }
        // nothing was found: none of the tuples seen leads to acceptance
        for &dead in parents.keys() {
            self.tuples.extendable.insert((l, dead), false);
        }
        Ok(false)
    }
}
