//! Groups of expressions that refer to each other.

use super::{ExprId, Expression, Grammar};

/// The expressions that the root reaches, in groups that refer to each other through rules. Each group comes after
/// those that it refers to, and is sorted (Tarjan 1972, without recursion).
pub(super) fn components(grammar: &Grammar, root: ExprId) -> Vec<Vec<ExprId>> {
    const NEW: u32 = u32::MAX;
    let operands = |id: ExprId| -> Vec<ExprId> {
        match grammar.expression(id) {
            &Expression::Rule(rule) => vec![grammar.rule(rule).body],
            expression => expression.children().collect(),
        }
    };
    let count = grammar.expressions().len();
    let (mut order, mut low, mut on_stack) = (vec![NEW; count], vec![0_u32; count], vec![false; count]);
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    let mut path = vec![(root, operands(root), 0)];
    while let Some((id, below, place)) = path.last_mut() {
        let at = id.index();
        if *place == 0 {
            (order[at], low[at], on_stack[at]) = (counter, counter, true);
            counter += 1;
            stack.push(*id);
        }
        if let Some(&next) = below.get(*place) {
            *place += 1;
            if order[next.index()] == NEW {
                path.push((next, operands(next), 0));
            } else if on_stack[next.index()] {
                low[at] = low[at].min(order[next.index()]);
            }
            continue;
        }
        let id = *id;
        path.pop();
        if let Some((parent, ..)) = path.last() {
            low[parent.index()] = low[parent.index()].min(low[at]);
        }
        if low[at] == order[at] {
            let start = stack.iter().rposition(|&other| other == id).unwrap_or(0);
            let mut component = stack.split_off(start);
            component.iter().for_each(|id| on_stack[id.index()] = false);
            component.sort_unstable();
            found.push(component);
        }
    }
    found
}
