//! Steps over tokens and bytes that the grammar may reject. A rejection is a return value here, not an error with an
//! explanation.

use super::explored;
use super::matcher::Matcher;
use super::steps::{accept_known, known_run};
use crate::error::Result;
use crate::vocabulary::TokenId;

impl Matcher {
    /// Accepts a token if the mask allows it, and returns whether the mask does. A rejected token costs no more than an
    /// accepted one; [`accept_token`](Matcher::accept_token) explains a rejection.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded. The matcher has then not moved.
    pub fn try_accept(&mut self, token: TokenId) -> Result<bool> {
        let steps = self.steps();
        let taken = self.step_by(token)?;
        if taken {
            self.promises.took(steps, Some(token));
        }
        Ok(taken)
    }

    /// Accepts the longest allowed prefix of `tokens` and returns its length.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded. The matcher is then where it was
    /// before the first token.
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

    /// The length of the longest prefix of `tokens` that is allowed. The matcher does not move.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn validate_tokens(&self, tokens: &[TokenId]) -> Result<usize> {
        self.fork().accept_tokens(tokens)
    }

    /// Whether the text so far, continued with these bytes, can be completed to a word. False after the end. Nothing is
    /// accepted.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn accepts_prefix(&mut self, bytes: &[u8]) -> Result<bool> {
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

    /// Accepts bytes as one step if some completion of the text begins with them, and returns whether one does. The
    /// result is false after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn try_accept_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        let steps = self.steps();
        let took = self.step_over(bytes)?;
        if took {
            self.promises.took(steps, None);
        }
        Ok(took)
    }

    /// Accepts a token if it is allowed, without updating the completions carried along. Returns whether it was
    /// accepted.
    fn step_by(&mut self, token: TokenId) -> Result<bool> {
        if !self.is_bounded() {
            return self.step_unbounded(token);
        }
        let vocabulary = std::sync::Arc::clone(self.compiled.vocabulary());
        let bytes = vocabulary.bytes(token);
        self.step_bounded(bytes, Some(token), |matcher| matcher.step_unbounded(token))
    }

    /// Like `step_by`, ignoring bounds of parts.
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
        // the clone keeps the bytes alive while the matcher is borrowed for the lock; the cases above do not need it
        let vocabulary = std::sync::Arc::clone(vocabulary);
        match vocabulary.bytes(token) {
            Some(bytes) => self.step_over_unbounded(bytes),
            None => Ok(false),
        }
    }

    /// Ends the text if the text is a word and has not ended. Returns whether this call ended it.
    pub(super) fn accept_end(&mut self) -> bool {
        let may_end = !self.path.has_ended() && self.is_accepting();
        if may_end {
            self.path.push_end();
        }
        may_end
    }
}
