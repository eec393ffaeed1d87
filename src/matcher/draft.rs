//! Tokens and bytes that someone proposes, of which the grammar may refuse some: a refusal is an answer here, and no error that
//! has to be explained.

use super::explored;
use super::matcher::Matcher;
use super::steps::{accept_known, known_run};
use crate::error::Result;
use crate::vocabulary::TokenId;

impl Matcher {
    /// Accepts a token if the mask allows it, and says whether it does. A token that is refused costs no more than one that is
    /// accepted; [`accept_token`](Matcher::accept_token) explains a refusal.
    ///
    /// # Errors
    /// Limits; the matcher stays where it was.
    pub fn try_accept(&mut self, token: TokenId) -> Result<bool> {
        let steps = self.steps();
        let taken = self.step_by(token)?;
        if taken {
            self.promises.took(steps, Some(token));
        }
        Ok(taken)
    }

    /// Accepts tokens up to the first one that is not allowed, and says how many these are.
    ///
    /// # Errors
    /// Limits; the matcher stays where it was before the first token.
    pub fn accept_tokens(&mut self, tokens: &[TokenId]) -> Result<usize> {
        let mut ahead = self.fork();
        for (count, &token) in tokens.iter().enumerate() {
            if !ahead.try_accept(token)? {
                *self = ahead;
                return Ok(count);
            }
        }
        *self = ahead;
        Ok(tokens.len())
    }

    /// How many of some tokens may come one after the other; the matcher stays where it is.
    ///
    /// # Errors
    /// Limits.
    pub fn validate_tokens(&self, tokens: &[TokenId]) -> Result<usize> {
        self.fork().accept_tokens(tokens)
    }

    /// Whether a word goes on with these bytes. Nothing is accepted.
    ///
    /// # Errors
    /// Limits.
    pub fn may_continue(&mut self, bytes: &[u8]) -> Result<bool> {
        if self.path.has_ended() {
            return Ok(false);
        }
        if self.is_bounded() {
            return self.fork().step_over(bytes);
        }
        match known_run(&self.compiled, &self.path, bytes) {
            Some((None, _)) => return Ok(false),
            Some((Some(_), names)) if names.is_empty() && self.path.key_state().is_outside() => {
                return Ok(true);
            }
            _ => {}
        }
        self.fork().step_over(bytes)
    }

    /// Accepts bytes as one step if a word goes on with them, and says whether it did.
    ///
    /// # Errors
    /// Limits.
    pub fn try_accept_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        let steps = self.steps();
        let took = self.step_over(bytes)?;
        if took {
            self.promises.took(steps, None);
        }
        Ok(took)
    }

    /// Whether a token was accepted as a step.
    fn step_by(&mut self, token: TokenId) -> Result<bool> {
        if !self.is_bounded() {
            return self.step_unbounded(token);
        }
        let vocabulary = std::sync::Arc::clone(self.compiled.vocabulary());
        let bytes = vocabulary.bytes(token);
        self.step_bounded(bytes, Some(token), |matcher| matcher.step_unbounded(token))
    }

    /// The same where no bounds of parts are regarded.
    fn step_unbounded(&mut self, token: TokenId) -> Result<bool> {
        let is_eos = self.compiled.is_end(token);
        if self.compiled.automaton().has_terminals() && self.has_token_edges()? {
            if explored::accept_by_id(&self.compiled, &mut self.path, token) {
                return Ok(true);
            }
            return Ok(
                self.with_lock(|locked, at| locked.accept_token(at, token))? || is_eos && self.accept_end()
            );
        }
        if is_eos {
            return Ok(self.accept_end());
        }
        let vocabulary = self.compiled.vocabulary();
        let Some(bytes) = vocabulary.bytes(token) else { return Ok(false) };
        if accept_known(&self.compiled, &mut self.path, bytes) {
            return Ok(true);
        }
        // only what takes the lock needs a vocabulary of its own beside the matcher
        let vocabulary = std::sync::Arc::clone(vocabulary);
        match vocabulary.bytes(token) {
            Some(bytes) => self.step_over_unbounded(bytes),
            None => Ok(false),
        }
    }

    /// Whether the text was ended: it is a word, and had not ended before.
    pub(super) fn accept_end(&mut self) -> bool {
        let may_end = !self.path.has_ended() && self.is_accepting();
        if may_end {
            self.path.push_end();
        }
        may_end
    }
}
