//! Conditions around the calls of a procedure.

use crate::procedures::language::pdl::ExprId;
use grammata::diagnostic::Place;

/// The index of a [`Guard`].
pub(in crate::procedures) type GuardId = u32;

/// A test on the path to a call, after the tests of its parent. Guards form a persistent list, so calls share the tests
/// before them.
#[derive(Debug)]
pub(in crate::procedures) struct Guard {
    pub(in crate::procedures) parent: Option<GuardId>,
    pub(in crate::procedures) test: Test,
    /// The number of the block, from 1, if this is a condition of an `if` or `elif`; otherwise 0.
    pub(in crate::procedures) block: u32,
}

#[derive(Debug)]
pub(in crate::procedures) enum Test {
    /// A condition is `wanted`.
    Condition { expr: ExprId, wanted: bool },
    /// The last answer of an API is not an error.
    NoError(usize),
    /// Whether the last answer of some API of a `try` is an error; by the index in [`Guards::tries`].
    Raised { of: usize, wanted: bool },
    /// Not all conditions of the guards from `from` back to `until` (exclusive) hold: a branch that leaves.
    NotAll { from: GuardId, until: Option<GuardId> },
}

/// All guards. Parents have smaller ids.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Guards {
    pub(in crate::procedures) list: Vec<Guard>,
    /// The APIs that each `try` calls.
    pub(in crate::procedures) tries: Vec<Vec<usize>>,
}

impl Guards {
    pub(in crate::procedures) fn push(&mut self, parent: Option<GuardId>, test: Test) -> GuardId {
        self.push_in(0, parent, test)
    }

    /// Adds a condition of a branch of a block.
    pub(in crate::procedures) fn push_in(
        &mut self,
        block: u32,
        parent: Option<GuardId>,
        test: Test,
    ) -> GuardId {
        self.list.push(Guard { parent, test, block });
        (self.list.len() - 1) as GuardId
    }

    /// Returns the guards of a path, the innermost first, up to `until`, which is excluded.
    pub(in crate::procedures) fn path(
        &self,
        from: Option<GuardId>,
        until: Option<GuardId>,
    ) -> impl Iterator<Item = &Guard> {
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
pub(in crate::procedures) struct Site {
    pub(in crate::procedures) node: usize,
    pub(in crate::procedures) guard: Option<GuardId>,
    pub(in crate::procedures) place: Place,
    /// Whether no call, branch or loop follows on the way to the end of the text.
    pub(in crate::procedures) is_last: bool,
}
