//! A model sequence that is reused for texts with a common prefix.

use super::logits::Logits;
use super::model::{Feed, Model, Rows};
use super::sequences::SequenceId;
use grammata::error::Result;

/// A model sequence and the tokens that it holds. Each call of [`feed`](CachedSequence::feed) keeps the longest common
/// prefix of the held and the given tokens, at most all given tokens but the last, and feeds only the rest.
#[derive(Debug)]
pub struct CachedSequence {
    id: SequenceId,
    fed: Vec<u32>,
}

impl CachedSequence {
    /// Opens an empty sequence of `model`. It stays open until [`close`](CachedSequence::close) is called.
    ///
    /// # Errors
    /// Errors of [`Model::open`].
    pub fn open(model: &mut (dyn Model + '_)) -> Result<CachedSequence> {
        Ok(CachedSequence { id: model.open()?, fed: Vec::new() })
    }

    /// Returns the id of the sequence in its model.
    pub fn id(&self) -> SequenceId {
        self.id
    }

    /// Makes the sequence hold exactly `tokens`. Returns the logits after the last one, and the number of tokens that
    /// were fed. The last token is always fed, because its logits are needed.
    ///
    /// # Errors
    /// Errors of [`Model::truncate`] and [`Model::feed`]; the latter refuses empty `tokens`.
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

    /// Closes the sequence in `model`. The sequence must not be fed afterwards.
    pub fn close(&self, model: &mut (dyn Model + '_)) {
        model.close(self.id);
    }
}
