//! The truth of the conditions of a procedure in a state.

use super::marks::{Cell, Marks};
use crate::procedures::language::pdl::{Expr, ExprId};
use crate::procedures::language::status::Status;
use crate::procedures::language::value::{Literal, Scalar, Truth};
use crate::procedures::semantics::guards::{GuardId, Test};
use crate::procedures::semantics::procedure::Procedure;

/// The truth of all conditions and guards in one state.
#[derive(Debug)]
pub(in crate::procedures) struct Evaluation {
    /// By expression: its truth.
    pub(in crate::procedures) truths: Vec<Truth>,
    /// By guard: whether its test and those of all its ancestors permit the branch.
    open: Vec<bool>,
    /// By guard: the conjunction of its test with those of its ancestors in the same block; for a guard of no block,
    /// its test alone.
    along: Vec<Truth>,
}

impl Evaluation {
    /// Evaluates all conditions and guards in one pass.
    pub(in crate::procedures) fn of<V: Cell>(procedure: &Procedure, marks: &Marks<V>) -> Evaluation {
        let expressions = &procedure.program.expressions.nodes;
        let mut truths: Vec<Truth> = Vec::with_capacity(expressions.len());
        for expression in expressions {
            truths.push(truth(procedure, marks, expression, &truths));
        }
        let guards = &procedure.guards.list;
        let mut evaluation = Evaluation {
            truths,
            open: Vec::with_capacity(guards.len()),
            along: Vec::with_capacity(guards.len()),
        };
        for guard in guards {
            let truth = evaluation.test(procedure, marks, &guard.test);
            let before = guard.parent.is_none_or(|parent| evaluation.open[parent as usize]);
            let in_block = guard
                .parent
                .filter(|&parent| guard.block != 0 && guards[parent as usize].block == guard.block);
            let along = in_block.map_or(Truth::True, |parent| evaluation.along[parent as usize]);
            evaluation.open.push(before && truth.permits(true));
            evaluation.along.push(along.and(truth));
        }
        evaluation
    }

    pub(in crate::procedures) fn is_open(&self, guard: Option<GuardId>) -> bool {
        guard.is_none_or(|guard| self.open[guard as usize])
    }

    /// Returns the truth of a test. The guards to which the test refers must have been evaluated.
    pub(in crate::procedures) fn test<V: Cell>(
        &self,
        procedure: &Procedure,
        marks: &Marks<V>,
        test: &Test,
    ) -> Truth {
        let is_error = |api: usize| marks.done[api] == Status::Error;
        match test {
            Test::Condition { expr, wanted } => {
                let truth = self.truths[*expr as usize];
                if *wanted { truth } else { truth.not() }
            }
            Test::NoError(api) => Truth::of(!is_error(*api)),
            Test::Raised { of, wanted } => {
                Truth::of(procedure.guards.tries[*of].iter().any(|&api| is_error(api)) == *wanted)
            }
            Test::NotAll { from, .. } => self.along[*from as usize].not(),
        }
    }
}

/// Returns the truth of an expression from that of its children.
fn truth<V: Cell>(procedure: &Procedure, marks: &Marks<V>, expression: &Expr, known: &[Truth]) -> Truth {
    match expression {
        Expr::Prose => Truth::Open,
        Expr::Literal(literal) => Truth::of(match literal {
            Literal::Boolean(flag) => *flag,
            Literal::Number(number) => *number != 0.0,
            Literal::Text(text) => !text.is_empty(),
        }),
        Expr::Slot { register, .. } | Expr::Call { register, .. } => match register {
            None => Truth::Open,
            Some(register) => match value(procedure, marks, *register) {
                Some(value) => Truth::of(*value == Scalar::Text("true".to_owned())),
                None => unset(procedure, *register),
            },
        },
        Expr::Not(inner) => known[*inner as usize].not(),
        Expr::And(a, b) => known[*a as usize].and(known[*b as usize]),
        Expr::Or(a, b) => known[*a as usize].or(known[*b as usize]),
        Expr::Compare(operator, a, b) => {
            let (a, b) = match (operand(procedure, marks, *a), operand(procedure, marks, *b)) {
                (Ok(a), Ok(b)) => (a, b),
                (Err(truth), _) | (_, Err(truth)) => return truth,
            };
            Truth::of(operator.holds(a.compare(&b)))
        }
    }
}

/// Returns the value of an operand, or the truth of the comparison if the operand has no value.
fn operand<V: Cell>(procedure: &Procedure, marks: &Marks<V>, operand: ExprId) -> Result<Scalar, Truth> {
    match procedure.program.expressions.get(operand) {
        Expr::Literal(literal) => Ok(Scalar::from(literal)),
        Expr::Slot { register: Some(register), .. } | Expr::Call { register: Some(register), .. } => {
            value(procedure, marks, *register).cloned().ok_or_else(|| unset(procedure, *register))
        }
        _ => Err(Truth::Open),
    }
}

fn value<'m, V: Cell>(procedure: &'m Procedure, marks: &'m Marks<V>, register: u32) -> Option<&'m Scalar> {
    let value = marks.values[register as usize].as_ref()?;
    Some(value.scalar(&procedure.registers[register as usize]))
}

fn unset(procedure: &Procedure, register: u32) -> Truth {
    if procedure.registers[register as usize].waits { Truth::Closed } else { Truth::Open }
}
