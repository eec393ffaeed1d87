//! A text under a grammar: where it is, its mask, and the error that ended it.

use crate::border::c_string;
use crate::errors;
use crate::tokenizer::Tokenizer;
use engine::vocabulary::TokenId;
use engine::{Error, Matcher, Result};
use std::ffi::CString;
use std::io::Write;
use std::sync::Arc;

/// What is true of a matcher. An error stays: whatever is asked of it afterwards fails with the same message.
pub(crate) enum State {
    /// It follows a text.
    Following(Box<Following>),
    /// It has failed, with this message.
    Failed(CString),
}

/// A text that is followed.
pub(crate) struct Following {
    tokenizer: Arc<Tokenizer>,
    matcher: Matcher,
    /// Whether an end-of-sequence token came.
    has_ended: bool,
    budget: Option<usize>,
    /// Tokens since the beginning.
    taken: usize,
    mask: Vec<u32>,
    is_filled: bool,
}

impl State {
    pub(crate) fn failed(error: &Error) -> State {
        State::Failed(c_string(&error.to_string()))
    }

    /// Does a piece of work, unless an error came before it; one that it meets stays. Whether it succeeded.
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
    /// A text at its beginning that should be complete after `budget` tokens, if that is possible.
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

    /// The mask, if it was made since the last step. Its words do not move while the state is not replaced.
    pub(crate) fn mask(&self) -> Option<&[u32]> {
        self.is_filled.then_some(&self.mask)
    }

    /// Makes the mask: the tokens that may come next; the end-of-sequence token alone once the text has ended.
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
                // once a mask has been made for a budget, there is one after each of its tokens
                Some(budget) => {
                    self.matcher.fill_mask_within(budget.saturating_sub(self.taken), &mut self.mask)?;
                }
                None => self.matcher.fill_mask(&mut self.mask)?,
            }
        }
        self.is_filled = true;
        Ok(())
    }

    /// Accepts a token. After the end another end-of-sequence token changes nothing.
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

    /// Back to the beginning.
    pub(crate) fn reset(&mut self) {
        self.matcher.reset();
        (self.has_ended, self.taken, self.is_filled) = (false, 0, false);
    }
}

/// Writes a line to standard error, if that is open.
pub(crate) fn warn(message: &str) {
    let _ = writeln!(std::io::stderr(), "grammata: {message}");
}
