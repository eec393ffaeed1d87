//! The exact number of words from a state to acceptance.

use super::{Completable, Held, Transition, TransitionOf, TransitionSystem};
use crate::error::Result;
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::fmt;
use std::hash::Hash;

/// The number of words of a language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    /// The language has exactly this many words.
    Finite(BigUint),
    /// The language has infinitely many words.
    Infinite,
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Finite(count) => count.fmt(f),
            Count::Infinite => f.write_str("infinite"),
        }
    }
}

/// Counts words of one system and caches the count of each state. The system is deterministic, so each word is counted
/// once. In `all`, a state on the current path has the entry `None`.
#[derive(Clone, Debug)]
pub struct Counts<S> {
    all: FxHashMap<S, Option<BigUint>>,
    /// Counts of words with a bounded number of letters.
    within: FxHashMap<(S, usize), BigUint>,
    held: Held,
}

impl<S> Default for Counts<S> {
    fn default() -> Counts<S> {
        Counts { all: FxHashMap::default(), within: FxHashMap::default(), held: Held::default() }
    }
}

/// A state on the current path. The remaining transitions of the last state of the path are at the end of a list that
/// all states share.
struct Level<S> {
    state: S,
    /// The number of letters that may follow, if it is bounded.
    left: usize,
    /// The index of the state's first transition in the shared list.
    first: usize,
    total: BigUint,
    /// Bytes held for the state until the search leaves the state.
    held: usize,
}

impl<S> Level<S> {
    /// Adds to the total. Returns the number of bytes by which the total has grown. These bytes are held for this
    /// level, since the totals of a long path can take more memory than all cached counts.
    fn add(&mut self, count: BigUint) -> usize {
        let before = size_of_count(&self.total);
        self.total += count;
        let grown = size_of_count(&self.total) - before;
        self.held += grown;
        grown
    }
}

impl<S: Clone + Eq + Hash> Counts<S> {
    /// The number of words from a state to acceptance. The number is infinite if a state recurs on a path and is not
    /// known to be a dead end, or if a visited state is found to be [pumpable](TransitionSystem::is_pumpable); only
    /// some states are asked.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
    pub fn count<T: TransitionSystem<State = S>>(&mut self, system: &mut T, from: &S) -> Result<Count> {
        let mut path = Vec::new();
        let count = self.count_paths(system, from, &mut path);
        if !matches!(count, Ok(Count::Finite(_))) {
            path.iter().for_each(|level| self.held.give_back(level.held));
            self.all.retain(|_, count| count.is_some());
        }
        count
    }

    fn count_paths<T: TransitionSystem<State = S>>(
        &mut self,
        system: &mut T,
        from: &S,
        path: &mut Vec<Level<S>>,
    ) -> Result<Count> {
        let mut open: Vec<TransitionOf<T>> = Vec::new();
        if !self.all.contains_key(from) {
            path.push(self.enter(system, from, &mut open)?);
        }
        while let Some(level) = path.last_mut() {
            if open.len() == level.first {
                let (count, held) = (std::mem::take(&mut level.total), level.held);
                self.held.give_back(held);
                self.held.add(system, size_of_count(&count))?;
                if let Some(level) = path.pop() {
                    self.all.insert(level.state, Some(count));
                }
                continue;
            }
            let Some(Transition { label, to }) = open.last() else { break };
            match self.all.get(to) {
                Some(Some(known)) => {
                    let held = level.add(system.times(label, known));
                    open.pop();
                    self.held.add(system, held)?;
                }
                Some(None) if system.completable(to)? == Completable::No => {
                    open.pop();
                }
                Some(None) => return Ok(Count::Infinite),
                None => {
                    // stacks grow along the path, so it is enough to check some depths: the powers of two
                    if path.len().is_power_of_two() && system.is_pumpable(to) {
                        return Ok(Count::Infinite);
                    }
                    let to = to.clone();
                    path.push(self.enter(system, &to, &mut open)?);
                }
            }
        }
        Ok(Count::Finite(self.all.get(from).cloned().flatten().unwrap_or_default()))
    }

    fn enter<T: TransitionSystem<State = S>>(
        &mut self,
        system: &mut T,
        state: &S,
        open: &mut Vec<TransitionOf<T>>,
    ) -> Result<Level<S>> {
        self.all.insert(state.clone(), None);
        let first = open.len();
        system.successors(state, open)?;
        // the list is followed from its end
        open[first..].reverse();
        let held = size_of::<Level<S>>() + (open.len() - first) * size_of::<TransitionOf<T>>();
        self.held.add(system, held + 2 * size_of::<(S, Option<BigUint>)>())?;
        let total = u8::from(system.is_accepting(state)).into();
        Ok(Level { state: state.clone(), left: 0, first, total, held })
    }

    /// The number of words of at most `most` letters from a state to acceptance.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
    pub fn count_within<T: TransitionSystem<State = S>>(
        &mut self,
        system: &mut T,
        from: &S,
        most: usize,
    ) -> Result<BigUint> {
        let mut open: Vec<TransitionOf<T>> = Vec::new();
        let mut path: Vec<Level<S>> = Vec::new();
        if !self.within.contains_key(&(from.clone(), most)) {
            path.push(self.enter_within(system, from, most, &mut open)?);
        }
        while let Some(level) = path.last_mut() {
            if open.len() == level.first {
                let (count, held) = (std::mem::take(&mut level.total), level.held);
                self.held.give_back(held);
                self.held.add(system, size_of_count(&count))?;
                if let Some(level) = path.pop() {
                    self.within.insert((level.state, level.left), count);
                }
                continue;
            }
            let Some(Transition { label, to }) = open.last() else { break };
            let key = (to.clone(), level.left - 1);
            match self.within.get(&key) {
                Some(known) => {
                    let held = level.add(system.times(label, known));
                    open.pop();
                    self.held.add(system, held)?;
                }
                None if system.completable(to)? == Completable::No => {
                    open.pop();
                }
                None => path.push(self.enter_within(system, &key.0, key.1, &mut open)?),
            }
        }
        Ok(self.within.get(&(from.clone(), most)).cloned().unwrap_or_default())
    }

    fn enter_within<T: TransitionSystem<State = S>>(
        &mut self,
        system: &mut T,
        state: &S,
        left: usize,
        open: &mut Vec<TransitionOf<T>>,
    ) -> Result<Level<S>> {
        let first = open.len();
        if left > 0 {
            system.successors(state, open)?;
        }
        let held = size_of::<Level<S>>() + (open.len() - first) * size_of::<TransitionOf<T>>();
        self.held.add(system, held + 2 * size_of::<((S, usize), BigUint)>())?;
        let total = u8::from(system.is_accepting(state)).into();
        Ok(Level { state: state.clone(), left, first, total, held })
    }
}

/// The bytes of the digits of a number, rounded down.
fn size_of_count(count: &BigUint) -> usize {
    usize::try_from(count.bits() / 8).unwrap_or(usize::MAX)
}
