//! The states of the byte-level pushdown automaton.

use super::ids::{StateId, TerminalId};
use super::registers::{RegisterKind, RegisterState, Role};

/// One state. *Leaf* states (`Byte`, `ByteOr`, `Bytes`, `Token`, and states of registers with the role `Inside`) wait for a
/// symbol and are what configurations consist of; the others are passed through when a configuration is closed.
///
/// Every `Call` is of something that cannot be empty: what may be empty is skipped by a `Split` where it
/// is called. So closing a configuration first only returns (the stack gets shorter) and then only calls
/// (along the acyclic left-call graph), and always ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Return to the top frame.
    Accept,
    /// One byte.
    Byte { byte: u8, next: StateId },
    /// One byte, or any other as `otherwise`, which is a `Bytes` state, reads it.
    ByteOr { byte: u8, next: StateId, otherwise: StateId },
    /// One byte in any of `edges[first..first + len]`: sorted, disjoint ranges.
    Bytes { first: u32, len: u32 },
    /// One token of a terminal, by its id; no byte follows the edge.
    Token { terminal: TerminalId, next: StateId },
    /// All of `splits[first..first + len]` without a byte.
    Split { first: u32, len: u32 },
    /// Push `to_return` and go to `start`; nothing is pushed where `to_return` is the accepting state.
    Call { start: StateId, to_return: StateId },
    /// Stands for a part of the grammar that is lowered when it is first entered.
    Deferred(u32),
    /// A state of a register: the fields of a [`RegisterState`], side by side so that a state takes 12 bytes.
    Register { kind: RegisterKind, role: Role, record: u32, node: u32 },
}

// configurations are closed over these: one more word in each is felt
const _: () = assert!(size_of::<State>() == 12);

impl State {
    /// Whether the state waits for a byte or a token.
    pub(crate) fn is_leaf(self) -> bool {
        use State::{Byte, ByteOr, Bytes, Register, Token};
        matches!(
            self,
            Byte { .. } | ByteOr { .. } | Bytes { .. } | Token { .. } | Register { role: Role::Inside, .. }
        )
    }

    /// The state of a register, if it is one.
    #[inline]
    pub(in crate::automaton) fn register(self) -> Option<RegisterState> {
        match self {
            State::Register { kind, role, record, node } => Some(RegisterState { kind, role, record, node }),
            _ => None,
        }
    }

    /// The state of a register whose frames have values, if it is one: a frame that returns to it has such a value.
    #[inline]
    pub(in crate::automaton) fn frame_of(self) -> Option<RegisterState> {
        self.register().filter(|register| register.role.has_value())
    }
}

impl From<RegisterState> for State {
    fn from(RegisterState { kind, role, record, node }: RegisterState) -> State {
        State::Register { kind, role, record, node }
    }
}

/// A range of bytes and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) low: u8,
    pub(crate) high: u8,
    pub(crate) next: StateId,
}
