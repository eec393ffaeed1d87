//! Implements the traits of decoding for the library's own matcher and vocabulary.

use super::constraint::Constraint;
use super::output::Detokenizer;
use grammata::error::Result;
use grammata::matcher::Matcher;
use grammata::vocabulary::{TokenId, Vocabulary};

impl Constraint for Matcher {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        Matcher::fill_mask(self, words)
    }

    fn mask_takes_work(&mut self) -> Result<bool> {
        Matcher::mask_takes_work(self)
    }

    fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        Matcher::fill_mask_within(self, budget, words)
    }

    fn check_budget(&mut self, budget: usize) -> Result<()> {
        Matcher::check_budget(self, budget)
    }

    fn is_token_allowed_within(&mut self, token: u32, budget: usize) -> Result<bool> {
        Matcher::is_token_allowed_within(self, TokenId::new(token), budget)
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        Matcher::accept_token(self, TokenId::new(token))
    }

    fn accept_tokens(&mut self, tokens: &[u32]) -> Result<usize> {
        let tokens: Vec<TokenId> = tokens.iter().copied().map(TokenId::new).collect();
        Matcher::accept_tokens(self, &tokens)
    }

    fn is_accepting(&mut self) -> Result<bool> {
        Ok(Matcher::is_accepting(self))
    }

    fn is_finished(&mut self) -> Result<bool> {
        Ok(Matcher::is_finished(self))
    }

    fn rollback(&mut self, tokens: usize) -> Result<()> {
        Matcher::rollback(self, tokens)
    }

    fn fork(&self) -> Box<dyn Constraint> {
        Box::new(Matcher::fork(self))
    }

    fn forced_tokens(&mut self) -> Result<Vec<u32>> {
        Ok(Matcher::forced_tokens(self)?.into_iter().map(TokenId::get).collect())
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
