//! What words are made of where there is no vocabulary.

use super::ids::TerminalId;

/// What words are made of where there is no vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Letter {
    /// A byte.
    Byte(u8),
    /// A token of a token terminal, by its id; no byte of the text.
    Token(TerminalId),
}

impl Letter {
    /// The byte, if it is one.
    pub fn byte(self) -> Option<u8> {
        match self {
            Letter::Byte(byte) => Some(byte),
            Letter::Token(_) => None,
        }
    }
}
