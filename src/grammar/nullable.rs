//! Whether an expression under construction may be empty.

use super::{ExprId, Expression, GrammarBuilder, conditions};
use crate::error::Result;
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

impl GrammarBuilder {
    /// Whether the empty text is a word of an expression. Rules without a body so far count as not empty. The work is
    /// that of one pass over the expressions for each level of nested complements, and for each chain of rules.
    ///
    /// # Errors
    /// `limit/exceeded` if `compile_work` is exceeded.
    pub(crate) fn is_nullable(&self, root: ExprId) -> Result<bool> {
        let order = self.reached(root)?;
        let mut known: FxHashMap<ExprId, bool> = FxHashMap::default();
        // the operand of a complement has a smaller id, and so do the complements in it
        for &id in order.iter().filter(|id| matches!(self.expression(**id), Expression::Complement(_))) {
            if let &Expression::Complement(operand) = self.expression(id) {
                let is_empty = self.fixed_point(&self.reached(operand)?, &known)?.contains(&operand);
                known.insert(id, !is_empty);
            }
        }
        Ok(self.fixed_point(&order, &known)?.contains(&root))
    }

    /// The expressions that an expression uses, also by rules, and itself, in the order of their ids.
    fn reached(&self, root: ExprId) -> Result<Vec<ExprId>> {
        let mut reached = FxHashSet::default();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            self.work().spend(1)?;
            if reached.insert(id) {
                match self.expression(id) {
                    Expression::Rule(rule) => open.extend(self.body(*rule)),
                    expression => open.extend(expression.children()),
                }
            }
        }
        let mut order: Vec<ExprId> = reached.into_iter().collect();
        order.sort_unstable();
        Ok(order)
    }

    /// The expressions of `order` that may be empty; `known` has the answers for complements.
    fn fixed_point(&self, order: &[ExprId], known: &FxHashMap<ExprId, bool>) -> Result<FxHashSet<ExprId>> {
        let mut empty: FxHashSet<ExprId> = FxHashSet::default();
        loop {
            self.work().spend(order.len())?;
            let before = empty.len();
            for &id in order {
                let of = |id: &ExprId| empty.contains(id);
                let may_be_empty = match self.expression(id) {
                    Expression::Empty => true,
                    Expression::Never
                    | Expression::ByteSet(_)
                    | Expression::Class(_)
                    | Expression::Token(_)
                    | Expression::WordGraph(_) => false,
                    Expression::Bytes(bytes) => bytes.is_empty(),
                    Expression::Sequence(parts) => parts.iter().all(of),
                    Expression::Intersection(parts) => parts.iter().all(of),
                    Expression::Choice(parts) => parts.iter().any(of),
                    Expression::Complement(_) => known.get(&id).copied().unwrap_or(false),
                    Expression::Repeat { min: 0, .. } => true,
                    Expression::Repeat { body, .. } | Expression::MaxTokens { body, .. } => of(body),
                    Expression::Label(_, body) | Expression::Name(body, _) => of(body),
                    Expression::Rule(rule) => self.body(*rule).is_some_and(|body| of(&body)),
                    Expression::Distinct(list) => list.min == 0,
                    Expression::Members(list) => {
                        let is_needed = list.min > 0 || list.members.iter().any(|member| member.required);
                        !is_needed && conditions::hold(&list.conditions, &FixedBitSet::new())
                    }
                };
                if may_be_empty {
                    empty.insert(id);
                }
            }
            // only a reference to a rule can have a larger id than the expression that it uses
            if empty.len() == before {
                return Ok(empty);
            }
        }
    }
}
