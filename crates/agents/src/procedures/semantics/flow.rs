//! The control flow of a procedure's text as a graph of program points, for the mode `strict`.

use crate::procedures::language::declarations::{Node, NodeKind};
use crate::procedures::language::pdl::{Expr, ExprId, Expressions, Program, StatementKind};
use crate::procedures::language::value::Truth;

/// The index of a point.
pub(in crate::procedures) type PointId = u32;

#[derive(Debug)]
enum Point {
    End,
    /// A call. The flow continues at `next` after a result, and at `caught` after an error; `None` if nothing catches
    /// the error.
    Call {
        node: usize,
        next: PointId,
        caught: Option<PointId>,
    },
    Branch {
        condition: ExprId,
        yes: PointId,
        no: PointId,
    },
    Goto(PointId),
}

/// The control flow of a text: its points, and where it begins.
#[derive(Debug)]
pub(in crate::procedures) struct Flow {
    points: Vec<Point>,
    entry: PointId,
}

/// The points after a call of a node: after a result or an answer, and after an error that is caught.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::procedures) struct Step {
    pub(in crate::procedures) answered: Box<[PointId]>,
    pub(in crate::procedures) failed: Box<[PointId]>,
}

/// An open block, while the text is read from its end.
enum Open {
    /// `after` is the point after the whole `if`; `otherwise` is the point to which a false condition of the current
    /// arm leads.
    If {
        after: PointId,
        otherwise: PointId,
    },
    While {
        after: PointId,
        head: PointId,
    },
    /// `caught` is the beginning of `except`, once it is read; `outer` is that of the surrounding `try`, if there is
    /// one.
    Try {
        after: PointId,
        caught: Option<PointId>,
        outer: Option<PointId>,
    },
}

impl Flow {
    pub(in crate::procedures) fn of(program: &Program) -> Flow {
        let mut flow = Flow { points: vec![Point::End], entry: 0 };
        let (end, mut next) = (0, 0);
        let mut open: Vec<Open> = Vec::new();
        let mut caught: Option<PointId> = None;
        for statement in program.statements.iter().rev() {
            match &statement.kind {
                StatementKind::Prose | StatementKind::Pass | StatementKind::Set { .. } => {}
                StatementKind::Call { call, .. } => {
                    if let Some(node) = program.expressions.calls[*call].node {
                        next = flow.add(Point::Call { node, next, caught });
                    }
                }
                StatementKind::Return => next = end,
                StatementKind::Break | StatementKind::Continue => {
                    let around = open.iter().rev().find_map(|block| match block {
                        Open::While { after, head } => Some((*after, *head)),
                        _ => None,
                    });
                    if let Some((after, head)) = around {
                        next = if statement.kind == StatementKind::Break { after } else { head };
                    }
                }
                StatementKind::EndIf => open.push(Open::If { after: next, otherwise: next }),
                StatementKind::Else => {
                    if let Some(Open::If { after, otherwise }) = open.last_mut() {
                        (*otherwise, next) = (next, *after);
                    }
                }
                StatementKind::Elif(condition) => {
                    if let Some(Open::If { after, otherwise }) = open.last_mut() {
                        let root = program.expressions.conditions[*condition].root;
                        *otherwise = flow.condition(&program.expressions, root, next, *otherwise, caught);
                        next = *after;
                    }
                }
                StatementKind::If(condition) => {
                    if let Some(Open::If { otherwise, .. }) = open.pop() {
                        let root = program.expressions.conditions[*condition].root;
                        next = flow.condition(&program.expressions, root, next, otherwise, caught);
                    }
                }
                StatementKind::EndWhile => {
                    let head = flow.add(Point::End);
                    open.push(Open::While { after: next, head });
                    next = head;
                }
                StatementKind::While(condition) => {
                    if let Some(Open::While { after, head }) = open.pop() {
                        let root = program.expressions.conditions[*condition].root;
                        let first = flow.condition(&program.expressions, root, next, after, caught);
                        flow.points[head as usize] = Point::Goto(first);
                        next = head;
                    }
                }
                StatementKind::EndTry => {
                    open.push(Open::Try { after: next, caught: None, outer: caught });
                }
                StatementKind::Except => {
                    if let Some(Open::Try { after, caught: beginning, .. }) = open.last_mut() {
                        *beginning = Some(next);
                        (caught, next) = (Some(next), *after);
                    }
                }
                StatementKind::Try => {
                    if let Some(Open::Try { outer, .. }) = open.pop() {
                        caught = outer;
                    }
                }
            }
        }
        flow.entry = next;
        flow
    }

