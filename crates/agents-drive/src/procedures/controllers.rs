//! The published controllers of FlowAgent. An act is judged after it was written, and the agent is told of a refusal.

use grammata_agents::procedures::{NodeKind, Procedure, Resolved};
use rustc_hash::FxHashSet;

/// The differences between FlowAgent's published code and Algorithm 1 of its paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quirks {
    /// Only calls are judged, not answers.
    pub calls_only: bool,
    /// A node counts as done once its preconditions were met, even if the call is refused or fails. No effect without
    /// [`Controllers::dependency`].
    pub done_at_once: bool,
    /// [`Controllers::most_tries`] does not bound refusals. A turn with 50 refusals is an error (`procedure/refusals`).
    pub unbounded_refusals: bool,
    /// The maximum number of acts of a turn; a turn that uses them up ends with a fixed reply. `None` uses
    /// [`RunOptions::acts`](super::RunOptions::acts).
    pub acts_in_turn: Option<usize>,
}

/// Options of the controllers, which judge an act after the agent wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controllers {
    /// Whether an act is refused if a node that its node requires is not done, whatever outcome is required. Questions
    /// and replies out of the workflow are never refused for that.
    pub dependency: bool,
    /// The number of equal calls in a row, without a reply in between, at which the last one is refused; 0 allows any
    /// repetition.
    pub duplicates: usize,
    /// The number of refused acts at which a turn ends with a fixed reply, unless [`Quirks::unbounded_refusals`] is
    /// set.
    pub most_tries: usize,
    /// Which differences of the published code from the paper apply.
    pub quirks: Quirks,
}

/// The number of refused acts in one turn at which a run fails, if no smaller bound ended the turn.
pub(super) const REFUSAL_CAP: usize = 50;

impl Controllers {
    /// As in the paper: calls and answers are judged, a call equal to the one before is refused unless a reply came in
    /// between, and a turn has at most five refused acts.
    pub const PAPER: Controllers = Controllers {
        dependency: true,
        duplicates: 2,
        most_tries: 5,
        quirks: Quirks {
            calls_only: false,
            done_at_once: false,
            unbounded_refusals: false,
            acts_in_turn: None,
        },
    };
    /// As in the published code: only calls are judged, refusals are not bounded by tries, and a turn has at most six
    /// acts.
    pub const CODE: Controllers = Controllers {
        quirks: Quirks {
            calls_only: true,
            done_at_once: true,
            unbounded_refusals: true,
            acts_in_turn: Some(6),
        },
        ..Controllers::PAPER
    };
}

/// The memory of the controllers of a session.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// Indices of the nodes that count as done.
    done: FxHashSet<usize>,
    /// Calls since the last reply, the latest last: the index of the API, and the arguments as JSON. Calls refused as
    /// repetitions are included, calls refused for a precondition are not.
    calls: Vec<(usize, String)>,
}

impl Memory {
    /// Returns why an act is refused; `None` if it is accepted. Records a call that passed the check of preconditions,
    /// even if it is refused as a repetition.
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
            let missing = procedure.required(node).find(|required| !self.done.contains(required));
            if let Some(missing) = missing {
                return Some(format!("precondition {}", procedure.nodes()[missing].name));
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

    /// Marks the node of a call or an answer as done. Other acts have no effect.
    pub(super) fn carried_out(&mut self, act: &Resolved) {
        if let Resolved::Call { api: node, .. } | Resolved::Say { node, .. } = act {
            self.done.insert(*node);
        }
    }
}
