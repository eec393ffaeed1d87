//! The rules: why a node is not open in a state.

use super::marks::{Cell, Marks};
use super::truth::Evaluation;
use crate::procedures::language::status::Status;
use crate::procedures::semantics::flow::PointId;
use crate::procedures::semantics::procedure::{Precondition, Procedure};
use std::fmt;

/// How much of a procedure binds the agent. In each mode, `max_calls` bounds calls, and nodes of the kinds of
/// [`NodeKind::is_free`](crate::procedures::NodeKind::is_free) are open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Only preconditions, of calls and of answers.
    Graph,
    /// Preconditions, and the conditions around the calls of the text: a node that the text calls needs a call with
    /// open conditions. The order is otherwise free.
    #[default]
    Guarded,
    /// Preconditions, and the control flow of the text: APIs and answers of the kind `inform` only at their place.
    Strict,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Graph => "graph",
            Mode::Guarded => "guarded",
            Mode::Strict => "strict",
        })
    }
}

/// The rule that a node breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::procedures) enum Rule {
    /// A precondition is not met. The number is its index among those of the node.
    Precondition(usize),
    /// The API was called `max_calls` times.
    Limit,
    /// The conditions around each call of the node in the text are closed (mode `guarded`).
    Guard,
    /// The control flow is at no call of the node (mode `strict`).
    Order,
}

/// The data of a state that a mode needs in addition to its marks.
#[derive(Debug)]
pub(in crate::procedures) struct View {
    pub(in crate::procedures) evaluation: Evaluation,
    /// The calls of the text that the control flow can reach next, in the mode `strict`; empty in other modes.
    pub(in crate::procedures) calls: Vec<PointId>,
}

impl View {
    pub(in crate::procedures) fn of<V: Cell>(
        procedure: &Procedure,
        mode: Mode,
        marks: &Marks<V>,
        points: &[PointId],
    ) -> View {
        let evaluation = Evaluation::of(procedure, marks);
        let calls = match mode {
            Mode::Strict => procedure.flow.calls(&procedure.nodes, &evaluation.truths, points),
            Mode::Graph | Mode::Guarded => Vec::new(),
        };
        View { evaluation, calls }
    }
}

pub(in crate::procedures) fn is_met<V>(marks: &Marks<V>, precondition: &Precondition) -> bool {
    match precondition.status {
        None => marks.done[precondition.node] != Status::No,
        Some(status) => marks.done[precondition.node] == status,
    }
}

/// Returns the first rule that a node breaks in a state, without regard to arguments; `None` if it is open.
pub(in crate::procedures) fn broken<V: Cell>(
    procedure: &Procedure,
    mode: Mode,
    marks: &Marks<V>,
    view: &View,
    node: usize,
) -> Option<Rule> {
    let declared = &procedure.nodes[node];
    if declared.kind.is_free() {
        return None;
    }
    let preconditions = &procedure.preconditions[node];
    if let Some(place) = preconditions.iter().position(|precondition| !is_met(marks, precondition)) {
        return Some(Rule::Precondition(place));
    }
    if declared.max_calls.is_some_and(|most| marks.calls[node] >= most) {
        return Some(Rule::Limit);
    }
    match mode {
        Mode::Graph => None,
        Mode::Guarded => {
            let sites = &procedure.sites_of[node];
            let is_open = |&site: &usize| view.evaluation.is_open(procedure.sites[site].guard);
            (!sites.is_empty() && !sites.iter().any(is_open)).then_some(Rule::Guard)
        }
        Mode::Strict => {
            use crate::procedures::language::declarations::NodeKind;
            let is_step = matches!(declared.kind, NodeKind::Api | NodeKind::Inform);
            (is_step && !procedure.flow.has_call(&view.calls, node)).then_some(Rule::Order)
        }
    }
}
