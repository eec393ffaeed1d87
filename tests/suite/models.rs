//! Language models for tests that are functions from the tokens of a sequence to logits.

use grammata::Result;
use grammata::decode::{Feed, Logits, Model, SequenceId, Sequences, check_batch, check_truncate};

/// Gives `logits` of the tokens of a sequence up to a position for the row of that position, and records what it is fed.
pub(crate) struct Function<F> {
    pub logits: F,
    pub vocabulary: usize,
    pub context: Option<usize>,
    /// the tokens of each feed
    pub fed: Vec<Vec<u32>>,
    /// number of calls of `feed`
    pub calls: usize,
    /// the call of this number fails
    pub failing: Option<usize>,
    pub sequences: Sequences<Vec<u32>>,
    pub rows: Vec<Vec<f32>>,
}

impl<F: FnMut(&[u32]) -> Vec<f32>> Function<F> {
    pub(crate) fn new(vocabulary: usize, logits: F) -> Function<F> {
        Function {
            logits,
            vocabulary,
            context: None,
            fed: vec![],
            calls: 0,
            failing: None,
            sequences: Sequences::new(),
            rows: vec![],
        }
    }
}

impl<F: FnMut(&[u32]) -> Vec<f32>> Model for Function<F> {
    fn vocabulary_size(&self) -> usize {
        self.vocabulary
    }

    fn context_length(&self) -> Option<usize> {
        self.context
    }

    fn open(&mut self) -> Result<SequenceId> {
        Ok(self.sequences.open(vec![]))
    }

    fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId> {
        let copy = self.sequences.get(sequence)?.clone();
        Ok(self.sequences.open(copy))
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
        self.calls += 1;
        if self.failing == Some(self.calls) {
            let failure = grammata::Diagnostic::new("test/model", "the model fails");
            return Err(grammata::Error::new(grammata::ErrorKind::Model, failure));
        }
        self.rows.clear();
        for feed in batch {
            self.fed.push(feed.tokens.to_vec());
            let sequence = self.sequences.get_mut(feed.sequence)?;
            let before = sequence.len();
            sequence.extend(feed.tokens);
            for place in feed.rows.places(feed.tokens.len()) {
                self.rows.push((self.logits)(&sequence[..=before + place]));
            }
        }
        Ok(Logits::Host(self.rows.iter().map(Vec::as_slice).collect()))
    }
}
