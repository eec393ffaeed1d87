//! The library's own matcher and vocabulary, as the generation loop asks for them.

use super::constraint::Constraint;
use super::generate::Detokenizer;
use crate::error::Result;
use crate::matcher::Matcher;
use crate::vocabulary::{TokenId, Vocabulary};

impl Constraint for Matcher {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        Matcher::fill_mask(self, words)
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        Matcher::accept_token(self, TokenId::new(token))
    }

    fn is_accepting(&mut self) -> Result<bool> {
        Matcher::is_accepting(self)
    }

    fn is_finished(&mut self) -> Result<bool> {
        Matcher::is_finished(self)
    }
}

impl Detokenizer for Vocabulary {
    fn token_count(&self) -> usize {
        self.width()
    }

    fn bytes(&self, token: u32) -> &[u8] {
        Vocabulary::bytes(self, TokenId::new(token)).unwrap_or_default()
    }
}
