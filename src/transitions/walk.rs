//! Random walks: words of any language, drawn letter by letter, that always end in time.

use super::{Completable, Held, Letters, Transition, TransitionOf, TransitionSystem};
use crate::error::Result;
use num_bigint::BigUint;
use rand::{Rng, RngCore};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// The weight of the end of a word, and the usual weight of a label.
pub const WEIGHT: u32 = 8;

/// How often a walk begins again after a dead end, before it searches exactly.
const ATTEMPTS: usize = 32;

/// What is known about the shortest word from a state to acceptance.
#[derive(Clone, Copy)]
struct Bounds {
    /// A number of letters that is enough; `usize::MAX` if none is known.
    enough: usize,
    /// A number of letters that is not enough.
    too_few: Option<usize>,
}

/// Draws words of one system by random walks, and caches which states reach acceptance in time.
pub struct Walk<S> {
    known: FxHashMap<S, Bounds>,
    held: Held,
}

impl<S> Default for Walk<S> {
    fn default() -> Walk<S> {
        Walk { known: FxHashMap::default(), held: Held::default() }
    }
}

/// The number of states that a search may enter to decide on a label, for each letter of a word. Beyond it,
/// the label is not taken. So a word within the bound is always known to follow.
const SEARCH: usize = 4;

/// A state on the path of the search. The untried transitions of the last state of the path are at the end of a list
/// that all states share.
struct Level<S> {
    state: S,
    /// The number of letters that may follow.
    left: usize,
    /// The index of the state's first transition in the shared list.
    first: usize,
}

impl<S: Clone + Eq + Hash> Walk<S> {
    /// Draws a word of at most `most` letters. `None` if there is none.
    ///
    /// Whether a word can still be completed in time is first decided for [relaxed](Letters::relaxed) states, of which
    /// there are fewer. If this leads to a dead end, the walk begins again; after some attempts it takes the states as
    /// they are.
    ///
    /// At each state the walk chooses between the end, if the state is accepting, and the labels after which a word of
    /// at most `most` letters can still be completed, in proportion to [`WEIGHT`] and to
    /// [`Letters::weight`]. The letters of a label are equally likely.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
    pub fn draw<T: Letters<State = S>, R: RngCore>(
        &mut self,
        system: &mut T,
        most: usize,
        random: &mut R,
    ) -> Result<Option<Vec<T::Letter>>> {
        let start = system.start();
        let relaxed = system.relaxed(&start);
        // short words are found first, without the search for long ones
        let (mut found, limit) = (false, Self::limit(most));
        for bound in (0..usize::BITS).map(|bits| 1usize << bits).take_while(|&bound| bound < most) {
            found = found || self.reaches(system, &relaxed, bound, limit)?;
        }
        if !found && !self.reaches(system, &relaxed, most, usize::MAX)? {
            return Ok(None);
        }
        for _ in 0..ATTEMPTS {
            if let Some(word) = self.attempt(system, most, false, random)? {
                return Ok(Some(word));
            }
        }
        match self.reaches(system, &start, most, usize::MAX)? {
            true => self.attempt(system, most, true, random),
            false => Ok(None),
        }
    }

    /// The number of states that a search for the label of a word of at most `most` letters may enter.
    fn limit(most: usize) -> usize {
        SEARCH.saturating_mul(most.saturating_add(16))
    }

