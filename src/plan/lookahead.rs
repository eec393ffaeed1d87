//! What lies ahead of a state: whether a finished plan can still be reached, the fewest steps to one, the least cost.
//!
//! Where the states that can be reached are few enough, all of them are found once, and distances from the finished
//! plans are computed backwards for all of them at once. Where they are too many, or without end, each question is a
//! search forwards (Dijkstra 1959) up to a budget, whose answers are remembered; past the budget the answer is that it
//! is not known.
//!
//! Where actions have outcomes, which the world chooses, a finished plan can be reached from a state if it is in the
//! greatest set of states from each of which a finished plan can be reached inside the set by actions none of whose
//! outcomes leaves it: the supremal controllable and nonblocking sublanguage (Ramadge and Wonham 1987). No action is
//! allowed of which some outcome leads out of the set, so distances are those of outcomes that are kind.

use super::automaton::{Edge, PlanAutomaton, PlanState, Position};
use super::completion::Objective;
use crate::error::Result;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many states may be found at once.
const WHOLE: usize = 400_000;
/// The bits of a distance in cost that count steps.
const STEP_BITS: u32 = 64;
/// How many states one search may visit.
const SEARCH: usize = 50_000;

/// How many edges may be visited to find the states from which plans can be finished whatever the outcomes.
const SAFETY: usize = 20_000_000;

/// Whether a place leads to a finished plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completable {
    /// Some completion exists (or the plan is whole).
    Yes,
    /// There is none.
    No,
    /// The budget ran out before either was found.
    Unknown,
}

/// A known distance, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Known {
    #[default]
    Not,
    Undecided,
    Never,
    Exactly(u128),
}

/// What distances are measured in. That in cost counts the steps as well, in its lower bits: of two completions that cost
/// the same the shorter one is nearer, and no way round is as near as the way itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Steps,
    Cost,
}

/// Distances to a finished plan, per state, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Distances {
    steps: Vec<Known>,
    cost: Vec<Known>,
    /// The states that can be reached are too many to be found at once.
    endless: bool,
    /// States that searches visited which came to no answer.
    fruitless: usize,
}

impl Distances {
    fn of(&self, measure: Measure) -> &Vec<Known> {
        match measure {
            Measure::Steps => &self.steps,
            Measure::Cost => &self.cost,
        }
    }

    fn get(&self, measure: Measure, state: PlanState) -> Known {
        self.of(measure).get(state.index()).copied().unwrap_or_default()
    }

    fn set(&mut self, measure: Measure, state: PlanState, known: Known) {
        let list = match measure {
            Measure::Steps => &mut self.steps,
            Measure::Cost => &mut self.cost,
        };
        if list.len() <= state.index() {
            list.resize(state.index() + 1, Known::Not);
        }
        list[state.index()] = known;
    }
}

impl PlanAutomaton {
    /// Whether a finished plan can still be reached.
    ///
    /// # Errors
    /// Limits.
    pub fn completable(&mut self, at: Position) -> Result<Completable> {
        if let Some(max) = self.spec.max_cost() {
            return Ok(match self.distance(Measure::Cost, at.state)? {
                Known::Exactly(rest) if u128::from(at.cost) + (rest >> STEP_BITS) <= max.into() => {
                    Completable::Yes
                }
                Known::Exactly(_) | Known::Never => Completable::No,
                Known::Not | Known::Undecided => Completable::Unknown,
            });
        }
        if self.registers.is_empty() {
            // every configuration can be completed
            return Ok(Completable::Yes);
        }
        Ok(match self.distance(Measure::Steps, at.state)? {
            Known::Exactly(_) => Completable::Yes,
            Known::Never => Completable::No,
            Known::Not | Known::Undecided => Completable::Unknown,
        })
    }

    /// The fewest actions to a finished plan, whatever they cost; `None` if there is none, or it was not found.
    ///
    /// # Errors
    /// Limits.
    pub fn fewest_steps(&mut self, state: PlanState) -> Result<Option<u64>> {
        Ok(match self.distance(Measure::Steps, state)? {
            Known::Exactly(steps) => u64::try_from(steps).ok(),
            _ => None,
        })
    }

    /// The least cost of what is missing to a finished plan; `None` if there is none, or it was not found.
    ///
    /// # Errors
    /// Limits.
    pub fn least_cost(&mut self, state: PlanState) -> Result<Option<u64>> {
        Ok(match self.distance(Measure::Cost, state)? {
            Known::Exactly(cost) => u64::try_from(cost >> STEP_BITS).ok(),
            _ => None,
        })
    }

