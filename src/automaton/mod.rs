//! The automaton: a byte-level pushdown automaton, determinised lazily over hash-consed configurations.
//!
//! - [`lower`](Automaton::new) turns a grammar into a Thompson-style NFA over bytes with calls, counted
//!   loops, member lists and locksteps (`state.rs`); in time linear in the grammar's size, save for
//!   left-recursive groups of rules, which cost the square of the group's size.
//! - `stack.rs` interns stacks: a node is a *set* of frames, each with the node below it, so that a
//!   configuration's stacks share all that they have in common (the graph-structured stack of Tomita 1985,
//!   kept canonical: equal sets of stacks have equal ids).
//! - `table.rs` interns configurations: sorted sets of (leaf state, stack) after closure.
//! - the same file fills `step(configuration, byte)` lazily, as a lazy DFA does; `successors.rs` keeps it, where any
//!   thread may read it without a lock (`segmented.rs`).
//!
//! Nothing here knows of tokens.

mod classes;
mod closure;
mod compress;
mod distinct;
mod errors;
pub mod graph;
mod left_recursion;
mod literals;
mod lockstep;
mod lower;
mod lower_distinct;
mod lower_members;
mod lower_names;
mod lower_word_graph;
mod members;
pub(crate) mod names;
mod near;
mod parts;
pub(crate) mod segmented;
mod sizes;
mod stack;
pub(crate) mod state;
pub(crate) mod string_text;
mod successors;
mod table;
mod task;
mod text_sets;
mod utf8;
pub mod words;

pub(crate) use distinct::Likeness;
pub(crate) use parts::Part;
pub use state::StateId;
pub(crate) use successors::{Dense, Successors};
pub use table::{ConfigurationId, Tables};

use crate::error::Result;
use crate::grammar::{ByteSet, Grammar, LabelId, RuleId};
use crate::limits::Limits;
use classes::ByteClasses;
use rustc_hash::FxHashMap;
use state::{Distinct, Edge, Lockstep, Loop, Members, State};

/// A lowered grammar. Immutable; the lazily made parts are in [`Tables`].
#[derive(Clone, Debug)]
pub struct Automaton {
    states: Vec<State>,
    /// Per state: the place in `scopes`.
    state_scopes: Vec<u32>,
    /// Where states come from.
    scopes: Vec<Scope>,
    edges: Vec<Edge>,
    splits: Vec<StateId>,
    loops: Vec<Loop>,
    members: Vec<Members>,
    distincts: Vec<Distinct>,
    locksteps: Vec<Lockstep>,
    /// Per start of a callable: its place in the left-call order; callers come before callees.
    ranks: FxHashMap<StateId, u32>,
    classes: ByteClasses,
    /// Whether names of objects are told apart.
    names: bool,
    /// Starts of the names of which a beginning may leave few.
    name_starts: Vec<StateId>,
    start: StateId,
    nullable: bool,
    limits: Limits,
}

/// The part of the grammar that a state was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The rule.
    pub rule: RuleId,
    /// The innermost label around it in that rule, if any.
    pub label: Option<LabelId>,
}

/// Every byte.
const ALL_BYTES: [u8; 256] = {
    let mut all = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        all[byte] = byte as u8;
        byte += 1;
    }
    all
};

impl Automaton {
    /// Lowers a grammar.
    ///
    /// # Errors
    /// `automaton/empty-language` if no word exists, `automaton/cyclic-lockstep` if an intersection or
    /// complement contains itself, `automaton/left-recursive-rest`, and limits: `automaton_states`,
    /// `lockstep_search`.
    pub fn new(grammar: &Grammar, limits: &Limits) -> Result<Automaton> {
        lower::lower(grammar, limits)
    }

    /// How many states there are.
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// How many classes of bytes the automaton tells apart, 1 to 256.
    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// One byte of each class.
    pub fn class_representatives(&self) -> &[u8] {
        self.classes.representatives()
    }

    /// The class of a byte.
    pub fn class_of(&self, byte: u8) -> usize {
        self.classes.get(byte)
    }

    /// The bytes that must be tried one by one where a configuration remembers what it has read: all of them. Elsewhere
    /// one of each class is enough.
    pub(crate) fn distinguished(&self, remembers: bool) -> &[u8] {
        if remembers { &ALL_BYTES } else { self.classes.representatives() }
    }

    /// Whether names of objects are told apart.
    pub(crate) fn has_names(&self) -> bool {
        self.names
    }

    /// The limits it was lowered under.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Where a state comes from.
    pub fn scope(&self, state: StateId) -> Scope {
        self.scopes[self.state_scopes[state.index()] as usize]
    }

    /// Bytes on the heap.
    pub fn memory_usage(&self) -> usize {
        let members = |m: &Members| {
            m.keys.iter().map(|k| k.edges.capacity() * 8 + k.members.capacity() * 4 + 56).sum::<usize>()
                + m.values.capacity() * 9
        };
        self.states.capacity() * size_of::<State>()
            + self.state_scopes.capacity() * 4
            + self.edges.capacity() * size_of::<Edge>()
            + self.splits.capacity() * 4
            + self.loops.capacity() * size_of::<Loop>()
            + self.members.iter().map(members).sum::<usize>()
            + self.ranks.capacity() * 9
    }

    /// The bytes that a state waits for; none for states that do not.
    fn wanted_bytes(&self, state: StateId) -> ByteSet {
        match self.state(state) {
            State::Byte { byte, .. } => ByteSet::range(byte, byte),
            State::ByteOr { byte, otherwise, .. } => {
                self.wanted_bytes(otherwise).union(&ByteSet::range(byte, byte))
            }
            State::Bytes { first, len } => {
                let ranges = self.edges(first, len).iter().map(|edge| ByteSet::range(edge.low, edge.high));
                ranges.fold(ByteSet::EMPTY, |all, range| all.union(&range))
            }
            State::Key { members, node } => {
                let key = &self.members[members as usize].keys[node as usize];
                key.edges.iter().map(|edge| edge.0).collect()
            }
            State::Lockstep(_) => ByteSet::FULL,
            _ => ByteSet::EMPTY,
        }
    }

    pub(crate) fn state(&self, id: StateId) -> State {
        self.states[id.index()]
    }

    pub(crate) fn edges(&self, first: u32, len: u32) -> &[Edge] {
        &self.edges[first as usize..(first + len) as usize]
    }

    fn key_edges(&self, members: u32, node: u32) -> &[(u8, u32)] {
        &self.members[members as usize].keys[node as usize].edges
    }

    pub(crate) fn splits(&self, first: u32, len: u32) -> &[StateId] {
        &self.splits[first as usize..(first + len) as usize]
    }
}
