//! The trait of language models: many sequences, fed in batches.

use super::errors;
use super::logits::Logits;
use super::sequences::SequenceId;
use grammata::error::Result;

/// Positions of a [`Feed`] whose logits are requested. The logits of a position predict the token after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows<'a> {
    /// No position: the tokens only extend the cache.
    None,
    /// The last token fed.
    Last,
    /// Every token fed, in order.
    All,
    /// The tokens fed at these places, counted from 0, in the given order. A place may occur more than once.
    At(&'a [usize]),
}

impl<'a> Rows<'a> {
    /// Returns the places, in the order of the rows, counted from 0 at the first of the `tokens` tokens fed. Places of
    /// [`Rows::At`] are not checked against `tokens`.
    pub fn places(self, tokens: usize) -> impl Iterator<Item = usize> + 'a {
        let (range, chosen): (_, &[usize]) = match self {
            Rows::None => (0..0, &[]),
            Rows::Last => (tokens.saturating_sub(1)..tokens, &[]),
            Rows::All => (0..tokens, &[]),
            Rows::At(places) => (0..0, places),
        };
        range.chain(chosen.iter().copied())
    }
}

/// Tokens to append to one sequence.
#[derive(Clone, Copy, Debug)]
pub struct Feed<'a> {
    /// The sequence to extend; it must be open.
    pub sequence: SequenceId,
    /// The tokens, at least one.
    pub tokens: &'a [u32],
    /// The positions whose logits are requested.
    pub rows: Rows<'a>,
}

/// A causal language model that keeps a key-value cache for each of its open sequences.
///
/// An error leaves every sequence as it was. The trait is object-safe; decoders and drivers take `&mut dyn Model`.
/// Implementations can use [`Sequences`](super::Sequences), [`check_batch`] and [`check_truncate`].
pub trait Model: Send {
    /// Returns the number of logits of a position. Ids from this number up are not tokens of the model. The number may
    /// be larger than the vocabulary of the tokenizer (models pad it) or smaller.
    fn vocabulary_size(&self) -> usize;

    /// Returns the most tokens that a sequence can hold; `None` if the model does not declare it.
    fn context_length(&self) -> Option<usize>;

    /// Opens an empty sequence.
    ///
    /// # Errors
    /// A failure of the model.
    fn open(&mut self) -> Result<SequenceId>;

    /// Opens a sequence with the tokens and the cache of `sequence`. Both can then be fed and truncated independently.
    ///
    /// # Errors
    /// The sequence is not open, or a failure of the model.
    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId>;

    /// Removes all but the first `length` tokens of a sequence from its cache.
    ///
    /// # Errors
    /// The sequence is not open or has fewer tokens, or a failure of the model.
    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()>;

    /// Closes a sequence and frees its cache. Does nothing if the sequence is not open.
    fn close(&mut self, sequence: SequenceId);

    /// Returns the number of tokens of a sequence.
    ///
    /// # Errors
    /// The sequence is not open.
    fn length(&self, sequence: SequenceId) -> Result<usize>;

    /// Appends tokens to sequences, and returns the logits of the requested positions: the rows of the first feed, then
    /// those of the second, and so on, each of [`vocabulary_size`](Model::vocabulary_size) numbers.
    ///
    /// Feeds of one batch do not depend on each other, so an implementation may compute them together.
    ///
    /// # Errors
    /// Errors of [`check_batch`], or a failure of the model. No sequence is then longer than before.
    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>>;
}

/// Checks that a batch can be fed. Implementations of [`Model::feed`] call this function first.
///
/// # Errors
/// A sequence is not open (`decode/no-sequence`) or occurs twice (`decode/twice-in-batch`); a feed has no tokens
/// (`decode/no-tokens`); the model does not have a token (`decode/token-range`); a sequence would become longer than
/// the context (`decode/context`); a row is requested of a token that is not fed (`decode/row-range`).
pub fn check_batch<M: Model + ?Sized>(model: &M, batch: &[Feed<'_>]) -> Result<()> {
    let vocabulary = model.vocabulary_size();
    for (index, feed) in batch.iter().enumerate() {
        let length = model.length(feed.sequence)?;
        if batch.iter().take(index).any(|other| other.sequence == feed.sequence) {
            return Err(errors::twice_in_batch());
        }
        if feed.tokens.is_empty() {
            return Err(errors::no_tokens());
        }
        if let Some(&bad) = feed.tokens.iter().find(|&&token| token as usize >= vocabulary) {
            return Err(errors::token(bad, vocabulary));
        }
        let length = length.saturating_add(feed.tokens.len());
        if let Some(limit) = model.context_length().filter(|&limit| length > limit) {
            return Err(errors::context(length, limit));
        }
        if let Some(bad) = feed.rows.places(feed.tokens.len()).find(|&place| place >= feed.tokens.len()) {
            return Err(errors::row(bad, feed.tokens.len()));
        }
    }
    Ok(())
}

/// Checks that a sequence can be truncated. Implementations of [`Model::truncate`] call this function first.
///
/// # Errors
/// The sequence is not open (`decode/no-sequence`) or has fewer than `length` tokens (`decode/truncate`).
pub fn check_truncate<M: Model + ?Sized>(model: &M, sequence: SequenceId, length: usize) -> Result<()> {
    let available = model.length(sequence)?;
    if length > available {
        return Err(errors::truncate(length, available));
    }
    Ok(())
}

/// Forks the sequence `held` and keeps at most its first `most` tokens. Returns the fork and its length.
pub(super) fn fork_of_beginning(
    model: &mut dyn Model,
    held: SequenceId,
    most: usize,
) -> Result<(SequenceId, usize)> {
    let length = model.length(held)?;
    let sequence = model.fork(held)?;
    if length > most
        && let Err(error) = model.truncate(sequence, most)
    {
        model.close(sequence);
        return Err(error);
    }
    Ok((sequence, length.min(most)))
}
