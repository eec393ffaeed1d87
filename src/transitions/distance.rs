//! Distances to acceptance: the fewest letters, or the least cost.
//!
//! Where the states that can be reached are few enough, all of them are found once, and the distances of all are computed
//! backwards from the accepting ones (Dijkstra 1959). Where they are too many, or infinitely many, each question is a search
//! forwards with a budget, whose answers are remembered; past the budget the distance is unknown.
//!
//! Where actions have [outcomes](TransitionSystem::has_outcomes), which the environment chooses, acceptance can be reached
//! from a state if it is in the greatest set of states from each of which acceptance is reached inside the set by actions
//! none of whose outcomes leaves it: the supremal controllable and nonblocking sublanguage (Ramadge and Wonham 1987). An
//! action with an outcome out of the set is not taken, and distances are those of the most favourable outcomes.

use super::{Transition, TransitionOf, TransitionSystem};
use crate::collections::best_first::Frontier;
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

/// The bits of a distance in cost that count letters.
const LETTER_BITS: u32 = 64;

/// A state that is numbered: distances lie in a list by its number.
pub trait Indexed: Copy + Eq + Hash + Ord {
    /// The number, from 0.
    fn index(self) -> usize;
}

/// What a distance counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Letters.
    Letters,
    /// Cost, and letters where costs are equal.
    Cost,
}

/// The length of a shortest path from a state to acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathLength {
    /// The least distance, in a unit by which distances of one measure can be added and compared: letters, or
    /// cost · 2^64 + letters. A cycle so never has the length 0.
    Exactly(u128),
    /// No accepting state can be reached.
    Never,
    /// The budget was spent before the distance was known.
    Unknown,
}

impl PathLength {
    /// The exact distance.
    pub fn exactly(self) -> Option<u128> {
        match self {
            PathLength::Exactly(distance) => Some(distance),
            PathLength::Never | PathLength::Unknown => None,
        }
    }
}

impl Measure {
    /// The length of an edge with a label.
    pub fn length<T: TransitionSystem>(self, system: &T, label: &T::Label) -> u128 {
        self.of(system.cost(label))
    }

    /// The length of one letter of a cost.
    pub fn of(self, cost: u64) -> u128 {
        match self {
            Measure::Letters => 1,
            Measure::Cost => (u128::from(cost) << LETTER_BITS) + 1,
        }
    }

    /// The letters, or the cost, of a distance.
    pub fn amount(self, distance: u128) -> u64 {
        let amount = match self {
            Measure::Letters => distance,
            Measure::Cost => distance >> LETTER_BITS,
        };
        u64::try_from(amount).unwrap_or(u64::MAX)
    }
}

/// Budgets of [`Distances`], in states, and one in transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// States that are found at once.
    pub reachable: usize,
    /// States that one search visits.
    pub search: usize,
    /// States that searches without an answer visit in all; then there are no more searches.
    pub searches: usize,
    /// Transitions that are visited to find the states from which no outcome keeps acceptance from being reached.
    pub outcomes: usize,
}

/// Distances of the states of one system, in one measure, as far as they are known.
#[derive(Clone, Debug)]
pub struct Distances {
    measure: Measure,
    bounds: Bounds,
    known: Vec<Option<PathLength>>,
    /// The states that can be reached are too many to be found at once.
    is_large: bool,
    /// States that searches visited without an answer.
    fruitless: usize,
}

impl Distances {
    /// None known yet.
    pub fn new(measure: Measure, bounds: Bounds) -> Distances {
        Distances { measure, bounds, known: Vec::new(), is_large: false, fruitless: 0 }
    }

    fn get<S: Indexed>(&self, state: S) -> Option<PathLength> {
        self.known.get(state.index()).copied().flatten()
    }

    fn set<S: Indexed>(&mut self, state: S, distance: PathLength) {
        if self.known.len() <= state.index() {
            self.known.resize(state.index() + 1, None);
        }
        self.known[state.index()] = Some(distance);
    }

