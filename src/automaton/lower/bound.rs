//! Recognises intersections that only bound the length of a part.

use crate::automaton::program::registers::Bound;
use crate::grammar::{ByteSet, CharClass, ExprId, Expression, Grammar, Unit};

/// The part and the bound of an intersection of a part with `.{0,n}`, over characters or bytes; `None` for other
/// expressions.
pub(super) fn bound_of(grammar: &Grammar, id: ExprId) -> Option<Bound> {
    let Expression::Intersection(list) = grammar.expression(id) else { return None };
    let [first, second] = list[..] else { return None };
    let bound = |unit, counter| Bound { unit, part: 1 - counter, counter };
    match (unit_of(grammar, first), unit_of(grammar, second)) {
        (Some(unit), _) => Some(bound(unit, 0)),
        (None, Some(unit)) => Some(bound(unit, 1)),
        (None, None) => None,
    }
}

fn unit_of(grammar: &Grammar, id: ExprId) -> Option<Unit> {
    let Expression::Repeat { body, min: 0, max: Some(_) } = grammar.expression(id) else { return None };
    match grammar.expression(*body) {
        Expression::Class(class) if *class == CharClass::any() => Some(Unit::Chars),
        Expression::ByteSet(set) if *set == ByteSet::FULL => Some(Unit::Bytes),
        _ => None,
    }
}
