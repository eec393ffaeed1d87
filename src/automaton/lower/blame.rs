//! Finds the part of a grammar that an error is about.

use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::diagnostic::Place;
use crate::grammar::analysis::Analysis;
use crate::grammar::{ExprId, Expression, Grammar, Owners, is_generated};
use rustc_hash::FxHashSet;

/// The innermost label around a state or, without one, its rule.
pub(in crate::automaton) fn place_of(grammar: &Grammar, automaton: &Automaton, state: StateId) -> Place {
    let scope = automaton.scope(state);
    let (rule, label) = Owners::new(grammar).of(scope.rule, scope.label);
    grammar.place(rule, label)
}

/// The innermost label or rule without words that leaves the grammar without words.
pub(in crate::automaton) fn without_words(grammar: &Grammar, productive: &Analysis) -> Place {
    let root = grammar.rule(grammar.root());
    let mut name = root.name.to_string();
    let mut seen = FxHashSet::default();
    let mut next = Some(root.body);
    while let Some(id) = next.filter(|id| seen.insert(*id)) {
        let first = |parts: &[ExprId]| parts.iter().copied().find(|&part| !productive.holds(part));
        next = match grammar.expression(id) {
            Expression::Label(label, body) => {
                name = grammar.label(*label).to_owned();
                Some(*body)
            }
            Expression::Rule(rule) => {
                if !is_generated(&grammar.rule(*rule).name) {
                    name = grammar.rule(*rule).name.to_string();
                }
                Some(grammar.rule(*rule).body)
            }
            Expression::Sequence(parts) | Expression::Choice(parts) => first(parts),
            Expression::Repeat { body, .. } | Expression::MaxTokens { body, .. } => Some(*body),
            Expression::Members(list) => {
                let required = list.members.iter().filter(|member| member.required);
                required.map(|member| member.value).find(|&value| !productive.holds(value))
            }
            _ => None,
        };
    }
    Place::Rule(name)
}
