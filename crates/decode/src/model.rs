//! The trait of language models: many sequences, fed in batches.

use super::errors;
use super::logits::Logits;
use super::sequences::SequenceId;
use grammata::error::Result;

/// Positions of a [`Feed`] whose logits are wanted. The logits of a position are those of the token after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows<'a> {
    /// No position: the tokens only extend the cache.
    None,
    /// The last token fed.
    Last,
    /// Every token fed, in order.
    All,
    /// The tokens fed at these places, counted from 0, in the order given; a place may be given more than once.
    At(&'a [usize]),
}

impl<'a> Rows<'a> {
    /// The places, counted from 0 at the first of the `tokens` tokens fed.
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
    /// The sequence; it must be open.
    pub sequence: SequenceId,
    /// The tokens, at least one.
    pub tokens: &'a [u32],
    /// The positions whose logits are wanted.
    pub rows: Rows<'a>,
}

/// A causal language model that keeps a key-value cache for each of its open sequences.
///
/// An error leaves every sequence as it was. The trait is object-safe; the decoders and drivers of this module take
/// `&mut dyn Model`. [`Sequences`](super::Sequences) and [`check_batch`] are there for implementations.
pub trait Model {
    /// Number of logits of a position. Ids from this number up are not tokens of the model. It may be larger than the
    /// tokenizer's vocabulary (models pad it) or smaller.
    fn vocabulary_size(&self) -> usize;

    /// The most tokens that a sequence can hold, if the model declares it.
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

    /// Removes all but the first `length` tokens of a sequence.
    ///
    /// # Errors
    /// The sequence is not open or has fewer tokens, or a failure of the model.
    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()>;

    /// Closes a sequence and frees its cache. Nothing happens if it is not open.
    fn close(&mut self, sequence: SequenceId);

    /// Number of tokens of a sequence.
    ///
    /// # Errors
    /// The sequence is not open.
    fn length(&self, sequence: SequenceId) -> Result<usize>;

    /// Appends tokens to sequences, and gives the logits of the positions wanted: the rows of the first feed, then those
    /// of the second, and so on, each of [`vocabulary_size`](Model::vocabulary_size) numbers.
    ///
    /// Feeds of one batch do not depend on each other, so an implementation may compute them together.
    ///
    /// # Errors
    /// What [`check_batch`] refuses, or a failure of the model. No sequence is then longer than before.
    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>>;
}

/// Refuses a batch that no model can be fed: implementations of [`Model::feed`] call it first.
///
/// # Errors
/// A sequence that is not open (`decode/no-sequence`) or comes twice (`decode/twice-in-batch`), no tokens
/// (`decode/no-tokens`), a token that the model does not have (`decode/token-range`), a sequence longer than the context
/// (`decode/context`), a row of a token that is not fed (`decode/row-range`).
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

/// Refuses a truncation that no model can do: implementations of [`Model::truncate`] call it first.
///
/// # Errors
/// A sequence that is not open (`decode/no-sequence`) or has fewer than `length` tokens (`decode/truncate`).
pub fn check_truncate<M: Model + ?Sized>(model: &M, sequence: SequenceId, length: usize) -> Result<()> {
    let available = model.length(sequence)?;
    if length > available {
        return Err(errors::truncate(length, available));
    }
    Ok(())
}

/// Forks a sequence and keeps at most its first `most` tokens. Returns the fork and its length.
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
