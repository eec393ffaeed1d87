//! How many plans there are from a place on, exactly.

use super::automaton::{PlanAutomaton, PlanState, Position};
use super::errors;
use super::lookahead::Completable;
use super::registers::Registers;
use crate::automaton::Automaton;
use crate::automaton::words::Count;
use crate::error::{ErrorKind, Result};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Counts that are known.
#[derive(Debug, Default)]
pub(super) struct Counts {
    infinite: Option<bool>,
    /// Per state, and cost where that is bounded: all completions; `None` while they are being counted.
    all: FxHashMap<Position, Option<BigUint>>,
    /// The same with so many actions at most.
    within: FxHashMap<(Position, usize), BigUint>,
    /// What large counts take up, in entries of [`ENTRY_BYTES`].
    large: usize,
}

/// Bytes of an entry of the tables; larger counts are bounded as several.
const ENTRY_BYTES: u64 = 200;

impl Counts {
    /// Takes note of a count that is kept.
    fn keep(&mut self, count: &BigUint) {
        self.large += (count.bits() / 8 / ENTRY_BYTES) as usize;
    }
}

/// A place whose completions are being counted.
struct Open {
    at: Position,
    place: usize,
    total: BigUint,
}

impl PlanAutomaton {
    /// How many plans there are. Two plans differ if they differ in a step, or in what a set-valued step takes.
    ///
    /// # Errors
    /// `plan/budget-exhausted` if there are too many states to tell; limits.
    pub fn count(&mut self) -> Result<Count> {
        self.count_from(self.start())
    }

    /// How many completions a place has. Of a language with plans without end, the whole is `infinite` at its start;
    /// elsewhere it is so if a state can come again.
    ///
    /// # Errors
    /// `plan/budget-exhausted`; limits.
    pub fn count_from(&mut self, at: Position) -> Result<Count> {
        if at == self.start() && self.is_infinite()? {
            return Ok(Count::Infinite);
        }
        match self.count_all(at) {
            Err(error) if error.kind() == ErrorKind::Limit => Err(errors::budget_exhausted(&error)),
            count => count,
        }
    }

    /// Whether there are plans of any length.
    ///
    /// That is so if some derivation can be pumped by actions that can be put in anywhere, and some plan has such a
    /// derivation. It is not so if none can be pumped by actions that come without bound. Between the two, it is so if a
    /// state comes again on the way to a finished plan.
    ///
    /// # Errors
    /// `plan/budget-exhausted`; limits.
    pub fn is_infinite(&mut self) -> Result<bool> {
        if let Some(known) = self.counts.infinite {
            return Ok(known);
        }
        let infinite = self.pumps()?;
        self.counts.infinite = Some(infinite);
        Ok(infinite)
    }

    fn pumps(&mut self) -> Result<bool> {
        let is_free = |plans: &PlanAutomaton, symbol: usize, of_class: fn(&Registers, usize) -> bool| {
            let class = plans.codes.class_of.get(symbol).copied().flatten();
            let cost = plans.spec.symbols().get(symbol).map_or(0, |symbol| symbol.cost);
            class.is_some_and(|class| of_class(&plans.registers, class))
                && (cost == 0 || plans.spec.max_cost().is_none())
        };
        let unbounded = |symbol: usize| is_free(self, symbol, Registers::is_unbounded);
        if self.spec.productions().pumpable(unbounded, self.limits())?.is_none() {
            return Ok(false);
        }
        // with outcomes, only some of the words are plans
        if self.spec.facts().has_outcomes() {
            return self.comes_again();
        }
        let harmless = |symbol: usize| is_free(self, symbol, Registers::is_harmless);
        match self.spec.productions().pumpable(harmless, self.limits())? {
            Some(_) if self.registers.is_empty() && self.spec.max_cost().is_none() => return Ok(true),
            None => {}
            Some(pumped) => {
                let grammar = self.codes.grammar(&pumped, self.limits())?;
                let automaton = Automaton::new(&grammar, self.limits())?;
                let mut pumped = PlanAutomaton::over(Arc::clone(&self.spec), self.codes.clone(), automaton)?;
                match pumped.completable(pumped.start())? {
                    Completable::Yes => return Ok(true),
                    Completable::No => {}
                    Completable::Unknown => return Err(errors::exhausted_infinite()),
                }
            }
        }
        let all = |symbol: usize| unbounded(symbol) == is_free(self, symbol, Registers::is_harmless);
        match self.spec.productions().symbols().into_iter().all(all) {
            true => Ok(false),
            false => self.comes_again(),
        }
    }

    /// Whether a state that leads to a finished plan can come again after itself: a depth-first search.
    fn comes_again(&mut self) -> Result<bool> {
        let start = self.relevant(self.start());
        if self.completable(start)? == Completable::No {
            return Ok(false);
        }
        // true: on the path
        let mut seen: FxHashMap<Position, bool> = FxHashMap::from_iter([(start, true)]);
        let mut path = vec![(start, self.steps(start.state)?)];
        while let Some((at, edges)) = path.last_mut() {
            let at = *at;
            let Some(edge) = edges.pop() else {
                seen.insert(at, false);
                path.pop();
                continue;
            };
            let cost = at.cost.saturating_add(self.cost(edge.class));
            let next = self.relevant(Position { state: edge.to, cost });
            if !self.affordable(cost) {
                continue;
            }
            match (self.completable(next)?, seen.get(&next)) {
                (Completable::No, _) | (_, Some(false)) => {}
                (Completable::Yes, Some(true)) => return Ok(true),
                (Completable::Unknown, _) => return Err(errors::exhausted_infinite()),
                (Completable::Yes, None) => {
                    if seen.len() >= self.limits().plan_states {
                        return Err(errors::exhausted_infinite());
                    }
                    seen.insert(next, true);
                    let edges = self.steps(next.state)?;
                    path.push((next, edges));
                }
            }
        }
        Ok(false)
    }

