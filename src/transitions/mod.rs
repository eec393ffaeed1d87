//! Labelled transition systems, and what is asked of their languages.
//!
//! A [`TransitionSystem`] is a deterministic automaton whose states are made as they are visited: the automaton of a grammar
//! over bytes and the automaton of a plan spec over actions are two. The algorithms on it are a file each:
//!
//! - `count`: the number of words, exactly ([`Counts`]);
//! - `list`: the words in order ([`List`]);
//! - `sample`: a word drawn uniformly ([`sample`]);
//! - `distance`: shortest and cheapest ways to acceptance ([`Distances`]);
//! - `repair`: the accepted word with the least edit distance from a given one ([`repair`]);
//! - `verify`: the first letter of a given word that is wrong, and what was feasible there ([`verify`]);
//! - `graph`: the reachable part as nodes and edges ([`Graph`]);
//! - `minimize`: the least automaton of such a graph ([`minimize`]).
//!
//! A label may be a set of letters, such as a class of bytes. Counts, distances and graphs need labels only; what reads or
//! writes words also needs [`Letters`].

mod count;
mod distance;
mod graph;
mod list;
mod minimize;
mod repair;
mod sample;
mod verify;

pub use count::{Count, Counts};
pub use distance::{Bounds, Distances, Indexed, Measure, PathLength, costs_from_start, shortest};
pub use graph::{Graph, GraphEdge, GraphNode};
pub use list::List;
pub use minimize::minimize;
pub use repair::{Alignment, Repaired, repair};
pub use sample::below;
pub use sample::{Sample, sample};
pub use verify::{Word, WordVerdict, verify, verify_reversed};

use crate::error::Result;
use num_bigint::BigUint;
use rand::RngCore;
use std::hash::Hash;

/// An edge from a state that the context names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition<S, L> {
    /// The letters that are read.
    pub label: L,
    /// The state after any of them.
    pub to: S,
}

/// Whether some accepted word begins with what led to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completable {
    /// An accepting state can be reached, or this is one.
    Yes,
    /// None can be reached.
    No,
    /// The budget of the search ran out first.
    Unknown,
}

/// A deterministic transition system with one start state, made lazily.
pub trait TransitionSystem {
    /// A state, usually an id. Equal states have equal languages.
    type State: Clone + Eq + Hash;
    /// A set of letters, at least one.
    type Label: Clone;

    /// The state before the first letter.
    fn start(&self) -> Self::State;

    /// Appends the transitions of a state to `into`, in the order in which a search depth first should follow them; their
    /// sets of letters are disjoint.
    ///
    /// # Errors
    /// Limits of the system.
    fn successors(
        &mut self,
        state: &Self::State,
        into: &mut Vec<Transition<Self::State, Self::Label>>,
    ) -> Result<()>;

    /// Whether a word may end in the state.
    fn is_accepting(&self, state: &Self::State) -> bool;

    /// The cost of each letter of a label. Default: 0.
    fn cost(&self, label: &Self::Label) -> u64 {
        let _ = label;
        0
    }

    /// `count` times the number of letters of a label. Default: once.
    fn times(&self, label: &Self::Label, count: &BigUint) -> BigUint {
        let _ = label;
        count.clone()
    }

    /// Whether an accepting state can be reached. A system all of whose states can be completed has the default, `Yes`.
    ///
    /// # Errors
    /// Limits of the system.
    fn completable(&mut self, state: &Self::State) -> Result<Completable> {
        let _ = state;
        Ok(Completable::Yes)
    }

    /// Whether there are actions with outcomes. Default: there are none.
    fn has_outcomes(&self) -> bool {
        false
    }

    /// The action of which a label is one of several outcomes, by a number; the environment chooses among the labels of a
    /// state that have the same action. Default: `None`, as of a label that can be taken by itself.
    fn action(&self, label: &Self::Label) -> Option<usize> {
        let _ = label;
        None
    }

    /// A lower bound of the number of letters to acceptance. Default: 0.
    ///
    /// # Errors
    /// Limits of the system.
    fn least_letters(&mut self, state: &Self::State) -> Result<u64> {
        let _ = state;
        Ok(0)
    }

    /// Whether the state, found on the way from the start, shows that the language is infinite although no state was
    /// visited twice: a stack with a symbol inside of itself can be pumped. Default: it does not.
    fn is_pumpable(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// Told now and then how many bytes an algorithm holds besides the tables of the system. Default: unbounded.
    ///
    /// # Errors
    /// A limit of the system, if that is too much.
    fn charge(&mut self, held: usize) -> Result<()> {
        let _ = held;
        Ok(())
    }

    /// How much of its own bound on states the system has used, in percent. Searches without a goal end early by it.
    /// Default: 0.
    fn load(&self) -> u8 {
        0
    }
}

/// A transition system whose labels are taken apart into letters.
///
/// Which letters of a label are left may depend on those read before, as where each of several like actions may come once
/// and a state knows only how many did: that is [`Used`](Letters::Used). It must not change how many are left.
pub trait Letters: TransitionSystem {
    /// What a word is made of.
    type Letter: Clone;
    /// Consecutive letters of one label. All letters of a choice come before those of the next greater one.
    type Choice: Clone + Ord;
    /// The letters that were used up, as far as states do not know them.
    type Used: Clone + Eq + Hash + Default;

    /// Appends the choices of a label that are left to `into`.
    fn choices(&self, label: &Self::Label, used: &Self::Used, into: &mut Vec<Self::Choice>);

    /// Takes note of a letter of the choice.
    fn use_up(&self, choice: &Self::Choice, used: &mut Self::Used);

    /// The number of letters of a choice.
    fn size(&self, choice: &Self::Choice) -> BigUint;

    /// The first letter of a choice.
    fn first(&self, choice: &Self::Choice) -> Self::Letter;

    /// The letter of a choice after a given one.
    fn next(&self, choice: &Self::Choice, letter: &Self::Letter) -> Option<Self::Letter>;

    /// A letter of a choice, each as probable as any other.
    fn draw<R: RngCore>(&self, choice: &Self::Choice, random: &mut R) -> Self::Letter;

    /// A state that reads all that this one does and perhaps more, of which there are fewer: lengths of words are
    /// remembered for it. Default: the state itself.
    fn relaxed(&self, state: &Self::State) -> Self::State {
        state.clone()
    }
}

/// A shorthand for the transitions of a system.
type TransitionOf<T> = Transition<<T as TransitionSystem>::State, <T as TransitionSystem>::Label>;

/// Bytes that an algorithm holds, reported to the system whenever they have grown by [`Held::STEP`].
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    bytes: usize,
    reported: usize,
}

impl Held {
    const STEP: usize = 1 << 16;

    fn add<T: TransitionSystem>(&mut self, system: &mut T, bytes: usize) -> Result<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes >= self.reported.saturating_add(Held::STEP) {
            self.reported = self.bytes;
            system.charge(self.bytes)?;
        }
        Ok(())
    }

    fn give_back(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.reported = self.reported.min(self.bytes);
    }
}

/// Every choice that is left in a state, in order, with the state that it leads to.
fn open_choices<T: Letters>(
    system: &mut T,
    state: &T::State,
    used: &T::Used,
) -> Result<Vec<(T::Choice, T::State)>> {
    let (mut transitions, mut choices, mut open) = (Vec::new(), Vec::new(), Vec::new());
    system.successors(state, &mut transitions)?;
    for transition in transitions {
        system.choices(&transition.label, used, &mut choices);
        open.extend(choices.drain(..).map(|choice| (choice, transition.to.clone())));
    }
    open.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(open)
}
