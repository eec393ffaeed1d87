//! The unit of words without a vocabulary.

use super::ids::TerminalId;

/// A letter: the unit of words without a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Letter {
    /// A byte of the text.
    Byte(u8),
    /// A token of a token terminal, given by its id; it adds no byte to the text.
    Token(TerminalId),
}

impl Letter {
    /// The byte, if the letter is a byte.
    pub fn byte(self) -> Option<u8> {
        match self {
            Letter::Byte(byte) => Some(byte),
            Letter::Token(_) => None,
        }
    }
}