    fn add(&mut self, point: Point) -> PointId {
        self.points.push(point);
        (self.points.len() - 1) as PointId
    }

    /// Adds a condition that leads to `yes` or `no`, and returns its first point. `and` and `or` short-circuit.
    fn condition(
        &mut self,
        expressions: &Expressions,
        root: ExprId,
        yes: PointId,
        no: PointId,
        caught: Option<PointId>,
    ) -> PointId {
        let first = self.add(Point::End);
        let mut open = vec![(root, yes, no, first)];
        while let Some((id, yes, no, at)) = open.pop() {
            let point = match expressions.get(id) {
                Expr::Not(inner) => {
                    open.push((*inner, no, yes, at));
                    continue;
                }
                Expr::And(left, right) => {
                    let second = self.add(Point::End);
                    open.extend([(*right, yes, no, second), (*left, second, no, at)]);
                    continue;
                }
                Expr::Or(left, right) => {
                    let second = self.add(Point::End);
                    open.extend([(*right, yes, no, second), (*left, yes, second, at)]);
                    continue;
                }
                Expr::Call { call, .. } => match expressions.calls[*call].node {
                    Some(node) => {
                        let next = self.add(Point::Branch { condition: id, yes, no });
                        Point::Call { node, next, caught }
                    }
                    None => Point::Branch { condition: id, yes, no },
                },
                Expr::Compare(_, left, right) => {
                    let branch = self.add(Point::Branch { condition: id, yes, no });
                    let mut next = branch;
                    for operand in [*right, *left] {
                        if let Expr::Call { call, .. } = expressions.get(operand)
                            && let Some(node) = expressions.calls[*call].node
                        {
                            next = self.add(Point::Call { node, next, caught });
                        }
                    }
                    Point::Goto(next)
                }
                Expr::Prose | Expr::Literal(_) | Expr::Slot { .. } => {
                    Point::Branch { condition: id, yes, no }
                }
            };
            self.points[at as usize] = point;
        }
        first
    }

    pub(in crate::procedures) fn entry(&self) -> PointId {
        self.entry
    }

    /// Returns the calls that the flow can reach next from some points. Both branches of an undecided condition are
    /// followed. Calls of nodes other than APIs and informs are included and also passed.
    pub(in crate::procedures) fn calls(
        &self,
        nodes: &[Node],
        truths: &[Truth],
        from: &[PointId],
    ) -> Vec<PointId> {
        let mut seen = fixedbitset::FixedBitSet::with_capacity(self.points.len());
        let mut open: Vec<PointId> = from.to_vec();
        let mut calls = Vec::new();
        while let Some(point) = open.pop() {
            if seen.put(point as usize) {
                continue;
            }
            match self.points[point as usize] {
                Point::End => {}
                Point::Goto(next) => open.push(next),
                Point::Branch { condition, yes, no } => {
                    let truth = truths[condition as usize];
                    if truth != Truth::False {
                        open.push(yes);
                    }
                    if truth != Truth::True {
                        open.push(no);
                    }
                }
                Point::Call { node, next, .. } => {
                    calls.push(point);
                    if !matches!(nodes[node].kind, NodeKind::Api | NodeKind::Inform) {
                        open.push(next);
                    }
                }
            }
        }
        calls
    }

    /// Returns the points after the node is called at one of these calls; `None` if none of them calls the node.
    pub(in crate::procedures) fn step(&self, calls: &[PointId], node: usize) -> Option<Step> {
        let (mut answered, mut failed) = (Vec::new(), Vec::new());
        for &point in calls {
            if let Point::Call { node: called, next, caught } = self.points[point as usize]
                && called == node
            {
                answered.push(next);
                failed.extend(caught);
            }
        }
        for points in [&mut answered, &mut failed] {
            points.sort_unstable();
            points.dedup();
        }
        (!answered.is_empty()).then(|| Step { answered: answered.into(), failed: failed.into() })
    }

    /// Returns whether one of these calls is of the node.
    pub(in crate::procedures) fn has_call(&self, calls: &[PointId], node: usize) -> bool {
        calls.iter().any(|&point| matches!(self.points[point as usize], Point::Call { node: called, .. } if called == node))
    }
}
