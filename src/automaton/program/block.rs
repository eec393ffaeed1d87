//! Blocks of states: what is lowered at once.
//!
//! Ids of states count through all blocks, and so do the places of edges, loops and lists: those of a block count from its
//! first state's id on.

use super::ids::StateId;
use super::registers::Records;
use super::state::{Edge, State};
use crate::grammar::{LabelId, RuleId};

/// The part of the grammar that a state was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The rule.
    pub rule: RuleId,
    /// The innermost label around it in that rule, if any.
    pub label: Option<LabelId>,
}

/// Some states and the tables that they point into.
#[derive(Debug, Default)]
pub(in crate::automaton) struct Block {
    /// The id of the first state, and the first place in each of the tables.
    pub(in crate::automaton) first: u32,
    pub(in crate::automaton) states: Vec<State>,
    /// Per state: the place in `scopes`.
    pub(in crate::automaton) state_scopes: Vec<u32>,
    /// Where states come from; these count from 0.
    pub(in crate::automaton) scopes: Vec<Scope>,
    pub(in crate::automaton) edges: Vec<Edge>,
    pub(in crate::automaton) splits: Vec<StateId>,
    pub(in crate::automaton) records: Records,
    /// Starts of callables, sorted, with their place in the left-call order; callers come before callees.
    pub(in crate::automaton) ranks: Vec<(StateId, u32)>,
}

impl Block {
    /// The block by itself, without room to grow; what is left is empty, with the room that it had.
    pub(in crate::automaton) fn take(&mut self) -> Block {
        let made = Block {
            first: self.first,
            states: self.states.clone(),
            state_scopes: self.state_scopes.clone(),
            scopes: self.scopes.clone(),
            edges: self.edges.clone(),
            splits: self.splits.clone(),
            records: std::mem::take(&mut self.records),
            ranks: self.ranks.clone(),
        };
        self.states.clear();
        self.state_scopes.clear();
        self.scopes.clear();
        self.edges.clear();
        self.splits.clear();
        self.ranks.clear();
        made
    }

    /// The place in this block of what has an id or a place in all of them.
    pub(in crate::automaton) fn at(&self, id: u32) -> usize {
        (id - self.first) as usize
    }

    /// The id of what is added to one of the tables next.
    pub(in crate::automaton) fn next<T>(&self, table: &[T]) -> u32 {
        self.first + table.len() as u32
    }

    /// Whether a state is in this block or a later one.
    pub(in crate::automaton) fn is_here(&self, state: StateId) -> bool {
        state.0 >= self.first
    }

    pub(in crate::automaton) fn state(&self, id: StateId) -> State {
        self.states[self.at(id.0)]
    }

    pub(in crate::automaton) fn edges(&self, first: u32, len: u32) -> &[Edge] {
        &self.edges[self.at(first)..self.at(first + len)]
    }

    pub(in crate::automaton) fn splits(&self, first: u32, len: u32) -> &[StateId] {
        &self.splits[self.at(first)..self.at(first + len)]
    }

    /// The place of a callable in the left-call order.
    pub(in crate::automaton) fn rank(&self, start: StateId) -> u32 {
        self.ranks.binary_search_by_key(&start, |rank| rank.0).map_or(0, |place| self.ranks[place].1)
    }

    /// How many ids the block takes up.
    pub(in crate::automaton) fn span(&self) -> usize {
        self.states.len().max(self.edges.len()).max(self.splits.len())
    }

    pub(in crate::automaton) fn shrink_to_fit(&mut self) {
        self.states.shrink_to_fit();
        self.state_scopes.shrink_to_fit();
        self.edges.shrink_to_fit();
        self.splits.shrink_to_fit();
    }

    /// Bytes on the heap.
    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.states.capacity() * size_of::<State>()
            + self.state_scopes.capacity() * 4
            + self.scopes.capacity() * size_of::<Scope>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.splits.capacity() * 4
            + self.records.memory_usage()
            + self.ranks.capacity() * 8
    }
}
