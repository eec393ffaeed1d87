//! Why there is no plan, or none that begins with some steps: a smallest set of rules that leaves none.
//!
//! A set of rules conflicts if no plan keeps all of them; a subset of it that conflicts and has no conflicting part is a minimal
//! unsatisfiable subset. One is found by leaving out one rule after the other (deletion), and then all smaller sets are tried
//! as far as a budget goes.

use super::automaton::PlanAutomaton;
use super::step::Plan;
use super::subsets::next_subset;
use grammata::error::{ErrorKind, Result};
use grammata::syntax::automaton_spec::{Rule, Spec};
use grammata::transitions::Completable;
use std::sync::Arc;

/// States that the automaton under some of the rules may make: a question takes some milliseconds.
const STATES: usize = 100_000;
/// Sets of rules that are tried to find a smaller one.
const SETS: usize = 300;
/// Automata that are kept.
const KEPT: usize = 16;

/// Rules that together leave no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The rules, in the spec's order. None: the machine or grammar itself has no such plan, whatever the rules.
    pub rules: Vec<Rule>,
    /// Whether no smaller set conflicts. In any case no part of this one does.
    pub is_smallest: bool,
}

/// Finds conflicts among the rules of a spec.
#[derive(Debug)]
pub struct Conflicts {
    spec: Arc<Spec>,
    rules: Vec<Rule>,
    /// Automata by the rules that they keep, in rising order.
    automata: Vec<(Vec<usize>, PlanAutomaton)>,
}

impl Conflicts {
    /// The conflicts of a spec.
    pub fn new(spec: Arc<Spec>) -> Conflicts {
        Conflicts { rules: spec.rules(), spec, automata: Vec::new() }
    }

    /// A smallest set of rules under which no plan begins with the given steps; `None` if under all rules there is one, or
    /// that could not be found out.
    ///
    /// # Errors
    /// Those of making an automaton, other than its limits.
    pub fn of(&mut self, steps: &Plan) -> Result<Option<Conflict>> {
        let all: Vec<usize> = (0..self.rules.len()).collect();
        if !self.leaves_none(&all, steps)? {
            return Ok(None);
        }
        let mut core = all;
        let mut place = 0;
        while place < core.len() {
            let mut without = core.clone();
            without.remove(place);
            match self.leaves_none(&without, steps)? {
                true => core = without,
                false => place += 1,
            }
        }
        let mut tried = 0;
        for size in 1..core.len() {
            let mut set: Vec<usize> = (0..size).collect();
            loop {
                if tried == SETS {
                    return Ok(Some(self.conflict(&core, false)));
                }
                tried += 1;
                if self.leaves_none(&set, steps)? {
                    return Ok(Some(self.conflict(&set, true)));
                }
                if !next_subset(&mut set, self.rules.len()) {
                    break;
                }
            }
        }
        Ok(Some(self.conflict(&core, true)))
    }

    fn conflict(&self, rules: &[usize], is_smallest: bool) -> Conflict {
        Conflict { rules: rules.iter().map(|&rule| self.rules[rule].clone()).collect(), is_smallest }
    }

    /// Whether no plan that keeps these rules begins with the steps; false also where that is not known.
    fn leaves_none(&mut self, kept: &[usize], steps: &Plan) -> Result<bool> {
        let place = match self.automata.iter().position(|(rules, _)| rules == kept) {
            Some(place) => place,
            None => {
                let spec = self.spec.under_rules(|rule| kept.binary_search(&rule).is_ok(), STATES);
                let automaton = match PlanAutomaton::new(spec) {
                    Ok(automaton) => automaton,
                    Err(error) if error.kind() == ErrorKind::Limit => return Ok(false),
                    Err(error) => return Err(error),
                };
                // one automaton for each set would not fit: that of the last is asked again most
                self.automata.truncate(KEPT);
                self.automata.insert(0, (kept.to_vec(), automaton));
                0
            }
        };
        let automaton = &mut self.automata[place].1;
        let answer = automaton.walk(steps).and_then(|partial| match partial {
            None => Ok(true),
            Some(partial) => Ok(automaton.completable(partial.position())? == Completable::No),
        });
        match answer {
            Err(error) if error.kind() == ErrorKind::Limit => Ok(false),
            other => other,
        }
    }
}
