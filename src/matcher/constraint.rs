//! The interface between decoding and a constraint.

use super::{EventMatcher, Matcher};
use crate::error::{ErrorKind, Result};
use crate::vocabulary::TokenId;

/// A language of token sequences, and a position in it. [`Matcher`] and [`EventMatcher`] implement this trait;
/// other mask engines can as well.
pub trait Constraint: Send {
    /// Writes the mask of the next token into `words`: bit `i % 32` of word `i / 32` is 1 if token id i is allowed.
    ///
    /// # Errors
    /// The buffer is too short for the vocabulary, or a limit was exceeded.
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()>;

    /// Returns whether the next mask takes work to compute and is likely to allow several tokens. Drivers compute such
    /// a mask on another thread while the model runs. They compute other masks before the run, because a token that is
    /// the only one allowed needs no run of the model. The default returns false.
    ///
    /// # Errors
    /// A limit was exceeded.
    fn mask_takes_work(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Like [`fill_mask`](Constraint::fill_mask), for an output that must be complete within `budget` more tokens. The
    /// next token counts, the end of the sequence does not. A token is allowed only if a completion of at most
    /// `budget - 1` tokens is known after it. The default ignores the budget, so an output may be truncated.
    ///
    /// # Errors
    /// No completion within the budget is known, the buffer is too short, or a limit was exceeded.
    fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        let _ = budget;
        self.fill_mask(words)
    }

    /// Checks that a completion of at most `budget` tokens is known; the end of the sequence does not count. The
    /// default checks nothing.
    ///
    /// # Errors
    /// No such completion is known, or a limit was exceeded.
    fn check_budget(&mut self, budget: usize) -> Result<()> {
        let _ = budget;
        Ok(())
    }

    /// Returns whether `token`, which the mask allows, is also in the [mask within
    /// `budget`](Constraint::fill_mask_within). An implementation need not compute that mask. The default returns true.
    ///
    /// # Errors
    /// A limit was exceeded.
    fn is_token_allowed_within(&mut self, token: u32, budget: usize) -> Result<bool> {
        let _ = (token, budget);
        Ok(true)
    }

    /// Moves past `token`, one step.
    ///
    /// # Errors
    /// The token is not allowed here (an error of kind [`ErrorKind::Rejected`]), or a limit was exceeded. In both cases
    /// the constraint does not move.
    fn accept_token(&mut self, token: u32) -> Result<()>;

    /// Accepts the longest prefix of `tokens` that is allowed here, and returns its length.
    ///
    /// # Errors
    /// An error of [`accept_token`](Constraint::accept_token) of another kind than [`ErrorKind::Rejected`], for
    /// instance an exceeded limit. The constraint may then have accepted some of the tokens.
    fn accept_tokens(&mut self, tokens: &[u32]) -> Result<usize> {
        for (count, &token) in tokens.iter().enumerate() {
            match self.accept_token(token) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::Rejected => return Ok(count),
                Err(error) => return Err(error),
            }
        }
        Ok(tokens.len())
    }

    /// Returns whether the tokens accepted so far are a word of the language.
    ///
    /// # Errors
    /// A limit was exceeded.
    fn is_accepting(&mut self) -> Result<bool>;

    /// Returns whether nothing but the end of the sequence may follow, or the end was accepted.
    ///
    /// # Errors
    /// A limit was exceeded.
    fn is_finished(&mut self) -> Result<bool>;

    /// Undoes the last `tokens` accepted tokens.
    ///
    /// # Errors
    /// Fewer tokens were accepted; the constraint does not move.
    fn rollback(&mut self, tokens: usize) -> Result<()>;

    /// Returns a constraint at the same position that moves independently.
    fn fork(&self) -> Box<dyn Constraint>;

    /// Returns tokens that spell a prefix of every completion, without accepting them. Other tokens may spell the same
    /// bytes, so these are drafts for a model to verify, not its choice. The default returns none.
    ///
    /// # Errors
    /// A limit was exceeded.
    fn forced_tokens(&mut self) -> Result<Vec<u32>> {
        Ok(Vec::new())
    }
}

impl<C: Constraint + ?Sized> Constraint for &mut C {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        (**self).fill_mask(words)
    }

    fn mask_takes_work(&mut self) -> Result<bool> {
        (**self).mask_takes_work()
    }

    fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        (**self).fill_mask_within(budget, words)
    }

    fn check_budget(&mut self, budget: usize) -> Result<()> {
        (**self).check_budget(budget)
    }

    fn is_token_allowed_within(&mut self, token: u32, budget: usize) -> Result<bool> {
        (**self).is_token_allowed_within(token, budget)
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        (**self).accept_token(token)
    }

    fn accept_tokens(&mut self, tokens: &[u32]) -> Result<usize> {
        (**self).accept_tokens(tokens)
    }

    fn is_accepting(&mut self) -> Result<bool> {
        (**self).is_accepting()
    }

    fn is_finished(&mut self) -> Result<bool> {
        (**self).is_finished()
    }

    fn rollback(&mut self, tokens: usize) -> Result<()> {
        (**self).rollback(tokens)
    }

    fn fork(&self) -> Box<dyn Constraint> {
        (**self).fork()
    }

    fn forced_tokens(&mut self) -> Result<Vec<u32>> {
        (**self).forced_tokens()
    }
}

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

impl Constraint for EventMatcher {
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()> {
        self.matcher().fill_mask(words)
    }

    fn mask_takes_work(&mut self) -> Result<bool> {
        self.matcher().mask_takes_work()
    }

    fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        self.matcher().fill_mask_within(budget, words)
    }

    fn check_budget(&mut self, budget: usize) -> Result<()> {
        self.matcher().check_budget(budget)
    }

    fn is_token_allowed_within(&mut self, token: u32, budget: usize) -> Result<bool> {
        self.matcher().is_token_allowed_within(TokenId::new(token), budget)
    }

    fn accept_token(&mut self, token: u32) -> Result<()> {
        EventMatcher::accept_token(self, TokenId::new(token))
    }

    fn accept_tokens(&mut self, tokens: &[u32]) -> Result<usize> {
        let tokens: Vec<TokenId> = tokens.iter().copied().map(TokenId::new).collect();
        EventMatcher::accept_tokens(self, &tokens)
    }

    fn is_accepting(&mut self) -> Result<bool> {
        Ok(Matcher::is_accepting(self))
    }

    fn is_finished(&mut self) -> Result<bool> {
        Ok(Matcher::is_finished(self))
    }

    fn rollback(&mut self, tokens: usize) -> Result<()> {
        EventMatcher::rollback(self, tokens)
    }

    fn fork(&self) -> Box<dyn Constraint> {
        Box::new(EventMatcher::fork(self))
    }

    fn forced_tokens(&mut self) -> Result<Vec<u32>> {
        Ok(self.matcher().forced_tokens()?.into_iter().map(TokenId::get).collect())
    }
}
