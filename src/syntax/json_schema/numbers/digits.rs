//! Bounds on the digits of numbers that have none.

use crate::grammar::{ExprId, Expression, GrammarBuilder};
use rustc_hash::FxHashMap;

/// The numbers of an expression with at most `most` digits in each run that nothing bounds; a run that needs more keeps
/// what it needs. A loop of digits mostly follows a first one, so its bound is one less, which after a point and in an
/// exponent leaves one digit fewer.
///
/// Complements stay as they are: they stand in intersections with what is bounded. Multiples are followed by the
/// remainders of their digits, which have no bound.
pub(in crate::syntax::json_schema) fn bounded(g: &mut GrammarBuilder, all: ExprId, most: u32) -> ExprId {
    let most = most.max(1);
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
                let body = made.get(&body).copied().unwrap_or(body);
                g.repeat(body, min, Some(max.unwrap_or(min.max(most - 1).max(1))))
            }
            _ => id,
        };
        made.insert(id, bounded);
    }
    made.get(&all).copied().unwrap_or(all)
}
