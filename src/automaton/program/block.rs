//! Blocks of states: the units of lowering.
//!
//! Ids of states count through all blocks, and so do the indices of edges, loops and lists: in each block they start at
//! the id of its first state.

use super::ids::StateId;
use super::registers::Records;
use super::state::{Edge, State};
use crate::grammar::{LabelId, RuleId};

/// The part of the grammar from which a state was lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The rule whose body contains the part.
    pub rule: RuleId,
    /// The innermost label around the part in that rule, if any.
    pub label: Option<LabelId>,
}

/// A block of states and the tables that they refer to.
#[derive(Debug, Default)]
pub(in crate::automaton) struct Block {
    /// The id of the first state, and the first index in each of the tables.
    pub(in crate::automaton) first: u32,
    pub(in crate::automaton) states: Vec<State>,
    /// Per state, the index in `scopes`.
    pub(in crate::automaton) state_scopes: Vec<u32>,
    /// The scopes of states; their indices start at 0.
    pub(in crate::automaton) scopes: Vec<Scope>,
    pub(in crate::automaton) edges: Vec<Edge>,
    pub(in crate::automaton) splits: Vec<StateId>,
    pub(in crate::automaton) records: Records,
    /// The starts of callables, sorted, with their ranks in the left-call order; callers come before callees.
    pub(in crate::automaton) ranks: Vec<(StateId, u32)>,
}

impl Block {
    /// Moves the content into a new block. The tables of the new block have no spare capacity, except for the tables of
    /// records, which are moved as they are. This block becomes empty and keeps its other allocations.
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

    /// The index in this block of an id or an index that counts through all blocks.
    pub(in crate::automaton) fn at(&self, id: u32) -> usize {
        (id - self.first) as usize
    }

    /// The id that the next entry of `table`, one of the tables of this block, will have.
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

    /// The rank of a callable in the left-call order; 0 for a state that is not the start of a callable.
    pub(in crate::automaton) fn rank(&self, start: StateId) -> u32 {
        self.ranks.binary_search_by_key(&start, |rank| rank.0).map_or(0, |place| self.ranks[place].1)
    }

    /// The number of ids that the block uses: the length of the longest of its tables of states, edges and splits.
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
