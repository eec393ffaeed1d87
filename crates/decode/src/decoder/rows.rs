//! What a decoder does with the logits that it is supplied.

use super::{Decoder, State, bounds};
use crate::errors;
use crate::event::Event;
use crate::logits::Logits;
use crate::scores::log_probability_of;
use grammata::error::Result;
use std::time::Instant;

impl Decoder<'_> {
    /// The rows that are wanted of the next run: those of tokens without a log-probability, the one to choose from, and
    /// those after drafts. The row of a token is at the token before it.
    pub(super) fn want_rows(&mut self) {
        let known = self.pending.len() - self.drafted;
        let first = known.saturating_sub(1 + self.unscored);
        let end = match self.state {
            State::Ended(_) => known.saturating_sub(1),
            _ => self.pending.len(),
        };
        self.rows.clear();
        self.rows.extend(first..end);
    }

    pub(super) fn take_rows(&mut self, logits: &Logits<'_>, first: usize) -> Result<()> {
        let mut buffer = Vec::new();
        let drafts = self.pending.split_off(self.pending.len() - std::mem::take(&mut self.drafted));
        let unscored = std::mem::take(&mut self.unscored);
        let late = self.pending.split_off(self.pending.len() - unscored);
        for (row, &token) in late.iter().enumerate() {
            let row = self.row(logits, first + row, &mut buffer)?;
            self.score(log_probability_of(row, token));
        }
        self.fed += self.pending.len() + late.len();
        self.pending.clear();
        if matches!(self.state, State::Ended(_)) {
            return Ok(());
        }
        self.ahead = drafts.into();
        let drafted = self.ahead.len();
        // as long as what was chosen is what was drafted, the row of the next token is there
        while self.pending.is_empty() {
            let row = first + unscored + drafted - self.ahead.len();
            match self.state {
                State::Deciding => {
                    let row = self.row(logits, row, &mut buffer)?;
                    self.decide(Some(row))?;
                }
                State::Choosing => {
                    let row = self.row(logits, row, &mut buffer)?;
                    let start = Instant::now();
                    let token = self.sampler.sample(row, self.masked.then_some(&self.mask[..]))?;
                    self.timings.sampling += start.elapsed();
                    let token = self.in_time(token, row)?;
                    self.take(token, false, Some(row))?;
                }
                State::Ended(_) | State::Failed(_) => break,
            }
        }
        self.excess = self.ahead.len();
        self.timings.accepted_tokens += drafted - self.excess;
        self.ahead.clear();
        Ok(())
    }

    /// The token that was drawn, or, if no completion in time is known after it, one drawn from the mask within the budget.
    /// That is rejection sampling: tokens have the probabilities of that mask, which is seldom made.
    fn in_time(&mut self, token: u32, row: &[f32]) -> Result<u32> {
        let bounds = bounds(&self.options, self.context);
        let budget = self.output.budget(&bounds, self.fed + self.pending.len());
        let start = Instant::now();
        let may_take = self.output.may_take(token, budget)?;
        if !may_take {
            let count = self.detokenizer.token_count();
            self.masked = self.output.fill_mask(&mut self.mask, count, budget)?;
        }
        self.mask_time += start.elapsed();
        match may_take {
            true => Ok(token),
            false => self.sampler.sample(row, self.masked.then_some(&self.mask[..])),
        }
    }

    fn row<'a>(&self, logits: &'a Logits<'_>, row: usize, buffer: &'a mut Vec<f32>) -> Result<&'a [f32]> {
        let row = logits.row(row, buffer)?;
        match row.len() == self.vocabulary {
            true => Ok(row),
            false => Err(errors::logits_length(row.len(), self.vocabulary)),
        }
    }

    /// The log-probability of the oldest token that waits for one.
    fn score(&mut self, log_probability: f64) {
        self.log_probabilities.push(log_probability);
        let mut tokens = self.events.iter_mut().filter_map(|event| match event {
            Event::Token(token) => Some(token),
            _ => None,
        });
        if let Some(token) = tokens.find(|token| token.log_probability.is_none()) {
            token.log_probability = Some(log_probability);
        }
    }
}
