//! A model without weights, which computes random logits.

use super::logits::Logits;
use super::model::{Feed, Model, check_batch, check_truncate};
use super::sequences::{SequenceId, Sequences};
use grammata::error::Result;

/// A model whose logits are pseudo-random numbers in [0, 1) that depend only on a seed and on the preceding tokens.
///
/// Each token that a mask allows is equally likely to have the greatest logit. The output shows what a grammar
/// guarantees, without any influence of a language model.
#[derive(Debug)]
pub struct RandomLogits {
    vocabulary: usize,
    seed: u64,
    /// For each sequence, the hashes of its non-empty prefixes.
    sequences: Sequences<Vec<u64>>,
    rows: Vec<Vec<f32>>,
}

impl RandomLogits {
    /// Creates a model with `vocabulary` logits for each position.
    pub fn new(vocabulary: usize, seed: u64) -> RandomLogits {
        RandomLogits { vocabulary, seed: mixed(seed), sequences: Sequences::new(), rows: Vec::new() }
    }
}

/// Returns the output of SplitMix64 (Steele, Lea and Flood 2014) for the state `number`: a permutation of the 64-bit
/// numbers.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// Returns `length` logits, in [0, 1), for a prefix with the hash `hash`.
fn row(hash: u64, length: usize) -> Vec<f32> {
    // a 32-bit float has 24 significant bits
    let logit = |token: u64| (mixed(hash.wrapping_add(token)) >> 40) as f32 / (1 << 24) as f32;
    (0..length as u64).map(logit).collect()
}

impl Model for RandomLogits {
    fn vocabulary_size(&self) -> usize {
        self.vocabulary
    }

    fn context_length(&self) -> Option<usize> {
        None
    }

    fn open(&mut self) -> Result<SequenceId> {
        Ok(self.sequences.open(Vec::new()))
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        self.sequences.fork(sequence)
    }

    fn truncate(&mut self, sequence: SequenceId, length: usize) -> Result<()> {
        check_truncate(self, sequence, length)?;
        self.sequences.get_mut(sequence)?.truncate(length);
        Ok(())
    }

    fn close(&mut self, sequence: SequenceId) {
        self.sequences.close(sequence);
    }

    fn length(&self, sequence: SequenceId) -> Result<usize> {
        Ok(self.sequences.get(sequence)?.len())
    }

    fn feed(&mut self, batch: &[Feed<'_>]) -> Result<Logits<'_>> {
        check_batch(self, batch)?;
        self.rows.clear();
        for feed in batch {
            let hashes = self.sequences.get_mut(feed.sequence)?;
            let before = hashes.len();
            for &token in feed.tokens {
                let last = hashes.last().copied().unwrap_or(self.seed);
                hashes.push(mixed(last ^ mixed(u64::from(token))));
            }
            let places = feed.rows.places(feed.tokens.len());
            self.rows
                .extend(places.filter_map(|place| Some(row(*hashes.get(before + place)?, self.vocabulary))));
        }
        Ok(Logits::Host(self.rows.iter().map(Vec::as_slice).collect()))
    }
}
