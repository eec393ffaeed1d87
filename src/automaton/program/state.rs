//! The states of the byte-level pushdown automaton.

use super::ids::{StateId, TerminalId};
use super::registers::{RegisterKind, RegisterState, Role};

/// A state. *Leaf* states (`Byte`, `ByteOr`, `Bytes`, `Token`, and states of registers with the role `Inside`) wait for
/// a symbol; configurations consist of them. The other states are passed through when a configuration is closed.
///
/// A `Call` never calls anything that can be empty: the caller skips such an expression with a `Split`. So closing a
/// configuration first only returns (stacks get shorter) and then only calls (along the acyclic left-call graph), and
/// always terminates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Returns to the top frame.
    Accept,
    /// One byte.
    Byte { byte: u8, next: StateId },
    /// One byte, or any other byte that `otherwise`, a `Bytes` state, reads.
    ByteOr { byte: u8, next: StateId, otherwise: StateId },
    /// One byte in any of `edges[first..first + len]`: sorted, disjoint ranges.
    Bytes { first: u32, len: u32 },
    /// One token of a terminal, given by its id; the edge reads no byte.
    Token { terminal: TerminalId, next: StateId },
    /// All of `splits[first..first + len]`, without reading a byte.
    Split { first: u32, len: u32 },
    /// Pushes `to_return` and continues at `start`; pushes nothing if `to_return` is the accepting state.
    Call { start: StateId, to_return: StateId },
    /// A part of the grammar that is lowered when it is first entered.
    Deferred(u32),
    /// A state of a register: the fields of a [`RegisterState`], unpacked so that a state takes 12 bytes.
    Register { kind: RegisterKind, role: Role, record: u32, node: u32 },
}

// closing a configuration reads states, so one more word per state is measurable
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

    /// The fields of a state of a register; `None` for other states.
    #[inline]
    pub(in crate::automaton) fn register(self) -> Option<RegisterState> {
        match self {
            State::Register { kind, role, record, node } => Some(RegisterState { kind, role, record, node }),
            _ => None,
        }
    }

    /// The fields of a state of a register whose role [has values](Role::has_value): every frame that returns to the
    /// state has a value of the register. `None` for other states.
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

/// A range of bytes and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) low: u8,
    pub(crate) high: u8,
    pub(crate) next: StateId,
}
