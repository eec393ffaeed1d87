//! Conditions around the calls of a procedure.

use super::pdl::ExprId;
use grammata::diagnostic::Place;

/// The index of a [`Guard`].
pub(super) type GuardId = u32;

/// One test of a path to a call, after those of its parent: a persistent list, so that calls share the tests before them.
#[derive(Debug)]
pub(super) struct Guard {
    pub(super) parent: Option<GuardId>,
    pub(super) test: Test,
    /// Of a condition of an `if` or `elif`, the number of the block, from 1; else 0.
    pub(super) block: u32,
}

#[derive(Debug)]
pub(super) enum Test {
    /// A condition is so.
    Condition { expr: ExprId, wanted: bool },
    /// The last answer of an API is no error.
    NoError(usize),
    /// Whether the last answer of some API of a `try` is an error; by the index in [`Guards::tries`].
    Raised { of: usize, wanted: bool },
    /// Not all conditions of the guards from `from` back to `until` (exclusive) hold: a branch that leaves.
    NotAll { from: GuardId, until: Option<GuardId> },
}

/// All guards. Parents have smaller ids.
#[derive(Debug, Default)]
pub(super) struct Guards {
    pub(super) list: Vec<Guard>,
    /// The APIs that each `try` calls.
    pub(super) tries: Vec<Vec<usize>>,
}

impl Guards {
    pub(super) fn push(&mut self, parent: Option<GuardId>, test: Test) -> GuardId {
        self.push_in(0, parent, test)
    }

    /// Adds a condition of the branches of a block.
    pub(super) fn push_in(&mut self, block: u32, parent: Option<GuardId>, test: Test) -> GuardId {
        self.list.push(Guard { parent, test, block });
        (self.list.len() - 1) as GuardId
    }

    /// The guards of a path, the innermost first, up to `until`.
    pub(super) fn path(&self, from: Option<GuardId>, until: Option<GuardId>) -> impl Iterator<Item = &Guard> {
        let mut next = from;
        std::iter::from_fn(move || {
            let guard = &self.list[next.filter(|_| next != until)? as usize];
            next = guard.parent;
            Some(guard)
        })
    }
}

/// A place of the text that calls a node.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) node: usize,
    pub(super) guard: Option<GuardId>,
    pub(super) place: Place,
    /// Whether no call, branch or loop follows on the way to the end of the text.
    pub(super) is_last: bool,
}
