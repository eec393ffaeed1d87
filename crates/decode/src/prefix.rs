//! A wrapper of a model that feeds the common prefix of successive prompts only once.

use super::logits::Logits;
use super::model::{Feed, Model, Rows, check_batch, check_truncate, fork_of_beginning};
use super::sequences::{SequenceId, Sequences};
use grammata::error::Result;

/// A wrapper of a model that remembers the latest prompt, that is, the tokens of the latest first feed of a sequence. A
/// sequence whose first feed begins with the same tokens is a fork of the remembered one, so the common prefix is not
/// computed again. Tokens whose logits are requested, and the last token, are always fed.
///
/// The remembered prompt takes one more sequence of the model, which is closed when the wrapper is dropped.
pub struct PrefixCache<'m> {
    model: &'m mut dyn Model,
    open: Sequences<Option<SequenceId>>,
    kept: Option<(SequenceId, Vec<u32>)>,
    /// Sequences that were empty before the latest feed and that this feed began.
    begun: Vec<Begun>,
    /// Number of tokens that were not fed, because they were remembered, including those of feeds that then failed.
    saved: usize,
}

/// A sequence that was empty before a feed, its sequence in the wrapped model, and the tokens of the feed.
struct Begun {
    outer: SequenceId,
    inner: SequenceId,
    tokens: Vec<u32>,
}

impl std::fmt::Debug for PrefixCache<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PrefixCache").field("saved", &self.saved).finish_non_exhaustive()
    }
}

impl Drop for PrefixCache<'_> {
    fn drop(&mut self) {
        if let Some((sequence, _)) = self.kept.take() {
            self.model.close(sequence);
        }
    }
}

impl<'m> PrefixCache<'m> {
    /// Wraps `model`. No prompt is remembered yet.
    pub fn new(model: &'m mut dyn Model) -> PrefixCache<'m> {
        PrefixCache { model, open: Sequences::new(), kept: None, begun: Vec::new(), saved: 0 }
    }

    /// Returns how many tokens were not fed because they were remembered, including those of feeds that then failed.
    pub fn saved(&self) -> usize {
        self.saved
    }

    /// Opens a sequence of the wrapped model that holds the longest remembered prefix of `tokens`, but at most `most`
    /// tokens. Returns the sequence and the length of the prefix.
    fn begin(&mut self, tokens: &[u32], most: usize) -> Result<(SequenceId, usize)> {
        if let Some((kept, known)) = &self.kept {
            let same = known.iter().zip(tokens).take_while(|(a, b)| a == b).count().min(most);
            if same > 0 {
                let (fork, same) = fork_of_beginning(self.model, *kept, same)?;
                self.saved += same;
                return Ok((fork, same));
            }
        }
        Ok((self.model.open()?, 0))
    }

    /// Completes the latest feed. The tokens of each sequence that it began are remembered, so those of the last one
    /// remain. A sequence whose first feed failed is empty again.
    fn settle(&mut self) -> Result<()> {
        for Begun { outer, inner, tokens } in std::mem::take(&mut self.begun) {
            if self.model.length(inner)? < tokens.len() {
                self.model.close(inner);
                *self.open.get_mut(outer)? = None;
                continue;
            }
            let fork = self.model.fork(inner)?;
            if let Some((before, _)) = self.kept.replace((fork, tokens)) {
                self.model.close(before);
            }
        }
        Ok(())
    }

    /// Returns the sequence of the wrapped model for `sequence`; `None` if no feed of `sequence` has succeeded yet.
    fn inner(&self, sequence: SequenceId) -> Result<Option<SequenceId>> {
        let has_failed = |begun: &&Begun| {
            begun.outer == sequence
                && self.model.length(begun.inner).is_ok_and(|length| length < begun.tokens.len())
        };
        Ok(self.open.get(sequence)?.filter(|_| !self.begun.iter().any(|begun| has_failed(&begun))))
    }
}

impl Model for PrefixCache<'_> {
    fn vocabulary_size(&self) -> usize {
        self.model.vocabulary_size()
    }

    fn context_length(&self) -> Option<usize> {
        self.model.context_length()
    }

    fn open(&mut self) -> Result<SequenceId> {
        Ok(self.open.open(None))
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.settle()?;
        let fork = self.inner(sequence)?.map(|inner| self.model.fork(inner)).transpose()?;
        Ok(self.open.open(fork))
    }

    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        self.settle()?;
        check_truncate(self, sequence, length)?;
        self.inner(sequence)?.map_or(Ok(()), |inner| self.model.truncate(inner, length))
    }

    fn close(&mut self, sequence: SequenceId) {
        // an error only means that no prefix is remembered, so the prefix is fed again
        let _ = self.settle();
        if let Some(Some(inner)) = self.open.close(sequence) {
            self.model.close(inner);
        }
    }

    fn length(&self, sequence: SequenceId) -> Result<usize> {
        self.inner(sequence)?.map_or(Ok(0), |inner| self.model.length(inner))
    }

    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        self.settle()?;
        check_batch(self, batch)?;
        let mut inner_ids = Vec::with_capacity(batch.len());
        let mut skipped = Vec::with_capacity(batch.len());
        for feed in batch {
            if let Some(inner) = self.inner(feed.sequence)? {
                inner_ids.push(inner);
                skipped.push(0);
                continue;
            }
            // positions whose logits are requested must be fed, and at least one token
            let last = feed.tokens.len().saturating_sub(1);
            let first = feed.rows.places(feed.tokens.len()).min().unwrap_or(last);
            let (inner, same) = self.begin(feed.tokens, first.min(last))?;
            *self.open.get_mut(feed.sequence)? = Some(inner);
            self.begun.push(Begun { outer: feed.sequence, inner, tokens: feed.tokens.to_vec() });
            inner_ids.push(inner);
            skipped.push(same);
        }
        let places = |(feed, skipped): (&Feed<'_>, &usize)| -> Vec<usize> {
            feed.rows.places(feed.tokens.len()).map(|place| place - skipped).collect()
        };
        let places: Vec<Vec<usize>> = batch.iter().zip(&skipped).map(places).collect();
        let feeds = batch.iter().zip(&skipped).zip(inner_ids.iter().zip(&places));
        let feeds: Vec<Feed<'_>> = feeds
            .map(|((feed, &skipped), (&sequence, places))| {
                let tokens = feed.tokens.get(skipped..).unwrap_or_default();
                Feed { sequence, tokens, rows: Rows::At(places) }
            })
            .collect();
        self.model.feed(&feeds)
    }
}