    /// A distance by which completions can be compared: the fewest steps, or the least cost and then the fewest steps.
    pub(super) fn rest(&mut self, objective: Objective, state: PlanState) -> Result<Option<u128>> {
        let measure = match objective {
            Objective::Steps => Measure::Steps,
            Objective::Cost => Measure::Cost,
        };
        Ok(match self.distance(measure, state)? {
            Known::Exactly(rest) => Some(rest),
            _ => None,
        })
    }

    fn weight(&self, measure: Measure, class: u32) -> u128 {
        match measure {
            Measure::Steps => 1,
            Measure::Cost => (u128::from(self.cost(class)) << STEP_BITS) + 1,
        }
    }

    fn distance(&mut self, measure: Measure, state: PlanState) -> Result<Known> {
        let known = self.distances.get(measure, state);
        if known != Known::Not {
            return Ok(known);
        }
        if !self.distances.endless {
            match self.reachable(measure, state)? {
                Some(states) if self.spec.facts().has_outcomes() => self.settle_safely(measure, states)?,
                Some(states) => self.settle(measure, &states)?,
                None => self.distances.endless = true,
            }
        }
        if self.distances.get(measure, state) == Known::Not {
            match self.spec.facts().has_outcomes() {
                // a search for one way says nothing of the other outcomes
                true => self.distances.set(measure, state, Known::Undecided),
                false => self.search(measure, state)?,
            }
        }
        Ok(self.distances.get(measure, state))
    }

