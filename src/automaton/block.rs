//! Blocks of states: what is lowered at once.
//!
//! Ids of states count through all blocks, and so do the places of edges, loops and lists: those of a block count from its
//! first state's id on.

use super::Scope;
use super::state::{Distinct, Edge, Lockstep, Loop, Members, State, StateId};

/// Some states and the tables that they point into.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// The id of the first state, and the first place in each of the tables.
    pub(super) first: u32,
    pub(super) states: Vec<State>,
    /// Per state: the place in `scopes`.
    pub(super) state_scopes: Vec<u32>,
    /// Where states come from; these count from 0.
    pub(super) scopes: Vec<Scope>,
    pub(super) edges: Vec<Edge>,
    pub(super) splits: Vec<StateId>,
    pub(super) loops: Vec<Loop>,
    pub(super) members: Vec<Members>,
    pub(super) distincts: Vec<Distinct>,
    pub(super) locksteps: Vec<Lockstep>,
    /// Starts of callables, sorted, with their place in the left-call order; callers come before callees.
    pub(super) ranks: Vec<(StateId, u32)>,
}

impl Block {
    /// The block by itself, without room to grow; what is left is empty, with the room that it had.
    pub(super) fn take(&mut self) -> Block {
        let made = Block {
            first: self.first,
            states: self.states.clone(),
            state_scopes: self.state_scopes.clone(),
            scopes: self.scopes.clone(),
            edges: self.edges.clone(),
            splits: self.splits.clone(),
            loops: std::mem::take(&mut self.loops),
            members: std::mem::take(&mut self.members),
            distincts: std::mem::take(&mut self.distincts),
            locksteps: std::mem::take(&mut self.locksteps),
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
    pub(super) fn at(&self, id: u32) -> usize {
        (id - self.first) as usize
    }

    /// The id of what is added to one of the tables next.
    pub(super) fn next<T>(&self, table: &[T]) -> u32 {
        self.first + table.len() as u32
    }

    /// Whether a state is in this block or a later one.
    pub(super) fn is_here(&self, state: StateId) -> bool {
        state.0 >= self.first
    }

    pub(super) fn state(&self, id: StateId) -> State {
        self.states[self.at(id.0)]
    }

    pub(super) fn edges(&self, first: u32, len: u32) -> &[Edge] {
        &self.edges[self.at(first)..self.at(first + len)]
    }

    pub(super) fn splits(&self, first: u32, len: u32) -> &[StateId] {
        &self.splits[self.at(first)..self.at(first + len)]
    }

    /// The place of a callable in the left-call order.
    pub(super) fn rank(&self, start: StateId) -> u32 {
        self.ranks.binary_search_by_key(&start, |rank| rank.0).map_or(0, |place| self.ranks[place].1)
    }

    /// How many ids the block takes up.
    pub(super) fn span(&self) -> usize {
        self.states.len().max(self.edges.len()).max(self.splits.len())
    }

    pub(super) fn shrink_to_fit(&mut self) {
        self.states.shrink_to_fit();
        self.state_scopes.shrink_to_fit();
        self.edges.shrink_to_fit();
        self.splits.shrink_to_fit();
    }

    /// Bytes on the heap.
    pub(super) fn memory_usage(&self) -> usize {
        let members = |m: &Members| m.keys.memory_usage() + m.values.capacity() * 9;
        self.states.capacity() * size_of::<State>()
            + self.state_scopes.capacity() * 4
            + self.scopes.capacity() * size_of::<Scope>()
            + self.edges.capacity() * size_of::<Edge>()
            + self.splits.capacity() * 4
            + self.loops.capacity() * size_of::<Loop>()
            + self.members.iter().map(members).sum::<usize>()
            + self.ranks.capacity() * 8
    }
}
