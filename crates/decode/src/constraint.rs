//! What decoding asks of a constraint.

use grammata::error::{ErrorKind, Result};

/// A language over tokens, at a position: the matcher implements it, and other engines of masks can.
pub trait Constraint {
    /// Writes one bit per token id (bit i of word i/32), 1 = allowed.
    ///
    /// # Errors
    /// A buffer too short for the vocabulary, or a limit that was exceeded.
    fn fill_mask(&mut self, words: &mut [u32]) -> Result<()>;

    /// The same where at most `budget` tokens are still to come, the next one among them and the end of the sequence not
    /// counted: a token is allowed only if a completion of one token less is known after it. By default the mask without a
    /// budget, with which an output may be cut.
    ///
    /// # Errors
    /// No completion within the budget is known; a buffer too short, a limit.
    fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        let _ = budget;
        self.fill_mask(words)
    }

    /// Whether a completion of at most `budget` tokens is known. By default it is taken to be there.
    ///
    /// # Errors
    /// It is not; a limit.
    fn check_budget(&mut self, budget: usize) -> Result<()> {
        let _ = budget;
        Ok(())
    }

    /// Whether `token`, which the mask allows, is in the [mask within a budget](Constraint::fill_mask_within), which need not
    /// be made. By default yes.
    ///
    /// # Errors
    /// A limit was exceeded.
    fn may_come_within(&mut self, token: u32, budget: usize) -> Result<bool> {
        let _ = (token, budget);
        Ok(true)
    }

    /// Moves past `token`.
    ///
    /// # Errors
    /// The token is not allowed here, or a limit was exceeded; the constraint stays where it was.
    fn accept_token(&mut self, token: u32) -> Result<()>;

    /// Moves past `tokens` up to the first one that is not allowed here, and says how many these are.
    ///
    /// # Errors
    /// A limit was exceeded; the constraint may have moved past some.
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

    /// The tokens accepted so far are a word of the language.
    ///
    /// # Errors
    /// A limit was exceeded.
    fn is_accepting(&mut self) -> Result<bool>;

    /// Only the end of sequence may follow (or it has been taken).
    ///
    /// # Errors
    /// A limit was exceeded.
    fn is_finished(&mut self) -> Result<bool>;

    /// Takes back the last `tokens` tokens.
    ///
    /// # Errors
    /// Fewer were accepted; the constraint stays where it was.
    fn rollback(&mut self, tokens: usize) -> Result<()>;

    /// A constraint at the same position that moves independently.
    fn fork(&self) -> Box<dyn Constraint>;

    /// Tokens that spell a beginning of every word that can still follow; not accepted. Other tokens may spell the same,
    /// so they are drafts for a model to verify, not its choice. None by default.
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

    fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        (**self).fill_mask_within(budget, words)
    }

    fn check_budget(&mut self, budget: usize) -> Result<()> {
        (**self).check_budget(budget)
    }

    fn may_come_within(&mut self, token: u32, budget: usize) -> Result<bool> {
        (**self).may_come_within(token, budget)
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
