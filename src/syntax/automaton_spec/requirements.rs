//! Requirements on texts: the language of the words whose symbols occur only where a formula holds.

use super::document::Direction;
use super::facts::Facts;
use super::formula::Formula;
use crate::error::Result;
use crate::grammar::{ExprId, GrammarBuilder, RuleId};
use rustc_hash::FxHashMap;

/// Builds the language of words in which certain symbols occur only where a formula holds. The language is a finite
/// automaton whose states are the values of the formula's variables, so its size is the number of reachable
/// combinations of values times the number of symbols in use.
pub(super) struct Requirement<'s> {
    pub(super) facts: &'s Facts,
    pub(super) direction: Direction,
    /// The symbols in use, each with the expression of its text without a separator.
    pub(super) letters: &'s [(usize, ExprId)],
    pub(super) separator: &'s str,
}

/// The values of a formula's variables, in ascending order of the variables.
type Values = Box<[u32]>;

/// The states of the automaton, and for each the next states, with the allowed letters that lead there.
#[derive(Default)]
struct States {
    numbers: FxHashMap<Values, usize>,
    next: Vec<Vec<(usize, ExprId)>>,
}

impl Requirement<'_> {
    /// Builds the words, the empty one included, that contain a symbol of `symbols` only where `formula` holds.
    ///
    /// # Errors
    /// `limit/exceeded` if the work exceeds the budget of the grammar.
    pub(super) fn words(
        &self,
        formula: &Formula,
        symbols: &[usize],
        g: &mut GrammarBuilder,
    ) -> Result<ExprId> {
        let states = self.states(formula, symbols, g)?;
        let forward = self.direction == Direction::Forward;
        // in the order of the text: for each state, the letters to each next state
        let mut after: Vec<FxHashMap<usize, Vec<ExprId>>> = vec![FxHashMap::default(); states.next.len()];
        for (from, next) in states.next.iter().enumerate() {
            for &(to, letter) in next {
                let (from, to) = if forward { (from, to) } else { (to, from) };
                after[from].entry(to).or_default().push(letter);
            }
        }
        let rules: Vec<RuleId> =
            (0..after.len()).map(|state| g.declare_generated(&format!("after {state}"))).collect();
        let separator = g.text(self.separator);
        for (state, next) in after.iter().enumerate() {
            let more = self.letters_and_rest(next, Some(separator), &rules, g);
            let ends = forward || state == 0;
            let body = if ends { g.optional(more) } else { more };
            g.define(rules[state], body);
        }
        // forward words begin at the start state and end anywhere; backward words begin anywhere and end at the start
        // state
        let begins = if forward { 0..1 } else { 0..after.len() };
        let mut words = vec![g.empty()];
        for next in &after[begins] {
            words.push(self.letters_and_rest(next, None, &rules, g));
        }
        Ok(g.choice(words))
    }

    /// The choice of the letters to each next state, after `separator` if there is one, each followed by the rule of
    /// that state.
    fn letters_and_rest(
        &self,
        next: &FxHashMap<usize, Vec<ExprId>>,
        separator: Option<ExprId>,
        rules: &[RuleId],
        g: &mut GrammarBuilder,
    ) -> ExprId {
        let mut next: Vec<_> = next.iter().collect();
        next.sort_unstable_by_key(|(to, _)| **to);
        let mut alternatives = Vec::with_capacity(next.len());
        for (&to, letters) in next {
            let letter = g.choice(letters.iter().copied());
            let rest = g.rule(rules[to]);
            alternatives.push(g.sequence(separator.into_iter().chain([letter, rest])));
        }
        g.choice(alternatives)
    }

    /// The states that are reachable from the initial values, which are state 0.
    fn states(&self, formula: &Formula, symbols: &[usize], g: &GrammarBuilder) -> Result<States> {
        let mut variables: Vec<usize> = formula.atoms().map(|(variable, _)| variable).collect();
        variables.sort_unstable();
        variables.dedup();
        let place = |variable: usize| variables.binary_search(&variable).ok();
        let initial = variables.iter().map(|&v| self.facts.variables()[v].initial).collect::<Values>();
        let mut states = States::default();
        states.numbers.insert(initial.clone(), 0);
        let mut open = vec![initial];
        let mut number = 0;
        while let Some(values) = open.get(number).cloned() {
            number += 1;
            g.work().spend(8 * self.letters.len() + formula.atoms().count())?;
            let holds = formula.holds(|v| place(v).map_or(0, |place| values[place]));
            let mut next = Vec::new();
            for &(symbol, letter) in self.letters {
                if !holds && symbols.contains(&symbol) {
                    continue;
                }
                let mut values = values.clone();
                for (variable, value) in self.facts.rules(symbol).effects(None) {
                    if let Some(place) = place(variable) {
                        values[place] = value;
                    }
                }
                let fresh = states.numbers.len();
                let to = *states.numbers.entry(values.clone()).or_insert(fresh);
                if to == fresh {
                    open.push(values);
                }
                next.push((to, letter));
            }
            states.next.push(next);
        }
        Ok(states)
    }
}
