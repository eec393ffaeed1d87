//! Tokens that contain a quote or a backslash: inside a JSON string, no other token can end the string or begin an
//! escape.

use crate::vocabulary::trie::TokenTrie;
use crate::vocabulary::{TokenId, Vocabulary};
use fixedbitset::FixedBitSet;

/// The tokens of a vocabulary that contain a quote or a backslash.
#[derive(Debug)]
pub(crate) struct StringBreaks {
    /// The trie of the tokens that contain a quote or a backslash.
    pub(crate) trie: TokenTrie,
    tokens: FixedBitSet,
}

impl StringBreaks {
    pub(crate) fn new(vocabulary: &Vocabulary) -> StringBreaks {
        let mut breaks: Vec<(&[u8], TokenId)> = vocabulary
            .tokens()
            .map(|(token, bytes)| (bytes, token))
            .filter(|(bytes, _)| bytes.iter().any(|byte| matches!(byte, b'"' | b'\\')))
            .collect();
        breaks.sort_unstable();
        let mut tokens = FixedBitSet::with_capacity(vocabulary.width());
        tokens.extend(breaks.iter().map(|(_, token)| token.index()));
        StringBreaks { trie: TokenTrie::from_sorted(&breaks), tokens }
    }

    /// Whether a token contains a quote or a backslash.
    pub(crate) fn has(&self, token: TokenId) -> bool {
        self.tokens.contains(token.index())
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.trie.memory_usage() + size_of_val(self.tokens.as_slice())
    }
}
