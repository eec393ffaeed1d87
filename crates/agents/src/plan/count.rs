//! Exact counts of the plans that start at a position.

use super::automaton::{PlanAutomaton, Position};
use super::errors;
use super::registers::Registers;
use grammata::automaton::Automaton;
use grammata::error::{ErrorKind, Result};
use grammata::transitions::{Completable, Count, Counts, Transition, TransitionSystem};
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl PlanAutomaton {
    /// Returns the number of plans. Two plans differ if they differ in a step or in the elements of a set-valued step.
    ///
    /// # Errors
    /// `plan/budget-exhausted` if there are too many states to decide; limits.
    pub fn count(&mut self) -> Result<Count> {
        self.count_from(self.start(), &mut Counts::default())
    }

    /// Returns the number of completions from a position. If there are infinitely many plans, the count at the start is
    /// `infinite`; from any other position it is `infinite` if a cycle of states is reachable that is not known to be a
    /// dead end. `counts` memoises earlier counts of this automaton.
    ///
    /// # Errors
    /// `plan/budget-exhausted`; limits.
    pub fn count_from(&mut self, at: Position, counts: &mut Counts<Position>) -> Result<Count> {
        if at == self.start() && self.is_infinite()? {
            return Ok(Count::Infinite);
        }
        match counts.count(self, &self.relevant(at)) {
            Err(error) if error.kind() == ErrorKind::Limit => Err(errors::budget_exhausted(&error)),
            count => count,
        }
    }

    /// Returns the number of completions with at most `most` actions from a position.
    ///
    /// # Errors
    /// Limits.
    pub fn count_within(&mut self, at: Position, most: usize) -> Result<BigUint> {
        Counts::default().count_within(self, &self.relevant(at), most)
    }

    /// Returns whether there are infinitely many plans, that is, plans of unbounded length.
    ///
    /// Returns true if some derivation can be pumped with actions that can be inserted anywhere, and some plan has such
    /// a derivation. Returns false if no derivation can be pumped with actions that can repeat without bound. Otherwise
    /// returns whether a cycle of states lies on a path to a finished plan.
    ///
    /// # Errors
    /// `plan/budget-exhausted`; limits.
    pub fn is_infinite(&mut self) -> Result<bool> {
        if let Some(known) = self.infinite {
            return Ok(known);
        }
        let infinite = self.pumps()?;
        self.infinite = Some(infinite);
        Ok(infinite)
    }

    fn pumps(&mut self) -> Result<bool> {
        let (spec, codes) = (self.shared_spec(), &self.states.codes);
        let is_free = |plans: &PlanAutomaton, symbol: usize, of_class: fn(&Registers, usize) -> bool| {
            let class = plans.states.codes.class_of.get(symbol).copied().flatten();
            let cost = plans.spec().symbols().get(symbol).map_or(0, |symbol| symbol.cost);
            class.is_some_and(|class| of_class(&plans.states.registers, class))
                && (cost == 0 || plans.spec().max_cost().is_none())
        };
        let unbounded = |symbol: usize| is_free(self, symbol, Registers::is_unbounded);
        if spec.productions().pumpable(unbounded, spec.limits())?.is_none() {
            return Ok(false);
        }
        // with outcomes, only some words of the grammar are plans
        if spec.facts().has_outcomes() {
            return self.comes_again();
        }
        let harmless = |symbol: usize| is_free(self, symbol, Registers::is_harmless);
        match spec.productions().pumpable(harmless, spec.limits())? {
            Some(_) if self.states.registers.is_empty() && spec.max_cost().is_none() => return Ok(true),
            None => {}
            Some(pumped) => {
                let grammar = codes.grammar(&pumped, spec.limits())?;
                let automaton = Automaton::new(&grammar, spec.limits())?;
                let mut pumped = PlanAutomaton::over(Arc::clone(&spec), codes.clone(), automaton)?;
                match pumped.completable(pumped.start())? {
                    Completable::Yes => return Ok(true),
                    Completable::No => {}
                    Completable::Unknown => return Err(errors::exhausted_infinite()),
                }
            }
        }
        let all = |symbol: usize| unbounded(symbol) == is_free(self, symbol, Registers::is_harmless);
        match spec.productions().symbols().into_iter().all(all) {
            true => Ok(false),
            false => self.comes_again(),
        }
    }

    /// Returns whether a finished plan can be reached from some reachable cycle of states. Uses a depth-first search.
    fn comes_again(&mut self) -> Result<bool> {
        let start = self.start();
        if self.completable(start)? == Completable::No {
            return Ok(false);
        }
        // true while the position is on the current path
        let mut seen: FxHashMap<Position, bool> = FxHashMap::from_iter([(start, true)]);
        let mut successors = Vec::new();
        self.successors(&start, &mut successors)?;
        let mut path = vec![(start, successors)];
        while let Some((at, successors)) = path.last_mut() {
            let Some(Transition { to, .. }) = successors.pop() else {
                seen.insert(*at, false);
                path.pop();
                continue;
            };
            match (self.completable(to)?, seen.get(&to)) {
                (Completable::No, _) | (_, Some(false)) => {}
                (Completable::Yes, Some(true)) => return Ok(true),
                (Completable::Unknown, _) => return Err(errors::exhausted_infinite()),
                (Completable::Yes, None) => {
                    if seen.len() >= self.limits().plan_states {
                        return Err(errors::exhausted_infinite());
                    }
                    seen.insert(to, true);
                    let mut successors = Vec::new();
                    self.successors(&to, &mut successors)?;
                    path.push((to, successors));
                }
            }
        }
        Ok(false)
    }
}
