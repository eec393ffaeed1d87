//! The tasks of lowering, which are kept on an explicit stack.

use crate::automaton::program::ids::StateId;
use crate::grammar::ExprId;

/// A task of lowering. Tasks after a `Build` find its result on top of the results.
pub(in crate::automaton) enum Task {
    Build {
        expression: ExprId,
        next: StateId,
        scope: u32,
    },
    /// Like `Build`, but inlines an expression even if it is shared.
    BuildHere {
        expression: ExprId,
        next: StateId,
        scope: u32,
    },
    /// Replaces the last result by a split between it and `next` if the expression may be empty.
    OrEmpty {
        expression: ExprId,
        next: StateId,
    },
    /// Builds the value of a member, or defers it.
    MemberValue {
        expression: ExprId,
        scope: u32,
    },
    /// The part of a sequence at index `place` was built; `next` is the state after the part, `rest` is the state of
    /// the non-empty rest. Then come the parts before it, back to index `from`. `full` says whether the result reads
    /// the empty word, too.
    SequencePart {
        list: ExprId,
        place: usize,
        from: usize,
        next: StateId,
        rest: Option<StateId>,
        scope: u32,
        full: bool,
    },
    /// Builds a sequence without its first part; that part is not empty.
    SequenceTail {
        list: ExprId,
        next: StateId,
        scope: u32,
    },
    ChoiceEnd {
        list: ExprId,
        next: StateId,
        scope: u32,
    },
    /// The body of an unbounded loop was built before its split.
    LoopEnd {
        split: StateId,
        next: StateId,
    },
    /// Round `round` of an unrolled repeat was built, counted from 1; rounds are built from the last one.
    RoundEnd {
        body: ExprId,
        round: u32,
        min: u32,
        next: StateId,
        scope: u32,
    },
    /// The body of a callable was built.
    CallableEnd {
        start: StateId,
        result: StateId,
    },
    UniqueEnd {
        list: u32,
        places: usize,
        separated: bool,
        scope: u32,
    },
    WordGraphEnd {
        expression: ExprId,
        next: StateId,
        scope: u32,
    },
    MembersEnd {
        expression: ExprId,
        index: u32,
        next: StateId,
        scope: u32,
    },
}
