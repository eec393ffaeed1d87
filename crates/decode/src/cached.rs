//! One sequence of a model for texts that begin alike.

use super::logits::Logits;
use super::model::{Feed, Model, Rows};
use super::sequences::SequenceId;
use grammata::error::Result;

/// A sequence with the tokens that it was fed: of the next tokens, what begins like these is not fed again.
#[derive(Debug)]
pub struct CachedSequence {
    id: SequenceId,
    fed: Vec<u32>,
}

impl CachedSequence {
    /// An empty sequence of a model, which stays open until [`close`](CachedSequence::close).
    pub fn open(model: &mut (dyn Model + '_)) -> Result<CachedSequence> {
        Ok(CachedSequence { id: model.open()?, fed: Vec::new() })
    }

    /// The id of the sequence.
    pub fn id(&self) -> SequenceId {
        self.id
    }

    /// The logits after `tokens`, and how many of these were fed: the last one in any case, as its logits are wanted.
    ///
    /// # Errors
    /// What the model reports.
    pub fn feed<'l>(
        &mut self,
        model: &'l mut (dyn Model + '_),
        tokens: &[u32],
    ) -> Result<(Logits<'l>, usize)> {
        let same = self.fed.iter().zip(tokens).take_while(|(a, b)| a == b).count();
        let same = same.min(tokens.len().saturating_sub(1));
        if self.fed.len() > same {
            model.truncate(self.id, same)?;
            self.fed.truncate(same);
        }
        let new = tokens.get(same..).unwrap_or_default();
        let logits = model.feed(&[Feed { sequence: self.id, tokens: new, rows: Rows::Last }])?;
        self.fed.extend_from_slice(new);
        Ok((logits, new.len()))
    }

    /// Closes the sequence.
    pub fn close(&self, model: &mut (dyn Model + '_)) {
        model.close(self.id);
    }
}
