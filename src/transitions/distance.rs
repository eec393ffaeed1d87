//! Distances to acceptance: the fewest letters, or the least cost.
//!
//! If the reachable states are few enough, all of them are found in one pass, and their distances are computed
//! backwards from the accepting states (Dijkstra 1959). If they are too many or infinitely many, each query is a
//! forward search with a budget, whose answers are cached; if the budget is spent, the distance is unknown.
//!
//! Some systems have actions with several [outcomes](TransitionSystem::has_outcomes), chosen by the environment. There
//! a state can reach acceptance if it is in the greatest set of states with this property: from each of its states,
//! acceptance is reached inside the set by actions none of whose outcomes leaves it. This set corresponds to the
//! supremal controllable and nonblocking sublanguage (Ramadge and Wonham 1987). Actions with an outcome outside the set
//! are not taken, and distances assume the most favourable outcomes.

use super::{Transition, TransitionOf, TransitionSystem};
use crate::collections::best_first::Frontier;
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

/// The most states that one quick search finds, before the pass over all reachable states is tried.
const QUICK_SEARCH: usize = 500;
/// The most states that all quick searches of one table find. With more, there are no further ones.
const QUICK_SEARCHES: usize = 20_000;

/// The number of low bits that count letters in a distance of measure [`Measure::Cost`].
const LETTER_BITS: u32 = 64;

/// A state with a number, which indexes a list of distances.
pub trait Indexed: Copy + Eq + Hash + Ord {
    /// The number, from 0.
    fn index(self) -> usize;
}

/// The unit of a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The number of letters.
    Letters,
    /// The sum of the costs of the letters; the number of letters breaks ties.
    Cost,
}

/// The length of a shortest path from a state to acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathLength {
    /// The least distance, in a unit that can be added and compared within one measure: letters, or cost · 2^64 +
    /// letters. So no cycle has length 0.
    Exactly(u128),
    /// No accepting state can be reached, or the environment can prevent reaching one.
    Never,
    /// The budget was spent before the distance was known.
    Unknown,
}

impl PathLength {
    /// The exact distance, if known.
    pub fn exactly(self) -> Option<u128> {
        match self {
            PathLength::Exactly(distance) => Some(distance),
            PathLength::Never | PathLength::Unknown => None,
        }
    }
}

impl Measure {
    /// The length of a transition with this label.
    pub fn length<T: TransitionSystem>(self, system: &T, label: &T::Label) -> u128 {
        self.of(system.cost(label))
    }

    /// The length of a letter with this cost.
    pub fn of(self, cost: u64) -> u128 {
        match self {
            Measure::Letters => 1,
            Measure::Cost => (u128::from(cost) << LETTER_BITS) + 1,
        }
    }

    /// The number of letters or the cost in a distance, according to the measure; saturates at `u64::MAX`.
    pub fn amount(self, distance: u128) -> u64 {
        let amount = match self {
            Measure::Letters => distance,
            Measure::Cost => distance >> LETTER_BITS,
        };
        u64::try_from(amount).unwrap_or(u64::MAX)
    }
}

/// Budgets of [`Distances`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most states whose distances are computed in one pass. With more, or once the [load](TransitionSystem::load)
    /// of the system is 50 % or more, each query is a search; in a system with outcomes, further distances are then
    /// unknown.
    pub reachable: usize,
    /// The most states that one search finds. With more, or once the [load](TransitionSystem::load) of the system is 90
    /// % or more, the search gives up, and the distance is unknown.
    pub search: usize,
    /// The most states that searches without an answer may find in total. With more, there are no further searches.
    pub searches: usize,
    /// The most states and transitions visited to find the states from which the environment cannot prevent acceptance.
    /// With more, all further distances of a system with outcomes are unknown.
    pub outcomes: usize,
}

/// The known distances of the states of one system, in one measure.
#[derive(Clone, Debug)]
pub struct Distances {
    measure: Measure,
    bounds: Bounds,
    known: Vec<Option<PathLength>>,
    /// Whether settling all reachable states was given up, because they or their transitions are too many.
    is_large: bool,
    /// The number of states found by searches without an answer.
    fruitless: usize,
    /// The number of states found by quick searches.
    quick: usize,
}

