//! Which expressions, rules and pieces have a word at all.

use super::chart::{Head, Piece};
use crate::grammar::{ExprId, Expression, Grammar, Members};
use rustc_hash::{FxHashMap, FxHashSet};

/// Which expressions and rules have a word, given which intersections and complements have one (those not
/// known are taken to have none).
#[derive(Debug)]
pub(super) struct Productive {
    expressions: Vec<bool>,
    rules: Vec<bool>,
    locks: FxHashMap<ExprId, bool>,
}

impl Productive {
    pub(super) fn of(grammar: &Grammar, locks: FxHashMap<ExprId, bool>) -> Productive {
        let mut productive = Productive {
            expressions: vec![false; grammar.expressions().len()],
            rules: vec![false; grammar.rules().len()],
            locks,
        };
        loop {
            for (i, expression) in grammar.expressions().iter().enumerate() {
                productive.expressions[i] = productive.judge(ExprId::new(i), expression);
            }
            let rules: Vec<bool> =
                grammar.rules().iter().map(|rule| productive.expressions[rule.body.index()]).collect();
            if rules == productive.rules {
                return productive;
            }
            productive.rules = rules;
        }
    }

    fn judge(&self, id: Option<ExprId>, expression: &Expression) -> bool {
        match expression {
            Expression::Never => false,
            Expression::Empty | Expression::Bytes(_) | Expression::ByteSet(_) | Expression::Class(_) => true,
            Expression::Sequence(list) => list.iter().all(|&id| self.expression(id)),
            Expression::Choice(list) => list.iter().any(|&id| self.expression(id)),
            Expression::Repeat { body, min, .. } => *min == 0 || self.expression(*body),
            Expression::Rule(rule) => self.rules[rule.index()],
            Expression::Label(_, body) => self.expression(*body),
            Expression::Intersection(_) | Expression::Complement(_) => {
                id.is_some_and(|id| self.locks.get(&id) == Some(&true))
            }
            Expression::Members(members) => self.members(members, 0..members.members.len(), false),
        }
    }

    fn expression(&self, id: ExprId) -> bool {
        self.expressions[id.index()]
    }

    /// Whether members can be finished with those of `left` left.
    fn members(&self, members: &Members, left: impl Iterator<Item = usize>, started: bool) -> bool {
        let required: Vec<usize> = left.filter(|&i| members.members[i].required).collect();
        let separated = required.len() + usize::from(started) > 1 && !required.is_empty();
        required.iter().all(|&i| self.expression(members.members[i].value))
            && (!separated || self.expression(members.separator))
    }

    pub(super) fn piece(&self, grammar: &Grammar, piece: &Piece) -> bool {
        let members = |id: ExprId| match grammar.expression(id) {
            Expression::Members(members) => members,
            other => unreachable!("no members in {other:?}"),
        };
        match piece {
            Piece::Expr(id) => self.expression(*id),
            Piece::Call(Head::Root) => true,
            Piece::Call(Head::Rule(rule)) => self.rules[rule.index()],
            Piece::Call(Head::Lock(id)) => self.locks.get(id) == Some(&true),
            Piece::Bytes { .. } | Piece::Set(_) | Piece::Char { .. } => true,
            Piece::Repeat { body, min, .. } => *min == 0 || self.expression(*body),
            Piece::Declared { of, next, started } => {
                let members = members(*of);
                self.members(members, *next..members.members.len(), *started)
            }
            Piece::AnyOrder { of, left, started } => {
                self.members(members(*of), left.iter().copied(), *started)
            }
        }
    }
}

/// The intersections and complements that can be reached from `roots`, these included.
pub(super) fn locks_within(grammar: &Grammar, roots: impl IntoIterator<Item = ExprId>) -> FxHashSet<ExprId> {
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut work: Vec<ExprId> = roots.into_iter().collect();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        let expression = grammar.expression(id);
        work.extend(expression.children());
        if let Expression::Rule(rule) = expression {
            work.push(grammar.rule(*rule).body);
        }
    }
    seen.retain(|&id| {
        matches!(grammar.expression(id), Expression::Intersection(_) | Expression::Complement(_))
    });
    seen
}
