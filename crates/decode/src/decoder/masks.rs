//! Computes the mask of a decoder's next choice, before the model runs or while it runs.

use super::{Decoder, State, bounds};
use crate::errors;
use crate::event::Poll;
use crate::finish::FinishReason;
use crate::mask::only;
use crate::model::{Feed, Rows};
use crate::overlap::{MaskTask, NextMask, Overlapped, Portion};
use crate::scores::Score;
use grammata::error::Result;
use std::time::Instant;

impl<'c> Decoder<'c> {
    /// Like [`poll`](Decoder::poll), but with [`GenerationOptions::overlap`](crate::GenerationOptions::overlap) leaves
    /// a mask that takes work open: [`run`](Decoder::run) then returns the task of computing it.
    pub(crate) fn poll_ahead(&mut self) -> Result<Poll> {
        self.defers = self.options.overlap;
        let polled = self.poll_events();
        self.defers = false;
        polled
    }

    /// Returns what to feed the model, limited to `portion`, and the task of computing the mask meanwhile if the mask
    /// is open.
    pub(crate) fn run(&mut self, portion: Portion) -> (Feed<'_>, Option<MaskTask<'_, 'c>>) {
        let all = self.fed_tokens();
        let Decoder { sequence, pending, rows, output, mask, next_mask, detokenizer, .. } = self;
        let (count, rows) = match portion {
            Portion::All => (all, Rows::At(rows)),
            Portion::First(count) => (count.min(all), Rows::None),
        };
        let feed = Feed { sequence: *sequence, tokens: pending.get(..count).unwrap_or_default(), rows };
        let is_open = matches!(next_mask, NextMask::Open);
        let count = detokenizer.token_count();
        (feed, is_open.then_some(MaskTask { output, mask, count, next: next_mask }))
    }

    /// Ends at a limit, takes a forced token, or computes the mask for a choice, unless the mask can wait for the run
    /// of the model. `score` returns the score of the next token; it is `None` if the logits are not known
    /// yet. It is called only for a forced token.
    pub(super) fn decide(&mut self, score: Option<&dyn Fn(u32) -> Result<Score>>) -> Result<()> {
        let bounds = bounds(&self.options, self.context);
        let length = self.fed + self.pending.len();
        if let Some(reason) = self.output.limit(&bounds, length)? {
            self.end(reason);
            return Ok(());
        }
        if let Some(limit) = self.options.timeout.filter(|&limit| self.began.elapsed() >= limit) {
            let status = self.output.status()?;
            self.end(FinishReason::Timeout { limit, status });
            return Ok(());
        }
        let start = Instant::now();
        // the mask ignores the budget: `in_time` checks the token that is drawn from it
        self.output.check_budget(self.output.budget(&bounds, length))?;
        // if the logits are known already, there is no run to wait for
        let waits = self.defers && score.is_none();
        if waits && self.output.mask_takes_work()? {
            self.masked = true;
            self.mask_time = start.elapsed();
            self.next_mask = NextMask::Open;
            self.state = State::Choosing;
            return Ok(());
        }
        self.masked = self.output.fill_mask(&mut self.mask, self.detokenizer.token_count(), None)?;
        self.mask_time = start.elapsed();
        self.choose_or_take(score)
    }

    /// Takes the only token that the mask allows, or prepares a choice if there are several or there is no mask.
    fn choose_or_take(&mut self, score: Option<&dyn Fn(u32) -> Result<Score>>) -> Result<()> {
        match if self.masked { only(&self.mask)? } else { None } {
            Some(token) if (token as usize) < self.vocabulary => {
                self.timings.forced_tokens += 1;
                let score = score.filter(|_| self.options.log_probabilities);
                self.take(token, true, score.map(|score| score(token)).transpose()?, None)
            }
            // the model cannot be fed a token that it does not have
            Some(_) => Err(errors::empty_mask()),
            None => {
                self.state = State::Choosing;
                Ok(())
            }
        }
    }

    /// Computes the next mask if it is still open, that is, if no run of the model computed it.
    fn close_mask(&mut self) {
        if let NextMask::Open = self.next_mask {
            let start = Instant::now();
            let filled = self.output.fill_mask(&mut self.mask, self.detokenizer.token_count(), None);
            let time = start.elapsed();
            self.next_mask = NextMask::Done(Overlapped { result: filled.map(|_| ()), time, wait: time });
        }
    }

    /// Uses the mask that was left open for the run: takes the token that it forces, or prepares a choice. Returns
    /// false if no mask was left open.
    pub(super) fn settle_mask(&mut self, score: &dyn Fn(u32) -> Result<Score>) -> Result<bool> {
        self.close_mask();
        let NextMask::Done(mask) = std::mem::take(&mut self.next_mask) else { return Ok(false) };
        mask.result?;
        self.mask_time += mask.time;
        self.timings.add_overlapped(mask.wait);
        self.choose_or_take(Some(score))?;
        Ok(true)
    }

    /// Returns whether a mask that was left open for the run forces a token, allows none or failed, so that there is no
    /// choice to make. False if no mask was left open.
    pub(super) fn has_no_choice(&mut self) -> bool {
        self.close_mask();
        match &self.next_mask {
            NextMask::Done(mask) => mask.result.is_err() || !matches!(only(&self.mask), Ok(None)),
            NextMask::Settled | NextMask::Open => false,
        }
    }
}
