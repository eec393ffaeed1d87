//! Conflicts: a smallest set of rules under which there is no plan, or none that begins with given steps.
//!
//! A set of rules conflicts if no plan keeps all of them. A conflicting set without a conflicting proper subset is a
//! minimal unsatisfiable subset. One is found by deletion (leaving out one rule after the other); then all smaller sets
//! are tried, within a budget.

use super::automaton::PlanAutomaton;
use super::step::Plan;
use super::subsets::next_subset;
use grammata::error::{ErrorKind, Result};
use grammata::syntax::automaton_spec::{Rule, Spec};
use grammata::transitions::Completable;
use std::sync::Arc;

/// The maximum number of states of an automaton under some of the rules: a check takes some milliseconds.
const STATES: usize = 100_000;
/// The maximum number of sets of rules tried to find a smaller conflict.
const SETS: usize = 300;
/// The number of cached automata that are kept when another one is added.
const KEPT: usize = 16;

/// Rules that together leave no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The rules, in the spec's order. If empty, the machine or grammar itself has no such plan, whatever the rules.
    pub rules: Vec<Rule>,
    /// Whether no set with fewer rules conflicts. No proper subset of `rules` conflicts in either case. A set for which
    /// the search could not decide counts as not conflicting.
    pub is_smallest: bool,
}

/// Finds conflicts among the rules of a spec.
#[derive(Debug)]
pub struct Conflicts {
    spec: Arc<Spec>,
    rules: Vec<Rule>,
    /// Automata by the rules that they keep, in increasing order.
    automata: Vec<(Vec<usize>, PlanAutomaton)>,
}

impl Conflicts {
    /// Creates a search for the conflicts of a spec.
    pub fn new(spec: Arc<Spec>) -> Conflicts {
        Conflicts { rules: spec.rules(), spec, automata: Vec::new() }
    }

    /// Returns a smallest set of rules under which no plan begins with the given steps; if the search for smaller sets
    /// ends early, a set without a smaller subset ([`Conflict::is_smallest`] is then false). Returns `None` if such a
    /// plan exists under all rules, or if that could not be decided.
    ///
    /// # Errors
    /// Those of creating an automaton, other than its limits.
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

    /// Returns true if no plan that keeps the rules `kept` begins with the steps; false if there is such a plan or the
    /// search could not decide.
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
                // automata of all sets would not fit in memory; the latest ones are used most
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
