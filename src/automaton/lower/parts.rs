//! Parts bounded in tokens: checks of their content, and of the expressions that contain them.

use super::token_terminals::has_parts;
use crate::automaton::errors;
use crate::error::Result;
use crate::grammar::{ExprId, Expression, Grammar};

/// Refuses parts inside each other, since the matcher tracks one part at a time. Refuses names and lists of different
/// items inside parts, since they are tracked along the text, regardless of its readings.
///
/// # Errors
/// `automaton/bounded-part`.
pub(in crate::automaton) fn check(grammar: &Grammar) -> Result<()> {
    if !has_parts(grammar) {
        return Ok(());
    }
    let reached = reached_from(grammar, [grammar.rule(grammar.root()).body]);
    let bounded = |id: &usize| matches!(grammar.expressions()[*id], Expression::MaxTokens { .. });
    let parts: Vec<ExprId> =
        (0..reached.len()).filter(|&id| reached[id]).filter(bounded).filter_map(ExprId::new).collect();
    let inside = reached_from(grammar, parts.iter().flat_map(|&part| grammar.expression(part).children()));
    for (id, expression) in grammar.expressions().iter().enumerate().filter(|(id, _)| inside[*id]) {
        let has = match expression {
            Expression::MaxTokens { .. } => "another such part",
            Expression::Name(..) => "names of objects that must differ",
            Expression::Distinct(_) => "items that must differ",
            _ => continue,
        };
        return Err(errors::within_bounded_part(
            ExprId::new(id).map_or_else(Default::default, |id| grammar.place_of(id)),
            has,
        ));
    }
    Ok(())
}

/// Per expression, whether it is one of the given expressions or inside one of them, through rules too.
fn reached_from(grammar: &Grammar, from: impl IntoIterator<Item = ExprId>) -> Vec<bool> {
    let mut seen = vec![false; grammar.expressions().len()];
    let mut open: Vec<ExprId> = from.into_iter().collect();
    while let Some(id) = open.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        match grammar.expression(id) {
            Expression::Rule(rule) => open.push(grammar.rule(*rule).body),
            expression => expression.for_each_child(|child| open.push(child)),
        }
    }
    seen
}

/// Per expression, whether it contains a part bounded in tokens; `None` if the root does not.
pub(in crate::automaton) fn bounded(grammar: &Grammar) -> Option<Box<[bool]>> {
    if !has_parts(grammar) {
        return None;
    }
    // the users of each expression, as an operand or by reference to a rule
    let count = grammar.expressions().len();
    let mut users = vec![Vec::new(); count];
    let mut open = Vec::new();
    for (user, expression) in grammar.expressions().iter().enumerate() {
        match expression {
            Expression::Rule(rule) => users[grammar.rule(*rule).body.index()].push(user),
            _ => expression.for_each_child(|child| users[child.index()].push(user)),
        }
        if matches!(expression, Expression::MaxTokens { .. }) {
            open.push(user);
        }
    }
    let mut bounded = vec![false; count];
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut bounded[id], true) {
            open.extend(&users[id]);
        }
    }
    bounded[grammar.rule(grammar.root()).body.index()].then(|| bounded.into())
}
