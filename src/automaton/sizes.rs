//! How large expressions are as states, and which are worth lowering once.

use crate::grammar::{Expression, Grammar};

/// Which expressions are used more than once and are more than `small` states. Written out at each use, expressions that share
/// and share again would become exponentially many states.
pub(super) fn shared(grammar: &Grammar, weights: &[u32], small: u32) -> Vec<bool> {
    let mut uses = vec![0u32; weights.len()];
    for expression in grammar.expressions() {
        expression.children().for_each(|child| uses[child.index()] = uses[child.index()].saturating_add(1));
    }
    let counts = uses.iter().zip(weights).zip(grammar.expressions());
    counts
        .map(|((&uses, &weight), expression)| {
            uses > 1 && weight > small && !matches!(expression, Expression::Bytes(_))
        })
        .collect()
}

/// About how many states each expression becomes, saturating.
pub(super) fn weights(grammar: &Grammar) -> Vec<u32> {
    let mut weights: Vec<u32> = Vec::with_capacity(grammar.expressions().len());
    for expression in grammar.expressions() {
        let children = expression.children().fold(0u32, |sum, c| sum.saturating_add(weights[c.index()]));
        weights.push(match expression {
            Expression::Empty | Expression::Never => 0,
            Expression::Bytes(bytes) => u32::try_from(bytes.len()).unwrap_or(u32::MAX),
            Expression::Class(class) => (class.ranges().len() as u32).min(4),
            Expression::ByteSet(_) | Expression::Rule(_) => 1,
            Expression::Members(_) | Expression::Intersection(_) | Expression::Complement(_) => 1000,
            Expression::Repeat { max, min, .. } => children.saturating_mul(max.unwrap_or(*min).max(1)),
            Expression::Sequence(_) | Expression::Choice(_) | Expression::Label(..) => children,
        });
    }
    weights
}