    /// A position as far as it decides what may follow.
    fn relevant(&self, at: Position) -> Position {
        if self.spec.max_cost().is_some() { at } else { Position { cost: 0, ..at } }
    }

    /// How many ways there are to take a step: the members of its class that are left, times their subsets.
    pub(super) fn ways(&self, state: PlanState, class: u32) -> BigUint {
        let first = self.codes.classes[class as usize].members.first();
        let subsets = first.map_or(BigUint::ZERO, |&symbol| self.spec.symbols()[symbol].subsets());
        subsets * self.open_members(state, class)
    }

    fn count_all(&mut self, at: Position) -> Result<Count> {
        let start = self.relevant(at);
        let mut path = vec![self.open(start)];
        while let Some(top) = path.last_mut() {
            let at = top.at;
            if top.place == 0
                && let Some(Some(_)) = self.counts.all.get(&at)
            {
                path.pop();
                continue;
            }
            if top.place < self.edge_count(at.state)? {
                let edge = self.edge(at.state, top.place);
                let cost = at.cost.saturating_add(self.cost(edge.class));
                if !self.affordable(cost) || !self.is_safe(at.state, edge)? {
                    top.place += 1;
                    continue;
                }
                let next = self.relevant(Position { state: edge.to, cost });
                match self.counts.all.get(&next) {
                    Some(Some(known)) => {
                        let known = known.clone();
                        top.total += known * self.ways(at.state, edge.class);
                        top.place += 1;
                    }
                    Some(None) => {
                        if self.completable(next)? != Completable::No {
                            // a state that comes again on the way to a finished plan
                            self.forget_open();
                            return Ok(Count::Infinite);
                        }
                        top.place += 1;
                    }
                    None => {
                        if let Err(error) = self.check_entries(0) {
                            self.forget_open();
                            return Err(error);
                        }
                        let next = self.open(next);
                        path.push(next);
                    }
                }
                continue;
            }
            let total = std::mem::take(&mut top.total);
            path.pop();
            self.counts.keep(&total);
            if let Err(error) = self.check_entries(0) {
                self.forget_open();
                return Err(error);
            }
            self.counts.all.insert(at, Some(total));
        }
        let total = self.counts.all.get(&start).cloned().flatten();
        Ok(Count::Finite(total.unwrap_or_default()))
    }

    fn forget_open(&mut self) {
        self.counts.all.retain(|_, count| count.is_some());
    }

    fn open(&mut self, at: Position) -> Open {
        self.counts.all.entry(at).or_insert(None);
        let total = BigUint::from(u8::from(self.is_complete(at.state)));
        Open { at, place: 0, total }
    }

    /// How many completions of at most so many actions a place has.
    ///
    /// # Errors
    /// Limits.
    pub fn count_within(&mut self, at: Position, most: usize) -> Result<BigUint> {
        let start = (self.relevant(at), most);
        let mut path = vec![(start, 0, BigUint::from(u8::from(self.is_complete(at.state))))];
        while let Some((key, place, total)) = path.last_mut() {
            let (at, left) = *key;
            if *place == 0
                && let Some(known) = self.counts.within.get(key)
            {
                let known = known.clone();
                path.pop();
                self.add_to_parent(&mut path, &known);
                continue;
            }
            if left > 0 && *place < self.edge_count(at.state)? {
                let edge = self.edge(at.state, *place);
                *place += 1;
                let next = Position { state: edge.to, cost: at.cost.saturating_add(self.cost(edge.class)) };
                let is_safe = self.is_safe(at.state, edge)?;
                if is_safe && self.affordable(next.cost) && self.completable(next)? != Completable::No {
                    self.check_entries(path.len())?;
                    let next = self.relevant(next);
                    let own = BigUint::from(u8::from(self.is_complete(next.state)));
                    path.push(((next, left - 1), 0, own));
                }
                continue;
            }
            let total = std::mem::take(total);
            self.check_entries(path.len())?;
            self.counts.keep(&total);
            self.counts.within.insert((at, left), total.clone());
            path.pop();
            self.add_to_parent(&mut path, &total);
        }
        Ok(self.counts.within.get(&start).cloned().unwrap_or_default())
    }

    /// Refuses more entries than there may be, those of a path among them.
    fn check_entries(&self, path: usize) -> Result<()> {
        let Counts { all, within, large, .. } = &self.counts;
        if all.len() + within.len() + path + large > self.limits().plan_states {
            return Err(errors::too_many_states(self.limits().plan_states));
        }
        Ok(())
    }

    fn add_to_parent(&self, path: &mut [((Position, usize), usize, BigUint)], count: &BigUint) {
        if let Some(((at, _), place, total)) = path.last_mut() {
            let edge = self.edge(at.state, *place - 1);
            *total += count * self.ways(at.state, edge.class);
        }
    }
}
