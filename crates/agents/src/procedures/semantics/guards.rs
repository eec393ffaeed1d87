//! Guards: the conditions around the calls in the text of a procedure.

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
    /// The truth of a condition is `wanted`.
    Condition { expr: ExprId, wanted: bool },
    /// The last answer of an API is not an error.
    NoError(usize),
    /// The last answer of some API of a `try` is an error; if `wanted` is false, that of none. `of` is the index in
    /// [`Guards::tries`].
    Raised { of: usize, wanted: bool },
    /// Not all conditions of the guards from `from` back to `until` (exclusive) hold. These guards lead to a branch
    /// that leaves the block, so the statements after the block need that the branch was not taken.
    NotAll { from: GuardId, until: Option<GuardId> },
}

/// All guards. Parents have smaller ids.
#[derive(Debug, Default)]
pub(in crate::procedures) struct Guards {
    pub(in crate::procedures) list: Vec<Guard>,
    /// By `try` that calls an API: the distinct APIs that its statements and their conditions call.
    pub(in crate::procedures) tries: Vec<Vec<usize>>,
}

impl Guards {
    pub(in crate::procedures) fn push(&mut self, parent: Option<GuardId>, test: Test) -> GuardId {
        self.push_in(0, parent, test)
    }

    /// Adds a guard and returns its id. `block` is the number of the block of which it is a condition; 0 for other
    /// guards.
    pub(in crate::procedures) fn push_in(
        &mut self,
        block: u32,
        parent: Option<GuardId>,
        test: Test,
    ) -> GuardId {
        self.list.push(Guard { parent, test, block });
        (self.list.len() - 1) as GuardId
    }

    /// Returns the guards from `from` outwards, the innermost first, up to but excluding `until`.
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
    /// Whether no call, branch, loop or `try` follows on the way to a `return` or the end of the text. False for calls
    /// in conditions.
    pub(in crate::procedures) is_last: bool,
}
