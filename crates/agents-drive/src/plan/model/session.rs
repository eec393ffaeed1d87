//! A language model with the tokens that it has been fed, so that a common prefix of two prompts is fed once.

use super::ModelUse;
use super::trie::{Chain, Scores, TokenTrie};
use crate::plan::errors;
use grammata::error::Result;
use grammata_decode::{CachedSequence, Feed, Logits, Model, Rows, SequenceId};
use std::time::Instant;

/// The maximum number of sequences scored in one batch. Larger batches are hardly faster, and each sequence has its own
/// cache.
const MAX_BATCH: usize = 16;

/// The maximum number of cached tokens in a batch of several sequences: at 64 KiB per token (a model of 1 billion
/// parameters), 256 MiB.
const MAX_BATCH_TOKENS: usize = 4096;

/// A callback that receives the usage so far.
pub(super) type Observer<'m> = dyn FnMut(&ModelUse) + 'm;

/// A model and the sequence that holds the latest prompt.
pub(super) struct Session<'m> {
    model: &'m mut dyn Model,
    sequence: CachedSequence,
    /// A copy of a row of logits that a device keeps in its own memory.
    copied: Vec<f32>,
    pub(super) usage: ModelUse,
    /// Called after each batch.
    pub(super) observer: Option<Box<Observer<'m>>>,
}

/// A chain of tokens still to be fed to a fork of the sequence before it.
struct Pending {
    sequence: SequenceId,
    chain: Chain,
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.sequence.close(self.model);
    }
}

impl<'m> Session<'m> {
    pub(super) fn new(model: &'m mut dyn Model) -> Result<Session<'m>> {
        let sequence = CachedSequence::open(model)?;
        let usage = ModelUse::default();
        Ok(Session { model, sequence, copied: Vec::new(), usage, observer: None })
    }

    /// Returns the maximum number of tokens of the context.
    pub(super) fn context_length(&self) -> usize {
        self.model.context_length().unwrap_or(usize::MAX)
    }

    /// Returns the logits after `tokens`. A prefix that the model has already been fed is not fed again.
    ///
    /// # Errors
    /// `plan/model`: there are more tokens than the context holds. Otherwise the errors of the model.
    pub(super) fn logits(&mut self, tokens: &[u32]) -> Result<&[f32]> {
        if tokens.len() > self.context_length() {
            return Err(errors::context_full(tokens.len(), self.context_length()));
        }
        let start = Instant::now();
        let (logits, fed) = self.sequence.feed(self.model, tokens)?;
        self.usage.runs += 1;
        self.usage.tokens += fed;
        self.usage.time += start.elapsed();
        self.observer.iter_mut().for_each(|observer| observer(&self.usage));
        match logits {
            Logits::Host(rows) => Ok(rows.first().copied().unwrap_or_default()),
            Logits::Device(device) => {
                device.copy(0, &mut self.copied)?;
                Ok(&self.copied)
            }
        }
    }

    /// Returns the natural logarithms of the probabilities of the continuations of a trie after a prompt. Feeds the
    /// prompt once, and each trie node whose successors matter once.
    ///
    /// # Errors
    /// Those of [`logits`](Session::logits).
    pub(super) fn score(&mut self, prompt: &[u32], trie: &TokenTrie) -> Result<Vec<f64>> {
        let longest = prompt.len().saturating_add(trie.depth());
        if longest > self.context_length() {
            return Err(errors::context_full(longest, self.context_length()));
        }
        let mut scores = Scores::new(trie);
        if trie.is_asked(TokenTrie::ROOT) {
            scores.visit(TokenTrie::ROOT, self.logits(prompt)?);
            let start = Instant::now();
            let mut pending = Vec::new();
            let walked = self.walk(prompt.len(), trie, &mut scores, &mut pending);
            pending.into_iter().for_each(|one| self.model.close(one.sequence));
            self.usage.time += start.elapsed();
            walked?;
        }
        Ok(scores.into_continuations())
    }

    /// Feeds a trie to forks of the sequence of the prompt, in batches. After an error, the sequences in `pending` are
    /// still open.
    fn walk(
        &mut self,
        prompt: usize,
        trie: &TokenTrie,
        scores: &mut Scores<'_>,
        pending: &mut Vec<Pending>,
    ) -> Result<()> {
        let most = (MAX_BATCH_TOKENS / prompt.max(1)).clamp(1, MAX_BATCH);
        self.fork(self.sequence.id(), TokenTrie::ROOT, trie, scores, pending)?;
        while !pending.is_empty() {
            let length = |model: &dyn Model, one: &Pending| model.length(one.sequence).unwrap_or(0);
            // the longest sequences first, which end soonest; equal lengths together, which one run computes
            pending.sort_by_key(|one| (length(self.model, one), one.chain.tokens.len()));
            let batch = pending.split_off(pending.len().saturating_sub(most));
            let fed = self.feed(&batch, scores);
            let mut forked = Ok(());
            if fed.is_ok() {
                for one in &batch {
                    let last = one.chain.nodes.last().copied().unwrap_or(TokenTrie::ROOT);
                    forked = forked.and_then(|()| self.fork(one.sequence, last, trie, scores, pending));
                }
            }
            batch.iter().for_each(|one| self.model.close(one.sequence));
            fed.and(forked)?;
        }
        Ok(())
    }

    /// Forks a sequence for each chain after a node.
    fn fork(
        &mut self,
        sequence: SequenceId,
        node: usize,
        trie: &TokenTrie,
        scores: &Scores<'_>,
        pending: &mut Vec<Pending>,
    ) -> Result<()> {
        for chain in trie.chains(node) {
            if chain.nodes.first().is_some_and(|&first| !scores.is_impossible(first)) {
                pending.push(Pending { sequence: self.model.fork(sequence)?, chain });
            }
        }
        Ok(())
    }

    fn feed(&mut self, batch: &[Pending], scores: &mut Scores<'_>) -> Result<()> {
        let feeds: Vec<Feed<'_>> = batch
            .iter()
            .map(|one| Feed { sequence: one.sequence, tokens: &one.chain.tokens, rows: Rows::All })
            .collect();
        let logits = self.model.feed(&feeds)?;
        let nodes = batch.iter().flat_map(|one| &one.chain.nodes);
        for (row, &node) in nodes.enumerate() {
            scores.visit(node, logits.row(row, &mut self.copied)?);
        }
        self.usage.runs += 1;
        self.usage.tokens += batch.iter().map(|one| one.chain.tokens.len()).sum::<usize>();
        self.observer.iter_mut().for_each(|observer| observer(&self.usage));
        Ok(())
    }
}
