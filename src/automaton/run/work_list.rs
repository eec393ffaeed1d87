//! The worklist of a closure.

use super::configuration::{Item, StackSetId};
use super::stack_set::StackSets;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::register::unique::memory::HistoryTrace;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// With more states than this, a hash index replaces linear scans.
pub(in crate::automaton) const LINEAR: usize = 24;

/// A configuration under construction: the states reached, and the worklists of states and calls still to be followed.
#[derive(Debug, Default)]
pub(in crate::automaton) struct Closure {
    pub(in crate::automaton) visited: Vec<Item>,
    pub(in crate::automaton) index: FxHashMap<StateId, usize>,
    pub(in crate::automaton) work: Vec<Item>,
    /// The calls to be entered once no other state is left to follow, with their ranks, while there are at most
    /// [`LINEAR`] of them.
    pub(in crate::automaton) calls: Vec<(u32, Item)>,
    /// The number of calls added to `calls`, including calls that were united with an earlier call of the same start;
    /// at most `UNITED_ONE_BY_ONE`.
    pub(in crate::automaton) added_calls: usize,
    /// All calls in order of their ranks, with the stacks below. Used once there are too many calls for `calls`, until
    /// all calls are entered.
    pub(in crate::automaton) many_calls: BTreeMap<(u32, StateId), Vec<StackSetId>>,
    pub(in crate::automaton) accepting: bool,
    /// Whether the name of an object's member has ended.
    pub(in crate::automaton) named: bool,
    /// The history of the text read, and other data of lists of different items.
    pub(in crate::automaton) trace: HistoryTrace,
}

impl Closure {
    pub(in crate::automaton) fn clear(&mut self) {
        self.visited.clear();
        self.index.clear();
        self.work.clear();
        self.calls.clear();
        self.many_calls.clear();
        self.added_calls = 0;
        self.accepting = false;
        self.named = false;
        self.trace.clear();
    }

    /// Marks the result as unknown if a state that was moved depends on a history that is not recorded. Called before
    /// closing.
    pub(in crate::automaton) fn doubt(&mut self, stacks: &StackSets) {
        self.trace.unknown |= self.visited.iter().any(|item| stacks.is_doubtful(item.stack));
    }

    /// The states reached so far.
    pub(in crate::automaton) fn states(&self) -> &[Item] {
        &self.visited
    }

    /// The leaf states reached so far.
    pub(in crate::automaton) fn leaves<'a>(
        &'a self,
        automaton: &'a Automaton,
    ) -> impl Iterator<Item = Item> + 'a {
        self.visited.iter().copied().filter(|item| automaton.state(item.state).is_leaf())
    }
}
