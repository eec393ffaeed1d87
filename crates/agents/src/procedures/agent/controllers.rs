//! The published controllers of FlowAgent. An act is judged after it was written, and the agent is told of a refusal.

use crate::procedures::conversation::Resolved;
use crate::procedures::language::declarations::NodeKind;
use crate::procedures::semantics::procedure::Procedure;
use rustc_hash::FxHashSet;

/// Where the published code differs from the paper's Algorithm 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// Only calls are judged, not answers.
    pub calls_only: bool,
    /// A node counts as done once its preconditions were met, even if the call is refused or fails.
    pub done_at_once: bool,
    /// The bound on tries counts acts that were carried out; refusals are not bounded.
    pub unbounded_refusals: bool,
    /// A refused act stays in the history and counts as made.
    pub keeps_refused: bool,
    /// The number of acts after which a turn ends without a reply.
    pub acts_in_turn: Option<usize>,
}

/// Options of the controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controllers {
    /// Preconditions are judged.
    pub dependency: bool,
    /// The number of equal calls in a row at which the call is refused; 0 allows any repetition.
    pub duplicates: usize,
    /// The most tries of one turn.
    pub most_tries: usize,
    /// The differences of the published code.
    pub quirks: Quirks,
}

/// The number of refusals in a turn after which a run without a bound fails.
pub(super) const REFUSAL_CAP: usize = 50;

impl Controllers {
    /// As in the paper: calls and answers are judged, five tries a turn.
    pub const PAPER: Controllers = Controllers {
        dependency: true,
        duplicates: 2,
        most_tries: 5,
        quirks: Quirks {
            calls_only: false,
            done_at_once: false,
            unbounded_refusals: false,
            keeps_refused: true,
            acts_in_turn: None,
        },
    };
    /// As in the published code.
    pub const CODE: Controllers = Controllers {
        quirks: Quirks {
            calls_only: true,
            done_at_once: true,
            unbounded_refusals: true,
            keeps_refused: true,
            acts_in_turn: Some(6),
        },
        ..Controllers::PAPER
    };
}

/// The memory of the controllers of a session.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Nodes that were done.
    done: FxHashSet<usize>,
    /// Calls since the last reply, refused ones included, the last at the end.
    calls: Vec<(usize, String)>,
}

impl Memory {
    /// Returns why an act is refused.
    pub(super) fn judge(
        &mut self,
        procedure: &Procedure,
        controllers: &Controllers,
        act: &Resolved,
    ) -> Option<String> {
        let (node, call) = match act {
            Resolved::Call { api, arguments } => {
                (*api, Some(serde_json::Value::from(arguments.clone()).to_string()))
            }
            Resolved::Say { node, .. } => (*node, None),
            Resolved::Unknown(name) => return Some(format!("there is no API {name}")),
            Resolved::Free { .. } => {
                self.calls.clear();
                return None;
            }
            Resolved::Switch(_) | Resolved::Return => return None,
        };
        if call.is_none() {
            self.calls.clear();
        }
        if controllers.quirks.calls_only && call.is_none() {
            return None;
        }
        let is_free = matches!(procedure.nodes()[node].kind, NodeKind::Request | NodeKind::OutOfWorkflow);
        if controllers.dependency && !is_free {
            let missing =
                procedure.preconditions[node].iter().find(|required| !self.done.contains(&required.node));
            if let Some(missing) = missing {
                return Some(format!("precondition {}", procedure.nodes()[missing.node].name));
            }
            if controllers.quirks.done_at_once {
                self.done.insert(node);
            }
        }
        let call = (node, call?);
        let same = 1 + self.calls.iter().rev().take_while(|before| **before == call).count();
        self.calls.push(call);
        let is_repeated = controllers.duplicates > 0 && same >= controllers.duplicates;
        is_repeated.then(|| "repeat".to_owned())
    }

    /// Records that an act was carried out.
    pub(super) fn carried_out(&mut self, act: &Resolved) {
        if let Resolved::Call { api: node, .. } | Resolved::Say { node, .. } = act {
            self.done.insert(*node);
        }
    }
}
