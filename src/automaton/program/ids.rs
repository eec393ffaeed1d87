//! Ids of states, token terminals and bounded parts.

use crate::grammar::ExprId;
use std::fmt;

/// The id of a state of one automaton. Ids count through all blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateId(pub(in crate::automaton) u32);

impl StateId {
    /// The one accepting state: reaching it returns to the frame on top of the stack.
    pub const ACCEPT: StateId = StateId(0);

    /// The number of the state; it counts through all blocks.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A token terminal of the automaton's grammar: the id of its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TerminalId(pub(in crate::automaton) ExprId);

impl TerminalId {
    /// The expression, which is a token terminal.
    pub fn expression(self) -> ExprId {
        self.0
    }
}

/// A part bounded in tokens: the id of its expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PartId(pub(in crate::automaton) ExprId);

impl PartId {
    /// The expression, which is a [`MaxTokens`](crate::grammar::Expression::MaxTokens).
    pub(crate) fn expression(self) -> ExprId {
        self.0
    }
}
