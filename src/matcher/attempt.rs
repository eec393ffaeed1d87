//! Bytes that may be refused: without the explanation that a rejection costs.

use super::{Matcher, known_run};
use crate::error::Result;

impl Matcher {
    /// Whether a word goes on with these bytes. Nothing is accepted.
    ///
    /// # Errors
    /// Limits.
    pub fn may_continue(&mut self, bytes: &[u8]) -> Result<bool> {
        if self.path.has_ended() {
            return Ok(false);
        }
        match known_run(&self.compiled, &self.path, bytes) {
            Some((None, _)) => return Ok(false),
            Some((Some(_), names)) if names.is_empty() && self.path.place().is_outside() => return Ok(true),
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
}
