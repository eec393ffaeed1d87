//! Checks whether a word is accepted; if not, finds its first wrong letter and the feasible letters in its place.
//!
//! The word may be ambiguous and may omit letters ([`Word`]), so sets of states are followed. A word that is written
//! from its end can be checked from its end, over the reversed transitions.

use super::{Completable, Letters, Transition, TransitionOf, TransitionSystem, open_choices};
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};

/// A word over the letters of a system, as the user wrote it.
pub trait Word<T: Letters> {
    /// The number of letters written.
    fn len(&self) -> usize;

    /// Whether no letter is written.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The letters of a choice that the written letter at `place` can be read as.
    fn readings(&self, system: &T, place: usize, choice: &T::Choice) -> Vec<T::Letter>;

    /// The letter of a choice that the word may omit, if there is one. Default: `None`.
    fn implied(&self, system: &T, choice: &T::Choice) -> Option<T::Letter> {
        let _ = (system, choice);
        None
    }
}

/// The result of [`verify`] and [`verify_reversed`]: whether the word is accepted and, if not, its first wrong letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordVerdict<L, C> {
    /// The word is accepted, read as these letters, omitted letters included.
    Accepted(Vec<L>),
    /// The word is not accepted.
    Wrong {
        /// The number of letters before the first wrong one, in the direction of reading: no accepted word begins (read
        /// from the end: ends) with one letter more. If the word is only incomplete, `place` is the length of the word.
        place: usize,
        /// The choices that may follow the letters before `place`, in ascending order. The choices lead to states that
        /// are not known to be dead ends.
        feasible: Vec<C>,
        /// Whether an accepted word may end at `place` (read from the end: begin at `place`).
        may_end: bool,
    },
    /// More states were followed at a time than the bound allows, or, in [`verify_reversed`], are reachable.
    Exhausted,
}

/// Checks a word from its beginning, following at most `most` states at a time.
///
/// # Errors
/// Errors of the system, for instance an exceeded limit.
pub fn verify<T: Letters>(
    system: &mut T,
    word: &impl Word<T>,
    most: usize,
) -> Result<WordVerdict<T::Letter, T::Choice>> {
    let mut spots = vec![Spot::<T> { state: system.start(), used: T::Used::default(), letters: Vec::new() }];
    let mut place = 0;
    loop {
        let Some(here) = with_implied(system, word, spots, most)? else { return Ok(WordVerdict::Exhausted) };
        let accepting = here.iter().position(|spot| system.is_accepting(&spot.state));
        if place == word.len()
            && let Some(spot) = accepting.and_then(|number| here.get(number))
        {
            return Ok(WordVerdict::Accepted(spot.letters.clone()));
        }
        spots = match place < word.len() {
            true => read(system, word, place, &here)?,
            false => Vec::new(),
        };
        if spots.is_empty() {
            let mut feasible = Vec::new();
            for Spot { state, used, .. } in &here {
                for (choice, to) in open_choices(system, state, used)? {
                    if system.completable(&to)? != Completable::No {
                        feasible.push(choice);
                    }
                }
            }
            feasible.sort();
            feasible.dedup();
            return Ok(WordVerdict::Wrong { place, feasible, may_end: accepting.is_some() });
        }
        place += 1;
    }
}

/// A state with the letters of a path to it.
struct Spot<T: Letters> {
    state: T::State,
    used: T::Used,
    letters: Vec<T::Letter>,
}

impl<T: Letters> Spot<T> {
    fn after(&self, system: &T, choice: &T::Choice, letter: T::Letter, to: &T::State) -> Spot<T> {
        let (mut used, mut letters) = (self.used.clone(), self.letters.clone());
        system.use_up(choice, &mut used);
        letters.push(letter);
        Spot { state: to.clone(), used, letters }
    }
}

/// All states that omitted letters lead to, including the given states; `None` if they are more than `most`.
fn with_implied<T: Letters>(
    system: &mut T,
    word: &impl Word<T>,
    spots: Vec<Spot<T>>,
    most: usize,
) -> Result<Option<Vec<Spot<T>>>> {
    let mut seen: FxHashSet<(T::State, T::Used)> = FxHashSet::default();
    let mut all = Vec::new();
    let mut open = spots;
    open.reverse();
    while let Some(spot) = open.pop() {
        if !seen.insert((spot.state.clone(), spot.used.clone())) {
            continue;
        }
        if seen.len() > most {
            return Ok(None);
        }
        for (choice, to) in open_choices(system, &spot.state, &spot.used)? {
            if let Some(letter) = word.implied(system, &choice)
                && system.completable(&to)? != Completable::No
            {
                open.push(spot.after(system, &choice, letter, &to));
            }
        }
        all.push(spot);
    }
    Ok(Some(all))
}

