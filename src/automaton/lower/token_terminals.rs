//! Where token terminals cannot stand: where what was read is remembered as bytes, or read by several operands at once.

use crate::automaton::errors;
use crate::error::Result;
use crate::grammar::{ExprId, Expression, Grammar};

/// What token terminals may not stand in.
#[derive(Clone, Copy)]
pub(in crate::automaton) enum Surroundings {
    Product,
    UniqueItems,
    Name,
    /// A list of members whose names must differ, or a sequence with such a name.
    NamedMembers,
}

/// Refuses token terminals in intersections and complements, in lists of items that must differ, and in names and objects of
/// which the names are followed.
pub(in crate::automaton) fn check(grammar: &Grammar) -> Result<()> {
    if !has_terminals(grammar) {
        return Ok(());
    }
    let has_name = with_names(grammar);
    // what the root reaches, and what is inside of surroundings, those that are outermost first
    let count = grammar.expressions().len();
    let mut seen = vec![false; count];
    let mut inside: Vec<Option<(Surroundings, ExprId)>> = vec![None; count];
    let mut open = vec![(grammar.rule(grammar.root()).body, None)];
    while let Some((id, within)) = open.pop() {
        let known = std::mem::replace(&mut seen[id.index()], true);
        if known && (within.is_none() || inside[id.index()].is_some()) {
            continue;
        }
        inside[id.index()] = within;
        let within = within.or_else(|| match grammar.expression(id) {
            Expression::Intersection(_) | Expression::Complement(_) => Some((Surroundings::Product, id)),
            Expression::Distinct(_) => Some((Surroundings::UniqueItems, id)),
            Expression::Name(..) => Some((Surroundings::Name, id)),
            Expression::Members(_) | Expression::Sequence(_) if has_name[id.index()] => {
                Some((Surroundings::NamedMembers, id))
            }
            _ => None,
        });
        match (grammar.expression(id), within) {
            (Expression::Token(terminal), Some((surroundings, outer))) => {
                let place = grammar.place_of(outer);
                return Err(errors::token_terminal_within(place, surroundings, &terminal.to_string()));
            }
            (Expression::Rule(rule), _) => open.push((grammar.rule(*rule).body, within)),
            (expression, _) => expression.for_each_child(|child| open.push((child, within))),
        }
    }
    Ok(())
}

/// Whether a grammar has token terminals.
pub(in crate::automaton) fn has_terminals(grammar: &Grammar) -> bool {
    grammar.expressions().iter().any(|expression| matches!(expression, Expression::Token(_)))
}

/// Per expression: whether a name is in it, not counting what is in lists of members within it and behind rules.
fn with_names(grammar: &Grammar) -> Vec<bool> {
    let mut has_name: Vec<bool> = Vec::with_capacity(grammar.expressions().len());
    for expression in grammar.expressions() {
        let mut found = matches!(expression, Expression::Name(..));
        expression.for_each_child(|child| {
            let is_list = matches!(grammar.expression(child), Expression::Members(_));
            found |= has_name[child.index()] && !is_list;
        });
        has_name.push(found);
    }
    has_name
}
