//! How a decoder uses the logits that it is supplied with.

use super::{Decoder, State, bounds};
use crate::choice::{Choice, Chosen};
use crate::errors;
use crate::event::Event;
use crate::logits::Logits;
use crate::mask::allows;
use crate::scores::{Score, log_probability_of, refused_mass, refused_mass_of_forced};
use grammata::error::Result;
use std::time::Instant;

impl Decoder<'_> {
    /// Computes the rows to request from the next run: those of tokens without a log-probability and, unless the
    /// decoder has ended, the one to choose from and those after drafts. The row of a token is at the token before it.
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

    /// Returns the next choice to make from the requested rows, which start at row `first`, so that a device can make
    /// the choices of several sequences together. `None` if no choice is due, or with exact sampling under a
    /// constraint. Uses up the random number of the choice.
    pub(crate) fn first_choice(&mut self, first: usize) -> Option<Choice<'_>> {
        (matches!(self.state, State::Choosing) && self.exact.is_none()).then_some(())?;
        (!self.has_no_choice() && !self.adjusts()).then_some(())?;
        let mask = self.masked.then_some(&self.mask[..]);
        Some(self.sampler.choice(first + self.unscored, mask, self.options.log_probabilities))
    }

    /// Uses the rows that were requested, which start at row `first`. `chosen` is the result of
    /// [`first_choice`](Decoder::first_choice), if a device has made that choice.
    pub(super) fn take_rows(
        &mut self,
        logits: &Logits<'_>,
        first: usize,
        mut chosen: Option<Result<Chosen>>,
    ) -> Result<()> {
        if let Some(mut exact) = self.exact.take() {
            let taken = self.take_exactly(&mut exact, logits, first);
            self.exact = Some(exact);
            return taken;
        }
        let drafts = self.pending.split_off(self.pending.len() - std::mem::take(&mut self.drafted));
        let unscored = std::mem::take(&mut self.unscored);
        let late = self.pending.split_off(self.pending.len() - unscored);
        for (row, &token) in late.iter().enumerate() {
            self.score(score_of(logits, first + row, token, self.options.alternatives)?);
        }
        self.fed += self.pending.len() + late.len();
        self.pending.clear();
        if matches!(self.state, State::Ended(_)) {
            return Ok(());
        }
        self.ahead = drafts.into();
        let drafted = self.ahead.len();
        // as long as chosen tokens equal the drafts, the row for choosing the next token is known
        while self.pending.is_empty() {
            let row = first + unscored + drafted - self.ahead.len();
            let alternatives = self.options.alternatives;
            let score = |token| score_of(logits, row, token, alternatives);
            if self.settle_mask(&score)? {
                continue;
            }
            match self.state {
                State::Deciding => self.decide(Some(&score))?,
                State::Choosing => {
                    let start = Instant::now();
                    let chosen = match chosen.take() {
                        Some(chosen) => self.checked(chosen?)?,
                        None => self.choose(logits, row)?,
                    };
                    self.timings.sampling += start.elapsed();
                    let refused = self.options.refused_mass.then(|| self.refused(logits, row)).transpose()?;
                    let chosen = self.in_time(chosen, logits, row)?;
                    let score = match alternatives {
                        0 => chosen.log_probability.map(Score::alone),
                        _ => Some(score(chosen.token)?),
                    };
                    self.take(chosen.token, false, score, refused)?;
                }
                State::Ended(_) | State::Failed(_) => break,
            }
        }
        // the model also holds the drafts that were rejected
        self.rewind = (!self.ahead.is_empty()).then_some(self.fed);
        self.timings.accepted_tokens += drafted - self.ahead.len();
        self.ahead.clear();
        Ok(())
    }

    /// Returns the probability, at temperature 1, of the tokens of a row that the mask does not allow; 0 without a
    /// mask. The row is copied to the host if it is not there.
    fn refused(&self, logits: &Logits<'_>, row: usize) -> Result<f64> {
        match self.masked {
            true => Ok(refused_mass(logits.row(row, &mut Vec::new())?, &self.mask)),
            false => Ok(0.0),
        }
    }

    /// Returns the token that was drawn or, if no completion in time is known after it, one drawn from the mask within
    /// the budget. This is rejection sampling: unless top-k, top-p or min-p is on, tokens have the same probabilities
    /// as if all were drawn from the mask within the budget, which is rarely computed.
    fn in_time(&mut self, chosen: Chosen, logits: &Logits<'_>, row: usize) -> Result<Chosen> {
        let bounds = bounds(&self.options, self.context);
        let budget = self.output.budget(&bounds, self.fed + self.pending.len());
        let start = Instant::now();
        let may_take = self.output.may_take(chosen.token, budget)?;
        if !may_take {
            let count = self.detokenizer.token_count();
            self.masked = self.output.fill_mask(&mut self.mask, count, budget)?;
        }
        self.mask_time += start.elapsed();
        match may_take {
            true => Ok(chosen),
            false => self.choose(logits, row),
        }
    }

    /// Chooses from a row under the current mask, if there is one. The device chooses if it holds the logits.
    fn choose(&mut self, logits: &Logits<'_>, row: usize) -> Result<Chosen> {
        let mask = self.masked.then_some(&self.mask[..]);
        let scored = self.options.log_probabilities;
        if self.adjusts() {
            return self.choose_adjusted(logits, row);
        }
        let chosen = match logits {
            Logits::Device(device) => {
                let chosen = device.choose(&[self.sampler.choice(row, mask, scored)])?;
                chosen.into_iter().next().ok_or_else(|| errors::row(row, device.len()))??
            }
            Logits::Host(rows) => {
                let row = rows.get(row).ok_or_else(|| errors::row(row, rows.len()))?;
                if row.len() != self.vocabulary {
                    return Err(errors::logits_length(row.len(), self.vocabulary));
                }
                let token = self.sampler.sample(row, mask)?;
                Chosen { token, log_probability: scored.then(|| log_probability_of(row, token)) }
            }
        };
        self.checked(chosen)
    }

    /// Returns whether logits are changed before the next choice. Then the host makes it.
    fn adjusts(&self) -> bool {
        self.sampler.adjusts() || self.output.tokens.len() < self.options.min_tokens
    }

    /// Chooses from a row with biases and penalties. The log-probability of the token is the one without them.
    fn choose_adjusted(&mut self, logits: &Logits<'_>, row: usize) -> Result<Chosen> {
        let mut buffer = Vec::new();
        let row = logits.row(row, &mut buffer)?;
        if row.len() != self.vocabulary {
            return Err(errors::logits_length(row.len(), self.vocabulary));
        }
        let mut adjusted = row.to_vec();
        self.sampler.adjust(&mut adjusted);
        if self.output.tokens.len() < self.options.min_tokens {
            for &token in &self.options.end_tokens {
                if let Some(logit) = adjusted.get_mut(token as usize) {
                    // the least finite number: chosen only if nothing else is allowed
                    *logit = f32::MIN;
                }
            }
        }
        let mask = self.masked.then_some(&self.mask[..]);
        let token = self.sampler.sample(&adjusted, mask)?;
        let log_probability = self.options.log_probabilities.then(|| log_probability_of(row, token));
        self.checked(Chosen { token, log_probability })
    }

    /// Checks that the mask allows the chosen token and that the model has it, because the arithmetic of a device is
    /// not trusted.
    fn checked(&self, chosen: Chosen) -> Result<Chosen> {
        let Chosen { token, .. } = chosen;
        let allowed = !self.masked || allows(&self.mask, token);
        match allowed && (token as usize) < self.vocabulary {
            true => Ok(chosen),
            false => Err(errors::not_allowed(token)),
        }
    }

    /// Records the score of the oldest token that lacks one, and its refused mass if that is requested.
    fn score(&mut self, score: Score) {
        let Score { log_probability, alternatives } = score;
        self.log_probabilities.push(log_probability);
        // only forced tokens are scored later
        let refused_mass = self.options.refused_mass.then(|| refused_mass_of_forced(log_probability));
        self.refused_mass.extend(refused_mass);
        let mut tokens = self.events.iter_mut().filter_map(|event| match event {
            Event::Token(token) => Some(token),
            _ => None,
        });
        if let Some(token) = tokens.find(|token| token.log_probability.is_none()) {
            token.log_probability = Some(log_probability);
            token.refused_mass = refused_mass;
            token.alternatives = alternatives;
        }
    }
}

/// Returns the score of a token in a row. The row is copied to the host if it is not there.
fn score_of(logits: &Logits<'_>, row: usize, token: u32, alternatives: usize) -> Result<Score> {
    Ok(Score::of(logits.row(row, &mut Vec::new())?, token, alternatives))
}
