//! Enumeration of the words of a system.

use super::{Completable, Held, Letters, Transition, TransitionOf, TransitionSystem, open_choices};
use crate::error::Result;
use rustc_hash::FxHashMap;

/// Lists the accepted words of one system, each once: depth first in the order of their letters, for finite languages;
/// or by length and then in the order of their letters, for any language.
pub struct List<T: Letters> {
    /// The current length; `None` to list all lengths in one pass.
    length: Option<usize>,
    is_started: bool,
    path: Vec<Level<T::Used>>,
    word: Vec<T::Letter>,
    /// The untried letters of all states of the path; the letter to try next is the last one.
    open: Vec<Open<T::Choice, T::Letter, T::State>>,
    reach: Reach<T::State>,
    held: Held,
}

/// A state on the path of the current word.
struct Level<U> {
    used: U,
    /// The index of the state's first letter in the shared list.
    first: usize,
}

/// A letter of a choice, and the state that all letters of the choice lead to.
struct Open<C, L, S> {
    choice: C,
    letter: L,
    to: S,
}

impl<T: Letters> List<T> {
    /// Lists all words in one pass, which ends if the language is finite.
    pub fn depth_first() -> List<T> {
        List::of_length(None)
    }

    /// Lists all words of at least `from` letters, by length. The list never ends: after the last word of a finite
    /// language, [`next`](List::next) tries ever greater lengths until a limit of the system is reached. `next` never
    /// returns if the system has no limit, or if lengths are refused without work, as for an empty language. First
    /// check that the language is not empty, and stop after its last word if it is finite.
    pub fn by_length(from: usize) -> List<T> {
        List::of_length(Some(from))
    }

    fn of_length(length: Option<usize>) -> List<T> {
        List {
            length,
            is_started: false,
            path: Vec::new(),
            word: Vec::new(),
            open: Vec::new(),
            reach: Reach::default(),
            held: Held::default(),
        }
    }

    /// The next word; `None` after the last word of a depth-first pass.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit. After an error the list is incomplete and should be
    /// dropped.
    pub fn next(&mut self, system: &mut T) -> Result<Option<Vec<T::Letter>>> {
        loop {
            let Some(level) = self.path.last() else {
                match (self.is_started, &mut self.length) {
                    (true, None) => return Ok(None),
                    (true, Some(length)) => *length += 1,
                    (false, _) => {}
                }
                self.is_started = true;
                let start = system.start();
                if self.is_wanted(system, &start, 0)? && self.enter(system, &start, T::Used::default())? {
                    return Ok(Some(self.word.clone()));
                }
                continue;
            };
            if self.open.len() == level.first {
                self.path.pop();
                self.word.pop();
                self.held.give_back(size_of::<Level<T::Used>>());
                continue;
            }
            let Some(Open { choice, letter, to }) = self.open.pop() else { continue };
            self.held.give_back(size_of::<Open<T::Choice, T::Letter, T::State>>());
            if !self.is_wanted(system, &to, self.word.len() + 1)? {
                continue;
            }
            let Some(level) = self.path.last() else { continue };
            let mut used = level.used.clone();
            system.use_up(&choice, &mut used);
            if let Some(next) = system.next(&choice, &letter) {
                self.push(system, Open { choice, letter: next, to: to.clone() })?;
            }
            self.word.push(letter);
            if self.enter(system, &to, used)? {
                return Ok(Some(self.word.clone()));
            }
        }
    }

    fn push(&mut self, system: &mut T, open: Open<T::Choice, T::Letter, T::State>) -> Result<()> {
        self.open.push(open);
        self.held.add(system, size_of::<Open<T::Choice, T::Letter, T::State>>())
    }

    /// Whether a word that the current pass lists may continue in a state after `letters` letters.
    fn is_wanted(&mut self, system: &mut T, state: &T::State, letters: usize) -> Result<bool> {
        match self.length {
            None => Ok(system.completable(state)? != Completable::No),
            Some(length) => {
                let relaxed = system.relaxed(state);
                self.reach.reaches(system, relaxed, length - letters, &mut self.held)
            }
        }
    }

    /// Appends a state to the path. Returns whether a word that the current pass lists ends in the state.
    fn enter(&mut self, system: &mut T, state: &T::State, used: T::Used) -> Result<bool> {
        let first = self.open.len();
        let is_full = self.length == Some(self.word.len());
        if !is_full {
            for (choice, to) in open_choices(system, state, &used)?.into_iter().rev() {
                let letter = system.first(&choice);
                self.push(system, Open { choice, letter, to })?;
            }
        }
        let ends = (is_full || self.length.is_none()) && system.is_accepting(state);
        self.path.push(Level { used, first });
        self.held.add(system, size_of::<Level<T::Used>>())?;
        Ok(ends)
    }
}

/// Whether some word of a given length leads from a state to acceptance, with a cache.
struct Reach<S> {
    known: FxHashMap<(S, usize), bool>,
}

impl<S> Default for Reach<S> {
    fn default() -> Reach<S> {
        Reach { known: FxHashMap::default() }
    }
}

/// A state on the path of the search. The untried transitions of the last state of the path are at the end of a list
/// that all states share.
struct Search<S> {
    state: S,
    left: usize,
    first: usize,
}

impl<S: Clone + Eq + std::hash::Hash> Reach<S> {
    /// Whether a word of exactly `letters` letters leads from `state` to acceptance: a depth-first search that ends at
    /// the first word found.
    fn reaches<T: TransitionSystem<State = S>>(
        &mut self,
        system: &mut T,
        state: S,
        letters: usize,
        held: &mut Held,
    ) -> Result<bool> {
        let mut open: Vec<TransitionOf<T>> = Vec::new();
        let mut path: Vec<Search<S>> = Vec::new();
        let mut answer = self.look(system, &state, letters)?;
        if answer.is_none() {
            path.push(self.search(system, state, letters, &mut open)?);
        }
        while let Some(level) = path.last() {
            // a word was found below: all states on the path reach acceptance
            if answer == Some(true) || open.len() == level.first {
                open.truncate(level.first);
                let reaches = answer == Some(true);
                if let Some(Search { state, left, .. }) = path.pop() {
                    self.known.insert((state, left), reaches);
                    held.add(system, 2 * size_of::<((S, usize), bool)>())?;
                }
                answer = Some(reaches);
                continue;
            }
            let left = level.left - 1;
            let Some(Transition { to, .. }) = open.pop() else { break };
            answer = self.look(system, &to, left)?;
            if answer.is_none() {
                path.push(self.search(system, to, left, &mut open)?);
            }
        }
        Ok(answer.unwrap_or_default())
    }

    /// The answer, if it is known without a search.
    fn look<T: TransitionSystem<State = S>>(
        &self,
        system: &mut T,
        state: &S,
        letters: usize,
    ) -> Result<Option<bool>> {
        if letters == 0 {
            return Ok(Some(system.is_accepting(state)));
        }
        if let Some(&known) = self.known.get(&(state.clone(), letters)) {
            return Ok(Some(known));
        }
        let is_hopeless =
            system.completable(state)? == Completable::No || system.least_letters(state)? > letters as u64;
        Ok(is_hopeless.then_some(false))
    }

    fn search<T: TransitionSystem<State = S>>(
        &self,
        system: &mut T,
        state: S,
        left: usize,
        open: &mut Vec<TransitionOf<T>>,
    ) -> Result<Search<S>> {
        let first = open.len();
        system.successors(&state, open)?;
        open[first..].reverse();
        Ok(Search { state, left, first })
    }
}
