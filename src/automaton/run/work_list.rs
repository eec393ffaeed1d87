//! The work list of a closure.

use super::configuration::{Item, StackSetId};
use super::stack_set::StackSets;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::register::unique::memory::HistoryTrace;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Beyond this many states a hash index takes the place of a linear look.
pub(in crate::automaton) const LINEAR: usize = 24;

/// The work list of one closure.
#[derive(Debug, Default)]
pub(in crate::automaton) struct Closure {
    pub(in crate::automaton) visited: Vec<Item>,
    pub(in crate::automaton) index: FxHashMap<StateId, usize>,
    pub(in crate::automaton) work: Vec<Item>,
    /// Starts to enter in the second phase, with their ranks, while there are at most [`LINEAR`].
    pub(in crate::automaton) calls: Vec<(u32, Item)>,
    /// How many calls were added to them.
    pub(in crate::automaton) added_calls: usize,
    /// All of them in the order of their ranks, with what is below them, from when there are more until all are entered.
    pub(in crate::automaton) many_calls: BTreeMap<(u32, StateId), Vec<StackSetId>>,
    pub(in crate::automaton) accepting: bool,
    /// Whether a name was read to its end.
    pub(in crate::automaton) named: bool,
    /// What was read, where lists of different items remember it.
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

    /// Before it is closed: it takes the history to know what follows if that is so of what has moved.
    pub(in crate::automaton) fn doubt(&mut self, stacks: &StackSets) {
        self.trace.unknown |= self.visited.iter().any(|item| stacks.is_doubtful(item.stack));
    }

    /// The states reached.
    pub(in crate::automaton) fn states(&self) -> &[Item] {
        &self.visited
    }

    /// The leaf states reached.
    pub(in crate::automaton) fn leaves<'a>(
        &'a self,
        automaton: &'a Automaton,
    ) -> impl Iterator<Item = Item> + 'a {
        self.visited.iter().copied().filter(|item| automaton.state(item.state).is_leaf())
    }
}
