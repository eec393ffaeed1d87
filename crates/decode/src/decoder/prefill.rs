//! How a decoder feeds tokens whose logits are not wanted.

use super::Decoder;
use crate::model::{Feed, Model, Rows};
use grammata::error::Result;
use std::time::{Duration, Instant};

impl Decoder<'_> {
    /// Feeds the model the tokens before the next choice whose logits are not needed, so that forks share their cache.
    ///
    /// # Errors
    /// Errors of [`Model::truncate`] and [`Model::feed`]. The decoder can still be used.
    pub fn prefill(&mut self, model: &mut dyn Model) -> Result<()> {
        self.rewind(model)?;
        let count = self.prefill_count();
        let tokens = self.pending.get(..count).unwrap_or_default();
        if tokens.is_empty() {
            return Ok(());
        }
        let start = Instant::now();
        model.feed(&[Feed { sequence: self.sequence, tokens, rows: Rows::None }])?;
        self.came_first(count, start.elapsed());
        Ok(())
    }

    /// Returns the number of tokens that [`prefill`](Decoder::prefill) feeds.
    pub(crate) fn prefill_count(&self) -> usize {
        self.pending.len().saturating_sub(1 + self.unscored + self.drafted)
    }

    /// Returns how many tokens of the next run come before the first one whose logits are requested. Valid after
    /// [`poll`](Decoder::poll) returned [`Poll::Feed`].
    pub(crate) fn tokens_before_rows(&self) -> usize {
        self.rows.first().copied().unwrap_or_default()
    }

    /// Records that the model was fed the first `count` pending tokens in a run of `time`, without a requested row of
    /// logits.
    pub(crate) fn came_first(&mut self, count: usize, time: Duration) {
        match self.decoding {
            None => {
                self.timings.prefill += time;
                self.timings.prefill_tokens += count;
            }
            Some(_) => self.record(time, count),
        }
        let fed = self.pending.drain(..count);
        match &mut self.exact {
            Some(exact) => exact.came_first(self.fed, fed),
            None => drop(fed),
        }
        self.fed += count;
    }
}
