//! The output of one sequence: its tokens, their text, and the constraint that they move.

use super::errors;
use super::finish::{FinishReason, OutputStatus};
use super::text::TextStream;
use grammata::error::Result;
use grammata::matcher::Constraint;
use grammata::vocabulary::{TokenId, Vocabulary};

/// The part of a vocabulary that decoding needs: the number of token ids, and the bytes of the tokens.
pub trait Detokenizer: Sync {
    /// Returns the number of token ids, which is the number of bits of a mask.
    fn token_count(&self) -> usize;

    /// Returns the bytes that `token` adds to the output: no bytes for special tokens and for ids that do not exist.
    fn bytes(&self, token: u32) -> &[u8];
}

impl Detokenizer for Vocabulary {
    fn token_count(&self) -> usize {
        self.width()
    }

    fn bytes(&self, token: u32) -> &[u8] {
        Vocabulary::bytes(self, TokenId::new(token)).unwrap_or_default()
    }
}

/// The bounds of an output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds<'a> {
    /// the most tokens to generate
    pub(super) tokens: usize,
    /// the most tokens of the sequence, prompt included
    pub(super) context: Option<usize>,
    /// ids that end the sequence
    pub(super) end: &'a [u32],
    /// whether the output must be complete within these bounds
    pub(super) complete: bool,
}

impl Bounds<'_> {
    /// Returns how many tokens may still follow a sequence of `length` tokens, `generated` of which are output.
    fn left(&self, generated: usize, length: usize) -> usize {
        let room = self.context.map_or(usize::MAX, |context| context.saturating_sub(length));
        self.tokens.saturating_sub(generated).min(room)
    }
}

/// The output of one sequence.
pub(super) struct Output<'c> {
    pub(super) constraint: Option<Box<dyn Constraint + 'c>>,
    stream: TextStream,
    pub(super) text: String,
    pub(super) tokens: Vec<u32>,
}

impl<'c> Output<'c> {
    pub(super) fn new(constraint: Option<Box<dyn Constraint + 'c>>, stop: &[String]) -> Result<Output<'c>> {
        if stop.iter().any(String::is_empty) {
            return Err(errors::empty_stop());
        }
        Ok(Output {
            constraint,
            stream: TextStream::new(stop.iter().cloned()),
            text: String::new(),
            tokens: Vec::new(),
        })
    }

    pub(super) fn fork(&self) -> Output<'c> {
        Output {
            constraint: self.constraint.as_deref().map(|constraint| constraint.fork() as Box<dyn Constraint>),
            stream: self.stream.clone(),
            text: self.text.clone(),
            tokens: self.tokens.clone(),
        }
    }

    /// Removes all tokens from the output and rolls the constraint back to its start.
    pub(super) fn restart(&mut self, stop: &[String]) -> Result<()> {
        self.roll_back(self.tokens.len(), stop)
    }

    /// Rolls the constraint back by `tokens`, which must be the number of all tokens that were appended, and clears the
    /// output.
    pub(super) fn roll_back(&mut self, tokens: usize, stop: &[String]) -> Result<()> {
        if let Some(constraint) = &mut self.constraint {
            constraint.rollback(tokens)?;
        }
        self.stream = TextStream::new(stop.iter().cloned());
        self.text.clear();
        self.tokens.clear();
        Ok(())
    }

    /// Returns the reason to end before another token, for a sequence of `length` tokens, prompt included; `None` if
    /// another token may follow.
    pub(super) fn limit(&mut self, bounds: &Bounds<'_>, length: usize) -> Result<Option<FinishReason>> {
        if let Some(constraint) = &mut self.constraint
            && constraint.is_finished()?
        {
            return Ok(Some(FinishReason::Complete));
        }
        if self.tokens.len() >= bounds.tokens {
            let status = self.status()?;
            return Ok(Some(FinishReason::TokenLimit { limit: bounds.tokens, status }));
        }
        match bounds.context {
            // the next token needs a place in the context as well
            Some(limit) if length >= limit => {
                Ok(Some(FinishReason::ContextLimit { limit, status: self.status()? }))
            }
            _ => Ok(None),
        }
    }