impl Distances {
    /// Creates a table for one system, in which no distance is known yet.
    pub fn new(measure: Measure, bounds: Bounds) -> Distances {
        Distances { measure, bounds, known: Vec::new(), is_large: false, fruitless: 0, quick: 0 }
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

    /// The distance of a state from acceptance, computed if it is not known.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
    pub fn distance<T>(&mut self, system: &mut T, state: T::State) -> Result<PathLength>
    where
        T: TransitionSystem<State: Indexed>,
    {
        if let Some(known) = self.get(state) {
            return Ok(known);
        }
        // if acceptance is near, this saves the pass over all states; there may be infinitely many
        if !self.is_large && self.quick < QUICK_SEARCHES && !system.has_outcomes() {
            self.quick += self.search(system, state, QUICK_SEARCH)?;
            if let Some(known) = self.get(state) {
                return Ok(known);
            }
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
            // a search is of no use: a path to acceptance says nothing about the other outcomes of its actions
            None if system.has_outcomes() => Ok(PathLength::Unknown),
            None => {
                if self.fruitless <= self.bounds.searches {
                    let found = self.search(system, state, self.bounds.search)?;
                    if let Some(known) = self.get(state) {
                        return Ok(known);
                    }
                    self.fruitless += found;
                }
                self.set(state, PathLength::Unknown);
                Ok(PathLength::Unknown)
            }
        }
    }

    /// All states without a known distance that are reachable from `state` through such states, `state` included;
    /// `None` if they are too many, or if the load of the system is 50 % or more.
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

    /// Computes the distances of `states` in a system with outcomes, as a greatest fixed point. All successors must be
    /// in `states` or have known distances. Removes states from which the environment can prevent acceptance until
    /// nothing changes. If that visits too many states and transitions, sets `is_large` and no distances.
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

    /// Marks the states that reach acceptance by actions without a dead outcome.
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

    /// Removes the transitions of actions with an outcome that is known to lead to a dead end. In a system without
    /// outcomes this removes nothing.
    ///
    /// # Errors
    /// Errors of the system, for instance an exceeded limit.
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

    /// Computes the distances of `states`. All successors must be in `states` or have known distances.
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

    /// Searches forwards from one state, and stores the distances of the states on the path found. Stores that all
    /// states found are dead ends if none of them accepts. Stores nothing if more than `most` states were found or the
    /// load is too high. Returns the number of states found.
    fn search<T>(&mut self, system: &mut T, state: T::State, most: usize) -> Result<usize>
    where
        T: TransitionSystem<State: Indexed>,
    {
        // among equal keys an end comes first, then the state with the highest number
        let key = |distance, is_end: bool, at| (distance, !is_end, Reverse(at));
        let mut frontier = Frontier::new(state, 0u128, key(0, false, state));
        let mut successors: Vec<TransitionOf<T>> = Vec::new();
        while let Some(((distance, is_inner, Reverse(at)), number)) = frontier.pop() {
            if !is_inner {
                for number in frontier.trail().backwards(number) {
                    let &(on_path, so_far) = frontier.trail().place(number);
                    self.set(on_path, PathLength::Exactly(distance - so_far));
                }
                return Ok(frontier.costs().len());
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
            if frontier.costs().len() > most || system.load() >= 90 {
                return Ok(frontier.costs().len());
            }
            system.successors(&at, &mut successors)?;
            for Transition { label, to } in successors.drain(..) {
                let through = distance.saturating_add(self.measure.length(system, &label));
                if frontier.is_cheaper(&to, through) {
                    frontier.push(key(through, false, to), (to, through), number, ());
                }
            }
        }
        // all reachable states were visited, and none of them accepts
        let found = frontier.costs().len();
        frontier.into_costs().into_keys().for_each(|dead| self.set(dead, PathLength::Never));
        Ok(found)
    }
}

/// Removes the transitions of actions with a dead outcome.
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

/// The length of a shortest word; `None` if the language is empty. A breadth-first search that remembers the visited
/// states.
///
/// # Errors
/// Errors of the system, for instance an exceeded limit.
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

/// The least cost, up to `max_cost`, at which each state is reached from the start (Dijkstra 1959). The search visits
/// the cheapest states first and stops once it has found more than `most` states; the costs of the states that it has
/// found but not visited are then upper bounds.
///
/// # Errors
/// Errors of the system, for instance an exceeded limit.
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
