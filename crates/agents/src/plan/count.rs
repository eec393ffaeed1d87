//! How many plans there are from a place on, exactly.

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
    /// How many plans there are. Two plans differ if they differ in a step, or in what a set-valued step takes.
    ///
    /// # Errors
    /// `plan/budget-exhausted` if there are too many states to tell; limits.
    pub fn count(&mut self) -> Result<Count> {
        self.count_from(self.start(), &mut Counts::default())
    }

    /// How many completions a place has. Of a language with plans without end, the whole is `infinite` at its start;
    /// elsewhere it is so if a state can come again. `counts` are those of this automaton so far.
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

    /// How many completions of at most `most` actions a place has.
    ///
    /// # Errors
    /// Limits.
    pub fn count_within(&mut self, at: Position, most: usize) -> Result<BigUint> {
        Counts::default().count_within(self, &self.relevant(at), most)
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
        // with outcomes, only some of the words are plans
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

    /// Whether a state that leads to a finished plan can come again after itself: a depth-first search.
    fn comes_again(&mut self) -> Result<bool> {
        let start = self.start();
        if self.completable(start)? == Completable::No {
            return Ok(false);
        }
        // true: on the path
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
