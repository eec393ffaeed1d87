//! Bounds on runs of digits that are not bounded otherwise.

use crate::grammar::{ExprId, Expression, GrammarBuilder};
use rustc_hash::FxHashMap;

/// Returns the numbers of an expression with at most `most` digits in each unbounded run; a run that requires more
/// keeps what it requires. A loop of digits usually follows a first digit. So its bound is one less, but at least one:
/// values of `most` below 2 act as 2. After a point and in an exponent this leaves one digit less.
///
/// Complements are not changed, since they are intersected with bounded expressions. Automata of multiples are bounded
/// in part only: states that are used several times are rules, which are not changed.
pub(in crate::syntax::json_schema) fn bounded(g: &mut GrammarBuilder, all: ExprId, most: u32) -> ExprId {
    let most = most.max(2);
    let mut made: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for id in g.within(all) {
        let of = |list: &[ExprId]| -> Vec<ExprId> {
            list.iter().map(|child| made.get(child).copied().unwrap_or(*child)).collect()
        };
        let bounded = match g.expression(id).clone() {
            Expression::Sequence(parts) => g.sequence(of(&parts)),
            Expression::Choice(parts) => g.choice(of(&parts)),
            Expression::Intersection(parts) => g.intersection(of(&parts)),
            Expression::Repeat { body, min, max } => {
                let max = max.or_else(|| is_digit(g.expression(body)).then(|| min.max(most - 1)));
                let body = made.get(&body).copied().unwrap_or(body);
                g.repeat(body, min, max)
            }
            _ => id,
        };
        made.insert(id, bounded);
    }
    made.get(&all).copied().unwrap_or(all)
}

/// Whether all words of an expression are single digits. Loops over other bytes only occur in intersections with bounded
/// expressions.
fn is_digit(expression: &Expression) -> bool {
    match expression {
        Expression::ByteSet(set) => set.iter().all(|byte| byte.is_ascii_digit()),
        Expression::Bytes(text) => matches!(text[..], [b'0'..=b'9']),
        _ => false,
    }
}