    /// The distance of a state.
    ///
    /// # Errors
    /// Limits of the system.
    pub fn distance<T>(&mut self, system: &mut T, state: T::State) -> Result<PathLength>
    where
        T: TransitionSystem<State: Indexed>,
    {
        if let Some(known) = self.get(state) {
            return Ok(known);
        }
        if !self.is_large {
            match self.reachable(system, state)? {
                Some(states) if system.has_outcomes() => self.settle_outcomes(system, states)?,
                Some(states) => self.settle(system, &states)?,
                None => self.is_large = true,
            }
        }
        match self.get(state) {
            Some(known) => Ok(known),
            // one way to acceptance says nothing about the other outcomes
            None if system.has_outcomes() => Ok(PathLength::Unknown),
            None => {
                self.search(system, state)?;
                Ok(self.get(state).unwrap_or(PathLength::Unknown))
            }
        }
    }

    /// All states that can be reached from a state and whose distance is not known; `None` if they are too many.
    fn reachable<T>(&self, system: &mut T, state: T::State) -> Result<Option<Vec<T::State>>>
    where
        T: TransitionSystem<State: Indexed>,
    {
        let mut found = vec![state];
        let mut seen: FxHashSet<T::State> = FxHashSet::from_iter([state]);
        let mut successors = Vec::new();
        let mut next = 0;
        while let Some(at) = found.get(next) {
            next += 1;
            system.successors(at, &mut successors)?;
            for Transition { to, .. } in successors.drain(..) {
                if self.get(to).is_none() && seen.insert(to) {
                    found.push(to);
                }
            }
            if found.len() > self.bounds.reachable || system.load() >= 50 {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// The distances of `states`, all of whose successors are among them or known, of a system with outcomes: a greatest
    /// fixed point. States from which the environment can prevent acceptance are found until there are no more.
    fn settle_outcomes<T>(&mut self, system: &mut T, mut states: Vec<T::State>) -> Result<()>
    where
        T: TransitionSystem<State: Indexed>,
    {
        let places: FxHashMap<T::State, usize> = states.iter().copied().zip(0..).collect();
        let mut is_dead = vec![false; states.len()];
        let mut visited = 0;
        loop {
            let reaches = self.reaches_safely(system, &states, &places, &is_dead, &mut visited)?;
            if visited > self.bounds.outcomes {
                self.is_large = true;
                return Ok(());
            }
            let mut has_changed = false;
            for (is_dead, reaches) in is_dead.iter_mut().zip(&reaches) {
                has_changed |= !reaches && !std::mem::replace(is_dead, true);
            }
            if !has_changed {
                break;
            }
        }
        for (&state, _) in states.iter().zip(&is_dead).filter(|(_, is_dead)| **is_dead) {
            self.set(state, PathLength::Never);
        }
        let mut is_dead = is_dead.into_iter();
        states.retain(|_| !is_dead.next().unwrap_or_default());
        self.settle(system, &states)
    }

    /// Which states reach acceptance by actions none of whose outcomes is known to be dead.
    fn reaches_safely<T>(
        &self,
        system: &mut T,
        states: &[T::State],
        places: &FxHashMap<T::State, usize>,
        is_dead: &[bool],
        visited: &mut usize,
    ) -> Result<Vec<bool>>
    where
        T: TransitionSystem<State: Indexed>,
    {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
        let mut open = Vec::new();
        let mut successors = Vec::new();
        for (place, state) in states.iter().enumerate().filter(|(place, _)| !is_dead[*place]) {
            let mut ends = system.is_accepting(state);
            system.successors(state, &mut successors)?;
            *visited += successors.len() + 1;
            keep_safe(system, &mut successors, |to| match places.get(&to) {
                Some(&to) => is_dead[to],
                None => self.get(to) == Some(PathLength::Never),
            });
            for Transition { to, .. } in successors.drain(..) {
                match places.get(&to) {
                    Some(&to) => before[to].push(place),
                    None => ends |= self.get(to) != Some(PathLength::Never),
                }
            }
            if ends {
                open.push(place);
            }
        }
        let mut reaches = vec![false; states.len()];
        while let Some(place) = open.pop() {
            if !std::mem::replace(&mut reaches[place], true) {
                open.extend(&before[place]);
            }
        }
        Ok(reaches)
    }

    /// Removes the transitions of actions one of whose outcomes leads to a dead end, of a system with outcomes. Without
    /// outcomes nothing is removed.
    ///
    /// # Errors
    /// Limits of the system.
    pub fn keep_safe<T>(&mut self, system: &mut T, transitions: &mut Vec<TransitionOf<T>>) -> Result<()>
    where
        T: TransitionSystem<State: Indexed>,
    {
        if system.has_outcomes() {
            for Transition { label, to } in transitions.iter() {
                if system.action(label).is_some() {
                    self.distance(system, *to)?;
                }
            }
            keep_safe(system, transitions, |to| self.get(to) == Some(PathLength::Never));
        }
        Ok(())
    }

    /// The distances of `states`, all of whose successors are among them or known.
    fn settle<T>(&mut self, system: &mut T, states: &[T::State]) -> Result<()>
    where
        T: TransitionSystem<State: Indexed>,
    {
        let places: FxHashMap<T::State, usize> = states.iter().copied().zip(0..).collect();
        let mut before: Vec<Vec<(usize, u128)>> = vec![Vec::new(); states.len()];
        let mut best = vec![u128::MAX; states.len()];
        let mut open = BinaryHeap::new();
        let mut successors = Vec::new();
        for (place, state) in states.iter().enumerate() {
            let mut least = if system.is_accepting(state) { 0 } else { u128::MAX };
            system.successors(state, &mut successors)?;
            if system.has_outcomes() {
                keep_safe(system, &mut successors, |to| self.get(to) == Some(PathLength::Never));
            }
            for Transition { label, to } in successors.drain(..) {
                let length = self.measure.length(system, &label);
                match (places.get(&to), self.get(to)) {
                    (Some(&to), _) => before[to].push((place, length)),
                    (None, Some(PathLength::Exactly(rest))) => least = least.min(rest.saturating_add(length)),
                    (None, _) => {}
                }
            }
            if least < u128::MAX {
                best[place] = least;
                open.push((Reverse(least), place));
            }
        }
        while let Some((Reverse(distance), place)) = open.pop() {
            if distance > best[place] {
                continue;
            }
            for &(earlier, length) in &before[place] {
                let through = distance.saturating_add(length);
                if through < best[earlier] {
                    best[earlier] = through;
                    open.push((Reverse(through), earlier));
                }
            }
        }
        for (&state, &distance) in states.iter().zip(&best) {
            self.set(
                state,
                if distance == u128::MAX { PathLength::Never } else { PathLength::Exactly(distance) },
            );
        }
        Ok(())
    }

    /// Searches forwards from one state.
    fn search<T>(&mut self, system: &mut T, state: T::State) -> Result<()>
    where
        T: TransitionSystem<State: Indexed>,
    {
        if self.fruitless > self.bounds.searches {
            self.set(state, PathLength::Unknown);
            return Ok(());
        }
        // of equals an end comes first, then the state with the highest number
        let key = |distance, is_end: bool, at| (distance, !is_end, Reverse(at));
        let mut frontier = Frontier::new(state, 0u128, key(0, false, state));
        let mut successors: Vec<TransitionOf<T>> = Vec::new();
        while let Some(((distance, is_inner, Reverse(at)), number)) = frontier.pop() {
            if !is_inner {
                for number in frontier.trail().backwards(number) {
                    let &(on_path, so_far) = frontier.trail().place(number);
                    self.set(on_path, PathLength::Exactly(distance - so_far));
                }
                return Ok(());
            }
            if frontier.is_outdone(number) {
                continue;
            }
            match self.get(at) {
                Some(PathLength::Exactly(rest)) => {
                    frontier.put_back(key(distance.saturating_add(rest), true, at), number);
                    continue;
                }
                Some(PathLength::Never) => continue,
                Some(PathLength::Unknown) | None => {}
            }
            if system.is_accepting(&at) {
                frontier.put_back(key(distance, true, at), number);
            }
            if frontier.costs().len() > self.bounds.search || system.load() >= 90 {
                self.fruitless += frontier.costs().len();
                self.set(state, PathLength::Unknown);
                return Ok(());
            }
            system.successors(&at, &mut successors)?;
            for Transition { label, to } in successors.drain(..) {
                let through = distance.saturating_add(self.measure.length(system, &label));
                if frontier.is_cheaper(&to, through) {
                    frontier.push(key(through, false, to), (to, through), number, ());
                }
            }
        }
        // all that can be reached was visited, and none of it accepts
        frontier.into_costs().into_keys().for_each(|dead| self.set(dead, PathLength::Never));
        Ok(())
    }
}

/// Removes the transitions of actions one of whose outcomes is dead.
fn keep_safe<T: TransitionSystem>(
    system: &T,
    transitions: &mut Vec<TransitionOf<T>>,
    is_dead: impl Fn(T::State) -> bool,
) where
    T::State: Copy,
{
    let action = |transition: &TransitionOf<T>| system.action(&transition.label);
    let dead = transitions.iter().filter(|transition| is_dead(transition.to));
    let dead: Vec<usize> = dead.filter_map(action).collect();
    transitions.retain(|transition| action(transition).is_none_or(|action| !dead.contains(&action)));
}

/// The length of a shortest word, `None` of an empty language: a search breadth first, with memory of the states visited.
///
/// # Errors
/// Limits of the system.
pub fn shortest<T: TransitionSystem>(system: &mut T) -> Result<Option<usize>> {
    let mut held = super::Held::default();
    let (mut length, mut level) = (0, vec![system.start()]);
    let mut seen: FxHashSet<T::State> = level.iter().cloned().collect();
    let mut successors = Vec::new();
    while !level.is_empty() {
        if level.iter().any(|state| system.is_accepting(state)) {
            return Ok(Some(length));
        }
        let mut next = Vec::new();
        for state in level {
            system.successors(&state, &mut successors)?;
            next.extend(
                successors.drain(..).map(|transition| transition.to).filter(|to| seen.insert(to.clone())),
            );
        }
        held.add(system, next.len() * size_of::<T::State>() * 2)?;
        (length, level) = (length + 1, next);
    }
    Ok(None)
}

/// The least cost at which each state is reached from the start (Dijkstra 1959), as far as it is at most `max_cost`; of
/// more than `most` states, that of the cheapest ones.
///
/// # Errors
/// Limits of the system.
pub fn costs_from_start<T>(system: &mut T, max_cost: u64, most: usize) -> Result<FxHashMap<T::State, u64>>
where
    T: TransitionSystem<State: Indexed>,
{
    let start = system.start();
    let mut frontier = Frontier::new(start, 0, (0u64, Reverse(start)));
    let mut successors: Vec<TransitionOf<T>> = Vec::new();
    while let Some(((cost, Reverse(at)), number)) = frontier.pop() {
        if frontier.is_outdone(number) {
            continue;
        }
        system.successors(&at, &mut successors)?;
        for Transition { label, to } in successors.drain(..) {
            let through = cost.saturating_add(system.cost(&label));
            if through <= max_cost && frontier.is_cheaper(&to, through) {
                frontier.push((through, Reverse(to)), (to, through), number, ());
            }
        }
        if frontier.costs().len() > most {
            break;
        }
    }
    Ok(frontier.into_costs())
}
