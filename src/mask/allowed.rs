//! A mask in the making.

use super::token_mask::TokenMask;
use crate::vocabulary::TokenId;

/// Allowed tokens, as a list until they are many.
#[derive(Debug)]
pub(super) struct Allowed {
    width: usize,
    ids: Vec<u32>,
    words: Option<Vec<u32>>,
}

impl Allowed {
    pub(super) fn new(width: usize) -> Allowed {
        Allowed { width, ids: Vec::new(), words: None }
    }

    /// Begins with tokens known as bits, or else as a list.
    pub(super) fn starting_with(width: usize, ids: &[u32], words: Option<&Vec<u32>>) -> Allowed {
        let mut allowed = Allowed { width, ids: Vec::new(), words: words.cloned() };
        if words.is_none() {
            allowed.ids = ids.to_vec();
            allowed.make_dense_if_many();
        }
        allowed
    }

    pub(super) fn extend(&mut self, tokens: &[TokenId]) {
        match &mut self.words {
            Some(words) => {
                for token in tokens {
                    words[token.index() / 32] |= 1 << (token.get() % 32);
                }
            }
            None => {
                self.ids.extend(tokens.iter().map(|token| token.get()));
                self.make_dense_if_many();
            }
        }
    }

    fn make_dense_if_many(&mut self) {
        if self.ids.len() > self.width.div_ceil(32) {
            let mut words = vec![0u32; self.width.div_ceil(32)];
            self.ids.iter().for_each(|&id| words[id as usize / 32] |= 1 << (id % 32));
            self.ids = Vec::new();
            self.words = Some(words);
        }
    }

    pub(super) fn finish(self) -> TokenMask {
        match self.words {
            Some(words) => TokenMask::dense(words, self.width),
            None => TokenMask::sparse(self.ids, self.width),
        }
    }
}
