//! Checks where token terminals and parts bounded in tokens occur: they are refused where text is stored as bytes or
//! read by several operands.

use crate::automaton::errors::{self, Surroundings};
use crate::error::Result;
use crate::grammar::{ExprId, Expression, Grammar};
use std::ops::Range;

/// The most passes over a grammar in search of names whose objects are not closed in their rule. If more are needed,
/// all references to rules are assumed to contain such names.
const MOST_PASSES: usize = 64;

/// Refuses token terminals and parts bounded in tokens inside intersections and complements, lists of different items,
/// names, and objects whose names are tracked.
///
/// # Errors
/// `automaton/token-terminal` and `automaton/bounded-part`.
pub(in crate::automaton) fn check(grammar: &Grammar) -> Result<()> {
    if !has_terminals(grammar) && !has_parts(grammar) {
        return Ok(());
    }
    let names = OpenNames::of(grammar);
    let root = grammar.rule(grammar.root()).body;
    // the expressions that the root reaches, each with its outermost surroundings
    let count = grammar.expressions().len();
    let mut seen = vec![false; count];
    let mut inside: Vec<Option<(Surroundings, ExprId)>> = vec![None; count];
    let mut open = vec![(root, None)];
    while let Some((id, within)) = open.pop() {
        let known = std::mem::replace(&mut seen[id.index()], true);
        if known && (within.is_none() || inside[id.index()].is_some()) {
            continue;
        }
        inside[id.index()] = within;
        let expression = grammar.expression(id);
        let own = match expression {
            Expression::Intersection(_) | Expression::Complement(_) => Some(Surroundings::Product),
            Expression::Distinct(_) => Some(Surroundings::UniqueItems),
            Expression::Name(..) => Some(Surroundings::Name),
            _ => None,
        };
        let within = within.or(own.map(|own| (own, id)));
        match (expression, within) {
            (Expression::Token(terminal), Some((surroundings, outer))) => {
                let place = grammar.place_of(outer);
                return Err(errors::token_terminal_within(place, surroundings, &terminal.to_string()));
            }
            // the extent of the object with the name is unknown, so the whole grammar counts as inside it
            (Expression::Token(terminal), None) if names.is_open[root.index()] => {
                let (place, within) = (grammar.place_of(id), Surroundings::NamedMembers);
                return Err(errors::token_terminal_within(place, within, &terminal.to_string()));
            }
            (Expression::MaxTokens { .. }, Some((surroundings, outer))) => {
                return Err(errors::bounded_part_within(grammar.place_of(outer), surroundings));
            }
            (Expression::MaxTokens { .. }, None) if names.is_open[root.index()] => {
                return Err(errors::bounded_part_within(grammar.place_of(id), Surroundings::NamedMembers));
            }
            (Expression::Rule(rule), _) => open.push((grammar.rule(*rule).body, within)),
            (Expression::Sequence(parts), None) => {
                let object = names.object_in(parts).unwrap_or(0..0);
                let of_part = |place| object.contains(&place).then_some((Surroundings::NamedMembers, id));
                open.extend(parts.iter().enumerate().map(|(place, &part)| (part, of_part(place))));
            }
            _ => expression.for_each_child(|child| open.push((child, within))),
        }
    }
    Ok(())
}

/// Whether a grammar has token terminals, whether or not its root reaches them.
pub(in crate::automaton) fn has_terminals(grammar: &Grammar) -> bool {
    grammar.expressions().iter().any(|expression| matches!(expression, Expression::Token(_)))
}

/// Whether a grammar has parts bounded in tokens, whether or not its root reaches them.
pub(in crate::automaton) fn has_parts(grammar: &Grammar) -> bool {
    grammar.expressions().iter().any(|expression| matches!(expression, Expression::MaxTokens { .. }))
}

/// Per expression, whether it contains an open name: a name that is not between braces that are literals of one
/// sequence.
struct OpenNames {
    is_open: Vec<bool>,
    /// Per expression, whether the last brace of a literal in it is an opening brace, and whether the first brace of a
    /// literal in it is a closing one.
    opens: Vec<bool>,
    closes: Vec<bool>,
}

impl OpenNames {
    fn of(grammar: &Grammar) -> OpenNames {
        let count = grammar.expressions().len();
        let [is_open, opens, closes] = std::array::from_fn(|_| vec![false; count]);
        let mut names = OpenNames { is_open, opens, closes };
        names.find_braces(grammar);
        for pass in 0..=MOST_PASSES {
            let mut changed = false;
            for (index, expression) in grammar.expressions().iter().enumerate() {
                let is_open = match expression {
                    Expression::Name(..) => true,
                    Expression::Rule(rule) => {
                        pass == MOST_PASSES || names.is_open[grammar.rule(*rule).body.index()]
                    }
                    Expression::Sequence(parts) => {
                        let has_name = parts.iter().any(|part| names.is_open[part.index()]);
                        has_name && names.object_in(parts).is_none()
                    }
                    _ => {
                        let mut found = false;
                        expression.for_each_child(|child| found |= names.is_open[child.index()]);
                        found
                    }
                };
                changed |= is_open && !std::mem::replace(&mut names.is_open[index], is_open);
            }
            if !changed {
                break;
            }
        }
        names
    }

    fn find_braces(&mut self, grammar: &Grammar) {
        for (index, expression) in grammar.expressions().iter().enumerate() {
            let is_brace = |byte: &&u8| matches!(byte, b'{' | b'}');
            (self.opens[index], self.closes[index]) = match expression {
                Expression::Bytes(bytes) => {
                    (bytes.iter().rfind(is_brace) == Some(&b'{'), bytes.iter().find(is_brace) == Some(&b'}'))
                }
                Expression::Sequence(parts) => (
                    parts.iter().any(|part| self.opens[part.index()]),
                    parts.iter().any(|part| self.closes[part.index()]),
                ),
                Expression::Label(_, body) => (self.opens[body.index()], self.closes[body.index()]),
                _ => (false, false),
            };
        }
    }

    /// The indices of the parts of a sequence between the braces around its open names, if the sequence has open names
    /// and such braces.
    fn object_in(&self, parts: &[ExprId]) -> Option<Range<usize>> {
        let is_open = |part: &ExprId| self.is_open[part.index()];
        let (first, last) = (parts.iter().position(is_open)?, parts.iter().rposition(is_open)?);
        let before = parts[..first].iter().rposition(|part| self.opens[part.index()])?;
        let after = parts[last + 1..].iter().position(|part| self.closes[part.index()])?;
        Some(before + 1..last + 1 + after)
    }
}