    /// Walks once. `None` at a dead end, which an `exact` walk does not meet.
    fn attempt<T: Letters<State = S>, R: RngCore>(
        &mut self,
        system: &mut T,
        most: usize,
        exact: bool,
        random: &mut R,
    ) -> Result<Option<Vec<T::Letter>>> {
        let (mut state, mut used, mut word) = (system.start(), T::Used::default(), Vec::new());
        let (mut transitions, limit) = (Vec::new(), Self::limit(most));
        loop {
            let end = if system.is_accepting(&state) { WEIGHT } else { 0 };
            transitions.clear();
            if word.len() < most {
                system.successors(&state, &mut transitions)?;
            }
            let (choices, to) = loop {
                let mut weights = transitions.iter().map(|next: &TransitionOf<T>| system.weight(&next.label));
                let total = end + weights.clone().sum::<u32>();
                if total == 0 {
                    return Ok(None);
                }
                let drawn = random.random_range(0..total);
                let mut passed = end;
                // without a place the end was drawn
                let place = weights.position(|weight| {
                    passed += weight;
                    drawn >= end && drawn < passed
                });
                let Some(place) = place else { return Ok(Some(word)) };
                let Transition { label, to } = transitions.swap_remove(place);
                let mut choices = Vec::new();
                system.choices(&label, &used, &mut choices);
                let goal = if exact { to.clone() } else { system.relaxed(&to) };
                let left = most - word.len() - 1;
                if !choices.is_empty() && self.reaches(system, &goal, left, limit)? {
                    break (choices, to);
                }
            };
            let total: BigUint = choices.iter().map(|choice| system.size(choice)).sum();
            let mut drawn = super::below(&total, random);
            for choice in choices {
                let size = system.size(&choice);
                if drawn < size {
                    word.push(system.draw(&choice, random));
                    system.use_up(&choice, &mut used);
                    break;
                }
                drawn -= size;
            }
            state = to;
        }
    }

    /// Whether a word of at most `most` letters leads from a state to acceptance. A depth-first search that ends at the
    /// first word found, or, with the answer `false`, after it has entered `limit` states.
    fn reaches<T: Letters<State = S>>(
        &mut self,
        system: &mut T,
        from: &S,
        most: usize,
        limit: usize,
    ) -> Result<bool> {
        if let Some(answer) = self.look(system, from, most)? {
            return Ok(answer);
        }
        let (mut open, mut path, mut entered) = (Vec::new(), Vec::new(), 0);
        path.push(self.enter(system, from.clone(), most, &mut open)?);
        while let Some(level) = path.last() {
            if open.len() == level.first {
                if let Some(Level { state, left, .. }) = path.pop() {
                    let bounds = self.bounds(system, state)?;
                    bounds.too_few = bounds.too_few.max(Some(left));
                }
                continue;
            }
            let left = level.left - 1;
            let Some(Transition { to, .. }): Option<TransitionOf<T>> = open.pop() else { break };
            match self.look(system, &to, left)? {
                Some(false) => {}
                None if entered == limit => return Ok(false),
                None => {
                    entered += 1;
                    path.push(self.enter(system, to, left, &mut open)?);
                }
                Some(true) => {
                    let mut enough = match system.is_accepting(&to) {
                        true => 0,
                        false => self.known.get(&to).map_or(left, |bounds| bounds.enough),
                    };
                    while let Some(Level { state, .. }) = path.pop() {
                        enough += 1;
                        let bounds = self.bounds(system, state)?;
                        bounds.enough = bounds.enough.min(enough);
                    }
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The answer, if it is known without a search.
    fn look<T: TransitionSystem<State = S>>(
        &self,
        system: &mut T,
        state: &S,
        most: usize,
    ) -> Result<Option<bool>> {
        if system.is_accepting(state) {
            return Ok(Some(true));
        }
        if most == 0 || system.completable(state)? == Completable::No {
            return Ok(Some(false));
        }
        Ok(match self.known.get(state) {
            Some(bounds) if bounds.enough <= most => Some(true),
            Some(bounds) if bounds.too_few >= Some(most) => Some(false),
            _ => None,
        })
    }

    fn enter<T: Letters<State = S>>(
        &mut self,
        system: &mut T,
        state: S,
        left: usize,
        open: &mut Vec<TransitionOf<T>>,
    ) -> Result<Level<S>> {
        let first = open.len();
        system.successors(&state, open)?;
        // the list is followed from its end
        open[first..].reverse();
        open[first..].sort_by_key(|next| std::cmp::Reverse(system.rank(&next.label)));
        Ok(Level { state, left, first })
    }

    fn bounds<T: TransitionSystem<State = S>>(&mut self, system: &mut T, state: S) -> Result<&mut Bounds> {
        if !self.known.contains_key(&state) {
            self.held.add(system, 2 * size_of::<(S, Bounds)>())?;
        }
        Ok(self.known.entry(state).or_insert(Bounds { enough: usize::MAX, too_few: None }))
    }
}