    /// Returns the most tokens that may still follow a sequence of `length` tokens, if the output must be complete
    /// within them; otherwise `None`.
    pub(super) fn budget(&self, bounds: &Bounds<'_>, length: usize) -> Option<usize> {
        bounds.complete.then(|| bounds.left(self.tokens.len(), length))
    }

    /// Checks, before the first token of an output, that a completion within the budget is known. Does nothing later,
    /// or without a constraint or a budget.
    pub(super) fn check_budget(&mut self, budget: Option<usize>) -> Result<()> {
        match (&mut self.constraint, budget) {
            (Some(constraint), Some(budget)) if self.tokens.is_empty() => constraint.check_budget(budget),
            _ => Ok(()),
        }
    }

    /// Writes the mask of the next token for a vocabulary of `count` tokens, within a budget if one is given. Returns
    /// false, and leaves `mask` as it is, if there is no constraint.
    pub(super) fn fill_mask(
        &mut self,
        mask: &mut Vec<u32>,
        count: usize,
        budget: Option<usize>,
    ) -> Result<bool> {
        let Some(constraint) = &mut self.constraint else { return Ok(false) };
        mask.clear();
        mask.resize(count.div_ceil(32), 0);
        match budget {
            Some(budget) => constraint.fill_mask_within(budget, mask)?,
            None => constraint.fill_mask(mask)?,
        }
        Ok(true)
    }

    /// Returns whether the mask of the next token takes work to compute; false without a constraint.
    pub(super) fn mask_takes_work(&mut self) -> Result<bool> {
        self.constraint.as_mut().map_or(Ok(false), |constraint| constraint.mask_takes_work())
    }

    /// Returns whether a completion of at most `budget` tokens is known that begins with `token`, which the mask
    /// allows. True without a constraint or a budget.
    pub(super) fn may_take(&mut self, token: u32, budget: Option<usize>) -> Result<bool> {
        match (&mut self.constraint, budget) {
            (Some(constraint), Some(budget)) => constraint.is_token_allowed_within(token, budget),
            _ => Ok(true),
        }
    }

    /// Appends `token` to the tokens, and the text that became certain to `text`. Returns the reason to end if the
    /// token completes a stop string or is an end token, under a constraint only one that nothing may follow; otherwise
    /// `None`.
    pub(super) fn push(
        &mut self,
        token: u32,
        detokenizer: &dyn Detokenizer,
        bounds: &Bounds<'_>,
    ) -> Result<Option<FinishReason>> {
        if let Some(constraint) = &mut self.constraint {
            constraint.accept_token(token)?;
        }
        self.tokens.push(token);
        // a grammar may have an end token in the middle of its words, so the constraint decides
        let ends = match &mut self.constraint {
            Some(constraint) => bounds.end.contains(&token) && constraint.is_finished()?,
            None => bounds.end.contains(&token),
        };
        if ends {
            return Ok(Some(FinishReason::EndOfSequence));
        }
        let stop = self.stream.push(detokenizer.bytes(token), &mut self.text).map(str::to_owned);
        match stop {
            Some(stop) => Ok(Some(FinishReason::StopString { stop, status: self.status()? })),
            None => Ok(None),
        }
    }

    /// Appends the text that the stream held back, unless the output ended at a stop string.
    pub(super) fn finish(&mut self, reason: &FinishReason) {
        if !matches!(reason, FinishReason::StopString { .. }) {
            self.stream.finish(&mut self.text);
        }
    }

    /// Returns the relation of the output to the language of the constraint.
    pub(super) fn status(&mut self) -> Result<OutputStatus> {
        Ok(match &mut self.constraint {
            None => OutputStatus::Unconstrained,
            Some(constraint) => match constraint.is_accepting()? {
                true => OutputStatus::Word,
                false => OutputStatus::Prefix,
            },
        })
    }
}

/// Checks that a prompt is not empty (`decode/empty-prompt`) and is shorter than the context of the model
/// (`decode/prompt-too-long`).
pub(super) fn check_prompt(prompt: &[u32], context: Option<usize>) -> Result<()> {
    if prompt.is_empty() {
        return Err(errors::empty_prompt());
    }
    match context.filter(|&context| prompt.len() >= context) {
        Some(context) => Err(errors::prompt_too_long(prompt.len(), context)),
        None => Ok(()),
    }
}
