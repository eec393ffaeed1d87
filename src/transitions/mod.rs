//! Labelled transition systems and algorithms on their languages.
//!
//! A [`TransitionSystem`] is a deterministic automaton whose states are built when they are visited. Examples are the
//! automaton of a grammar over bytes and the automaton of a plan spec over actions. Each algorithm is a file:
//!
//! - `count`: the number of words, exactly ([`Counts`]);
//! - `list`: the words in order ([`List`]);
//! - `sample`: a word drawn uniformly ([`sample`]);
//! - `walk`: a word drawn letter by letter ([`Walk`]);
//! - `distance`: shortest and cheapest paths to acceptance ([`Distances`]);
//! - `repair`: the accepted word with the least edit distance from a given one ([`repair`]);
//! - `verify`: the first wrong letter of a given word, and the letters that are feasible in its place ([`verify`]);
//! - `graph`: the reachable part as nodes and edges ([`Graph`]);
//! - `minimize`: the minimal automaton of a [`Graph`] ([`minimize`]).
//!
//! A label may be a set of letters, such as a class of bytes. Counts, distances and graphs need labels only; algorithms
//! that read or write words also need [`Letters`].

mod count;
mod distance;
mod graph;
mod list;
mod minimize;
mod repair;
mod sample;
mod verify;
mod walk;

pub use count::{Count, Counts};
pub use distance::{Bounds, Distances, Indexed, Measure, PathLength, costs_from_start, shortest};
pub use graph::{Graph, GraphEdge, GraphNode};
pub use list::List;
pub use minimize::minimize;
pub use repair::{Alignment, Repaired, repair};
pub use sample::below;
pub use sample::{Sample, sample};
pub use verify::{Word, WordVerdict, verify, verify_reversed};
pub use walk::{WEIGHT, Walk};

use crate::error::Result;
use num_bigint::BigUint;
use rand::RngCore;
use std::hash::Hash;

/// A transition. Its source state is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition<S, L> {
    /// The letters that the transition reads.
    pub label: L,
    /// The state after reading any letter of the label.
    pub to: S,
}

/// Whether some accepted word has the text read so far as a prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completable {
    /// The state is accepting or reaches an accepting state.
    Yes,
    /// The state reaches no accepting state.
    No,
    /// The budget of the search ran out before the answer was known.
    Unknown,
}

/// A deterministic transition system with one start state, built lazily.
pub trait TransitionSystem {
    /// A state, usually an id. Equal states have equal languages.
    type State: Clone + Eq + Hash;
    /// A non-empty set of letters.
    type Label: Clone;

    /// The state before the first letter.
    fn start(&self) -> Self::State;

    /// Appends the transitions of a state to `into`, in the order in which a depth-first search should follow them. The
    /// labels of one state must be disjoint sets of letters.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
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

    /// `count` times the number of letters of a label. Default: `count`, for labels of one letter.
    fn times(&self, label: &Self::Label, count: &BigUint) -> BigUint {
        let _ = label;
        count.clone()
    }

    /// Whether an accepting state can be reached. The default is `Yes`, for systems in which every state can be
    /// completed.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
    fn completable(&mut self, state: &Self::State) -> Result<Completable> {
        let _ = state;
        Ok(Completable::Yes)
    }

    /// Whether the system has actions with several outcomes. Default: false.
    fn has_outcomes(&self) -> bool {
        false
    }

    /// The number of the action that a label is an outcome of. The environment chooses among the labels of a state with
    /// the same action. Default: `None`, for a label that is chosen on its own.
    fn action(&self, label: &Self::Label) -> Option<usize> {
        let _ = label;
        None
    }

    /// A lower bound on the number of letters to acceptance. Default: 0.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
    fn least_letters(&mut self, state: &Self::State) -> Result<u64> {
        let _ = state;
        Ok(0)
    }

    /// Whether the state, found on a path from the start, proves that the language is infinite although no state was
    /// visited twice: a stack that contains a symbol within itself can be pumped. Default: false.
    fn is_pumpable(&self, state: &Self::State) -> bool {
        let _ = state;
        false
    }

    /// Receives the number of bytes that an algorithm holds in addition to the tables of the system. Algorithms call
    /// this function from time to time. Default: accepts any number.
    ///
    /// # Errors
    /// A limit of the system, if `held` exceeds it.
    fn charge(&mut self, held: usize) -> Result<()> {
        let _ = held;
        Ok(())
    }

    /// How much of its own bound on states the system has used, in percent. Searches of unknown length stop early at a
    /// high load. Default: 0.
    fn load(&self) -> u8 {
        0
    }
}

/// A transition system whose labels consist of letters.
///
/// Which letters of a label are left may depend on the letters read before. For example, each of several similar
/// actions may be taken once while a state knows only how many were taken. [`Used`](Letters::Used) holds the letters
/// that were read. `Used` must not change how many letters are left.
pub trait Letters: TransitionSystem {
    /// The unit of words.
    type Letter: Clone;
    /// Consecutive letters of one label. All letters of a choice precede all letters of a greater choice.
    type Choice: Clone + Ord;
    /// The letters that were used up, where states do not record them.
    type Used: Clone + Eq + Hash + Default;

    /// Appends the remaining choices of a label to `into`.
    fn choices(&self, label: &Self::Label, used: &Self::Used, into: &mut Vec<Self::Choice>);

    /// Records that a letter of the choice was read.
    fn use_up(&self, choice: &Self::Choice, used: &mut Self::Used);

    /// The number of letters of a choice, at least 1.
    fn size(&self, choice: &Self::Choice) -> BigUint;

    /// The first letter of a choice.
    fn first(&self, choice: &Self::Choice) -> Self::Letter;

    /// The letter of a choice that follows `letter`; `None` after the last one.
    fn next(&self, choice: &Self::Choice, letter: &Self::Letter) -> Option<Self::Letter>;

    /// Draws a letter of a choice uniformly.
    fn draw<R: RngCore>(&self, choice: &Self::Choice, random: &mut R) -> Self::Letter;

    /// How likely a [`Walk`] continues with a label, compared with other labels and with [`WEIGHT`] for the end of the
    /// word. Default: [`WEIGHT`].
    fn weight(&self, label: &Self::Label) -> u32 {
        let _ = label;
        WEIGHT
    }

    /// The place of a label in a search for any word: labels of a lower rank are tried first, those of equal rank in
    /// the order of [`successors`](TransitionSystem::successors). Default: 0.
    fn rank(&self, label: &Self::Label) -> u8 {
        let _ = label;
        0
    }

    /// A state that accepts at least the same words, from a smaller set of states; lengths of words are cached for it.
    /// Default: the state itself.
    fn relaxed(&self, state: &Self::State) -> Self::State {
        state.clone()
    }
}

type TransitionOf<T> = Transition<<T as TransitionSystem>::State, <T as TransitionSystem>::Label>;

/// The number of bytes that an algorithm holds. The number is reported to the system whenever it has grown by at least
/// [`Held::STEP`].
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

/// The remaining choices of a state, in order, each with the state that it leads to.
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
