//! A text under a grammar: its matcher, its mask, and the error that ended it.

use crate::border::c_string;
use crate::errors;
use crate::tokenizer::Tokenizer;
use engine::diagnostic::visible_lines;
use engine::vocabulary::TokenId;
use engine::{Error, Matcher, Result};
use std::ffi::CString;
use std::io::Write;
use std::sync::Arc;

/// The state of a matcher. An error is permanent: every later call fails with the same message.
pub(crate) enum State {
    /// The matcher follows a text.
    Following(Box<Following>),
    /// The matcher has failed with this message.
    Failed(CString),
}

/// A text and its matcher.
pub(crate) struct Following {
    tokenizer: Arc<Tokenizer>,
    matcher: Matcher,
    /// Whether an end-of-sequence token was accepted.
    has_ended: bool,
    budget: Option<usize>,
    /// Number of tokens since the beginning, without end-of-sequence tokens.
    taken: usize,
    mask: Vec<u32>,
    is_filled: bool,
}

impl State {
    pub(crate) fn failed(error: &Error) -> State {
        State::Failed(c_string(&error.to_string()))
    }

    /// Runs `work` and returns whether it succeeded. An error is stored permanently; after an earlier error, `work` is
    /// not run.
    pub(crate) fn advance(&mut self, work: impl FnOnce(&mut Following) -> Result<()>) -> bool {
        let State::Following(following) = self else { return false };
        match work(following) {
            Ok(()) => true,
            Err(error) => {
                *self = State::failed(&error);
                false
            }
        }
    }
}

impl Following {
    /// A text at its beginning that should be complete within `budget` tokens. If that is impossible, it warns and
    /// drops the budget.
    pub(crate) fn new(tokenizer: Arc<Tokenizer>, mut matcher: Matcher, budget: Option<usize>) -> Following {
        let budget = budget.filter(|&budget| match matcher.check_budget(budget) {
            Ok(()) => true,
            Err(error) => {
                warn(&error.to_string());
                false
            }
        });
        let mask = vec![0; tokenizer.vocabulary.mask_words()];
        Following { tokenizer, matcher, has_ended: false, budget, taken: 0, mask, is_filled: false }
    }

    pub(crate) fn fork(&self) -> Following {
        Following {
            tokenizer: Arc::clone(&self.tokenizer),
            matcher: self.matcher.fork(),
            mask: vec![0; self.mask.len()],
            is_filled: false,
            ..*self
        }
    }

    /// The mask, if it was computed since the last step. Its words do not move until the state is replaced.
    pub(crate) fn mask(&self) -> Option<&[u32]> {
        self.is_filled.then_some(&self.mask)
    }

    /// Computes the mask: the tokens that may come next, or only the end-of-sequence tokens after the end.
    pub(crate) fn fill(&mut self) -> Result<()> {
        self.is_filled = false;
        if self.has_ended {
            self.mask.fill(0);
            for token in self.tokenizer.vocabulary.eos() {
                if let Some(word) = self.mask.get_mut(token.index() / 32) {
                    *word |= 1 << (token.index() % 32);
                }
            }
        } else {
            match self.budget {
                // after a mask within a budget there is one after each of its tokens
                Some(budget) => {
                    self.matcher.fill_mask_within(budget.saturating_sub(self.taken), &mut self.mask)?;
                }
                None => self.matcher.fill_mask(&mut self.mask)?,
            }
        }
        self.is_filled = true;
        Ok(())
    }

    /// Accepts a token. After the end, another end-of-sequence token is accepted and changes nothing.
    pub(crate) fn accept(&mut self, token: u32) -> Result<()> {
        self.is_filled = false;
        let id = TokenId::new(token);
        let vocabulary = &self.tokenizer.vocabulary;
        if id.index() >= vocabulary.width() {
            return Err(errors::token_range("token", token, vocabulary.width()));
        }
        let is_end = vocabulary.eos().contains(&id);
        if self.has_ended {
            return if is_end { Ok(()) } else { Err(errors::ended()) };
        }
        self.matcher.accept_token(id)?;
        self.has_ended = is_end;
        self.taken += usize::from(!is_end);
        Ok(())
    }

    /// Returns to the beginning of the text.
    pub(crate) fn reset(&mut self) {
        self.matcher.reset();
        (self.has_ended, self.taken, self.is_filled) = (false, 0, false);
    }
}

/// Writes a line to standard error, ignoring failures.
pub(crate) fn warn(message: &str) {
    let _ = writeln!(std::io::stderr(), "grammata: {}", visible_lines(message));
}
