//! Steps of a matcher, and the texts within words.

use super::earley::Symbol;
use grammata::{Matcher, TokenId};

/// The input of one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Bytes(Vec<u8>),
    Token(u32),
}

impl Taken {
    /// Makes the matcher accept this input.
    pub(super) fn accept(&self, matcher: &mut Matcher) -> grammata::Result<()> {
        match self {
            Taken::Bytes(bytes) => matcher.accept_bytes(bytes),
            Taken::Token(token) => matcher.accept_token(TokenId::new(*token)),
        }
    }
}

/// The byte strings of a word, split at its token terminals.
pub(super) fn texts(word: &[Symbol]) -> impl Iterator<Item = Vec<u8>> {
    word.split(|symbol| symbol.byte().is_none())
        .map(|text| text.iter().filter_map(|symbol| symbol.byte()).collect())
}