    /// All states that can be reached from `state` and are not known yet; `None` if they are too many.
    fn reachable(&mut self, measure: Measure, state: PlanState) -> Result<Option<Vec<PlanState>>> {
        let mut found = vec![state];
        let mut seen: rustc_hash::FxHashSet<PlanState> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            next += 1;
            for place in 0..self.edge_count(at)? {
                let to = self.edge(at, place).to;
                if self.distances.get(measure, to) == Known::Not && seen.insert(to) {
                    found.push(to);
                }
            }
            if found.len() > WHOLE || self.state_count() >= self.limits().plan_states / 2 {
                return Ok(None);
            }
        }
        Ok(Some(found))
    }

    /// Whether none of the outcomes of an edge's action leads from the state to a dead end.
    pub(super) fn is_safe(&mut self, state: PlanState, edge: Edge) -> Result<bool> {
        if self.registers.outcomes(edge.class as usize) == 1 {
            return Ok(true);
        }
        for place in 0..self.edge_count(state)? {
            let other = self.edge(state, place);
            if other.class == edge.class && self.distance(Measure::Steps, other.to)? == Known::Never {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// As [`settle`](PlanAutomaton::settle), where actions have outcomes: states from which the world can keep any plan
    /// from being finished are found to be dead ends, until there are no more of them.
    fn settle_safely(&mut self, measure: Measure, mut states: Vec<PlanState>) -> Result<()> {
        let places: FxHashMap<PlanState, usize> = states.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let mut is_dead = vec![false; states.len()];
        let known_dead = |plans: &Self, state| plans.distances.get(measure, state) == Known::Never;
        let mut visited = 0;
        loop {
            if visited > SAFETY {
                self.distances.endless = true;
                return Ok(());
            }
            // which states reach a finished plan by actions that are safe as far as is known
            let mut before: Vec<Vec<usize>> = vec![Vec::new(); states.len()];
            let mut open = Vec::new();
            for (place, &state) in states.iter().enumerate().filter(|(place, _)| !is_dead[*place]) {
                let mut ends = self.is_complete(state);
                let count = self.edge_count(state)?;
                let edges: Vec<Edge> = (0..count).map(|number| self.edge(state, number)).collect();
                visited += edges.len() + 1;
                let leads_to_death =
                    |edge: &Edge| places.get(&edge.to).map_or(known_dead(self, edge.to), |&to| is_dead[to]);
                let unsafe_classes: Vec<u32> =
                    edges.iter().filter(|edge| leads_to_death(edge)).map(|edge| edge.class).collect();
                for edge in edges.iter().filter(|edge| !unsafe_classes.contains(&edge.class)) {
                    match places.get(&edge.to) {
                        Some(&to) => before[to].push(place),
                        None => ends = true,
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
            let mut changed = false;
            for (dead, reaches) in is_dead.iter_mut().zip(&reaches) {
                changed |= !reaches && !std::mem::replace(dead, true);
            }
            if !changed {
                break;
            }
        }
        for (&state, _) in states.iter().zip(&is_dead).filter(|(_, dead)| **dead) {
            self.distances.set(measure, state, Known::Never);
        }
        let mut dead = is_dead.into_iter();
        states.retain(|_| !dead.next().unwrap_or_default());
        self.settle(measure, &states)
    }

    /// The distances of all `states`, all of whose successors are among them or known.
    fn settle(&mut self, measure: Measure, states: &[PlanState]) -> Result<()> {
        let places: FxHashMap<PlanState, usize> = states.iter().enumerate().map(|(i, &s)| (s, i)).collect();
        let mut before: Vec<Vec<(usize, u128)>> = vec![Vec::new(); states.len()];
        let mut best = vec![u128::MAX; states.len()];
        let mut open = BinaryHeap::new();
        for (place, &state) in states.iter().enumerate() {
            let mut least = if self.is_complete(state) { 0 } else { u128::MAX };
            let count = self.edge_count(state)?;
            let edges: Vec<Edge> = (0..count).map(|number| self.edge(state, number)).collect();
            let is_dead = |edge: &&Edge| {
                self.registers.outcomes(edge.class as usize) > 1
                    && self.distances.get(measure, edge.to) == Known::Never
            };
            let unsafe_classes: Vec<u32> = edges.iter().filter(is_dead).map(|edge| edge.class).collect();
            for &edge in edges.iter().filter(|edge| !unsafe_classes.contains(&edge.class)) {
                let weight = self.weight(measure, edge.class);
                match (places.get(&edge.to), self.distances.get(measure, edge.to)) {
                    (Some(&to), _) => before[to].push((place, weight)),
                    (None, Known::Exactly(rest)) => least = least.min(rest.saturating_add(weight)),
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
            for &(earlier, weight) in &before[place] {
                let through = distance.saturating_add(weight);
                if through < best[earlier] {
                    best[earlier] = through;
                    open.push((Reverse(through), earlier));
                }
            }
        }
        for (&state, &distance) in states.iter().zip(&best) {
            let known = if distance == u128::MAX { Known::Never } else { Known::Exactly(distance) };
            self.distances.set(measure, state, known);
        }
        Ok(())
    }

    /// Searches forwards from one state. Where searches keep failing, there are no more after `plan_states` states in all.
    fn search(&mut self, measure: Measure, state: PlanState) -> Result<()> {
        if self.distances.fruitless > self.limits().plan_states {
            self.distances.set(measure, state, Known::Undecided);
            return Ok(());
        }
        let mut best: FxHashMap<PlanState, (u128, PlanState)> = FxHashMap::default();
        best.insert(state, (0, state));
        let mut open = BinaryHeap::from([(Reverse(0u128), false, state)]);
        while let Some((Reverse(distance), ends, at)) = open.pop() {
            let (known, _) = best.get(&at).copied().unwrap_or((distance, at));
            if ends {
                // the path to here has exact distances
                let mut on_path = at;
                loop {
                    let (so_far, parent) = best.get(&on_path).copied().unwrap_or((0, state));
                    self.distances.set(measure, on_path, Known::Exactly(distance - so_far));
                    if on_path == state {
                        return Ok(());
                    }
                    on_path = parent;
                }
            }
            if distance > known {
                continue;
            }
            match self.distances.get(measure, at) {
                Known::Exactly(rest) => {
                    open.push((Reverse(distance.saturating_add(rest)), true, at));
                    continue;
                }
                Known::Never => continue,
                Known::Not | Known::Undecided => {}
            }
            if self.is_complete(at) {
                open.push((Reverse(distance), true, at));
            }
            if best.len() > SEARCH || self.state_count() >= self.limits().plan_states / 10 * 9 {
                self.distances.fruitless += best.len();
                self.distances.set(measure, state, Known::Undecided);
                return Ok(());
            }
            for place in 0..self.edge_count(at)? {
                let edge = self.edge(at, place);
                let through = distance.saturating_add(self.weight(measure, edge.class));
                if best.get(&edge.to).is_none_or(|&(known, _)| through < known) {
                    best.insert(edge.to, (through, at));
                    open.push((Reverse(through), false, edge.to));
                }
            }
        }
        // none of the states seen leads to a finished plan
        best.into_keys().for_each(|dead| self.distances.set(measure, dead, Known::Never));
        Ok(())
    }
}