/// The states after the written letter at `place`, without duplicates and without dead ends.
fn read<T: Letters>(
    system: &mut T,
    word: &impl Word<T>,
    place: usize,
    spots: &[Spot<T>],
) -> Result<Vec<Spot<T>>> {
    let mut seen: FxHashSet<(T::State, T::Used)> = FxHashSet::default();
    let mut next = Vec::new();
    for spot in spots {
        for (choice, to) in open_choices(system, &spot.state, &spot.used)? {
            for letter in word.readings(system, place, &choice) {
                if system.completable(&to)? == Completable::No {
                    continue;
                }
                let after = spot.after(system, &choice, letter, &to);
                if seen.insert((after.state.clone(), after.used.clone())) {
                    next.push(after);
                }
            }
        }
    }
    Ok(next)
}

/// Finds the first wrong letter of a word that is not accepted, read from its end; places are counted from the end.
/// Returns [`WordVerdict::Exhausted`] if more than `most` states are reachable or followed at a time.
///
/// # Errors
/// Errors of the system, for instance an exceeded limit.
pub fn verify_reversed<T: Letters>(
    system: &mut T,
    word: &impl Word<T>,
    most: usize,
) -> Result<WordVerdict<T::Letter, T::Choice>> {
    let Some(reversed) = Reversed::of(system, most)? else { return Ok(WordVerdict::Exhausted) };
    // each a state, and the letters used up after that state
    let mut spots: FxHashSet<(T::State, T::Used)> =
        reversed.accepting.iter().map(|state| (state.clone(), T::Used::default())).collect();
    let start = system.start();
    for place in 0..=word.len() {
        let mut open: Vec<_> = spots.iter().cloned().collect();
        while let Some(spot) = open.pop() {
            for (choice, before) in reversed.before(system, &spot) {
                if word.implied(system, &choice).is_some() && spots.insert(before.clone()) {
                    open.push(before);
                }
            }
            if spots.len() > most {
                return Ok(WordVerdict::Exhausted);
            }
        }
        let all: Vec<_> = spots.iter().flat_map(|spot| reversed.before(system, spot)).collect();
        let is_read = |choice| match word.len().checked_sub(place + 1) {
            Some(place) => !word.readings(system, place, choice).is_empty(),
            None => false,
        };
        let next: FxHashSet<(T::State, T::Used)> =
            all.iter().filter(|(choice, _)| is_read(choice)).map(|(_, before)| before.clone()).collect();
        if next.is_empty() {
            let may_end = spots.iter().any(|(state, _)| *state == start);
            let mut feasible: Vec<T::Choice> = all.into_iter().map(|(choice, _)| choice).collect();
            feasible.sort();
            feasible.dedup();
            return Ok(WordVerdict::Wrong { place, feasible, may_end });
        }
        spots = next;
    }
    Ok(WordVerdict::Exhausted)
}

/// A state, and the letters that are used up after it.
type Marked<T> = (<T as TransitionSystem>::State, <T as Letters>::Used);

/// The reversed transitions between states that are reachable and can be completed.
struct Reversed<T: Letters> {
    accepting: Vec<T::State>,
    before: FxHashMap<T::State, Vec<TransitionOf<T>>>,
}

impl<T: Letters> Reversed<T> {
    fn of(system: &mut T, most: usize) -> Result<Option<Reversed<T>>> {
        let mut reversed = Reversed { accepting: Vec::new(), before: FxHashMap::default() };
        let start = system.start();
        if system.completable(&start)? == Completable::No {
            return Ok(Some(reversed));
        }
        let mut seen: FxHashSet<T::State> = FxHashSet::from_iter([start.clone()]);
        let mut open = vec![start];
        let mut successors = Vec::new();
        while let Some(state) = open.pop() {
            if seen.len() > most {
                return Ok(None);
            }
            if system.is_accepting(&state) {
                reversed.accepting.push(state.clone());
            }
            system.successors(&state, &mut successors)?;
            for Transition { label, to } in successors.drain(..) {
                if system.completable(&to)? == Completable::No {
                    continue;
                }
                if seen.insert(to.clone()) {
                    open.push(to.clone());
                }
                reversed.before.entry(to).or_default().push(Transition { label, to: state.clone() });
            }
        }
        Ok(Some(reversed))
    }

    /// The predecessors of a state by one letter, each with the choice.
    fn before(&self, system: &T, (state, used): &Marked<T>) -> Vec<(T::Choice, Marked<T>)> {
        let (mut found, mut choices) = (Vec::new(), Vec::new());
        for Transition { label, to: before } in self.before.get(state).into_iter().flatten() {
            system.choices(label, used, &mut choices);
            for choice in choices.drain(..) {
                let mut used = used.clone();
                system.use_up(&choice, &mut used);
                found.push((choice, (before.clone(), used)));
            }
        }
        found
    }
}
