//! One choice of a token from a row of logits, and how the host makes it.

use super::errors;
use super::mask::{allowed_chunks, bits};
use super::sampling::SamplingParams;
use grammata::error::Result;
use std::cmp::Ordering;

/// The inputs of one choice of a token from one row of logits, except the logits.
///
/// The operations, in order: mask, repetition penalty, temperature, top-k, top-p, min-p. The remaining tokens are then
/// ordered by id, and the first one at which the cumulative probability, scaled to a total of 1, exceeds `uniform` is
/// chosen. At temperature 0 the token with the greatest logit after mask and penalty is chosen, the one with the lowest
/// id if several are equal.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The row, by its number in the batch, from 0.
    pub row: usize,
    /// Bit `i % 32` of word `i / 32` allows token i. Tokens past the end of the mask are not allowed. `None` allows
    /// every token.
    pub mask: Option<&'a [u32]>,
    /// Temperature, filters and penalty. The seed and the window are not used.
    pub sampling: &'a SamplingParams,
    /// The tokens whose logits the repetition penalty changes. A token that is listed several times is penalised once.
    /// Ids without a logit are ignored.
    pub penalised: &'a [u32],
    /// A random number in [0, 1). It is not used at temperature 0.
    pub uniform: f64,
    /// Whether to compute [`Chosen::log_probability`].
    pub scored: bool,
}

/// The result of a [`Choice`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// Id of the chosen token.
    pub token: u32,
    /// Natural log-probability of the token at temperature 1 among all tokens of the row, if [`Choice::scored`] is set.
    pub log_probability: Option<f64>,
}

/// One token that may be chosen.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    logit: f32,
    token: u32,
    /// exp((logit - greatest logit) / temperature), which is proportional to the probability; 1 until `warp` sets it
    weight: f64,
}

/// Orders candidates by falling logit, then rising id. This is a total order (no logit is NaN here), so which
/// candidates are kept does not depend on the sorting algorithm.
fn order(a: &Candidate, b: &Candidate) -> Ordering {
    b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token))
}

/// Makes choices on the host. Its buffers are reused between choices.
#[derive(Clone, Debug, Default)]
pub(super) struct HostChooser {
    /// bit set of the penalised tokens; filled before a choice and cleared after it
    penalised: Vec<u32>,
    candidates: Vec<Candidate>,
}

impl HostChooser {
    /// Chooses a token from `logits`.
    ///
    /// # Errors
    /// No token that has a logit is allowed (`decode/empty-mask`), or the logits of all allowed tokens are NaN or minus
    /// infinity (`decode/no-candidate`).
    pub(super) fn choose(&mut self, logits: &[f32], choice: &Choice<'_>) -> Result<u32> {
        self.mark(choice.penalised, logits.len());
        let greedy = choice.sampling.temperature == 0.0;
        let (allowed, best) =
            if greedy { self.best(logits, choice) } else { (self.gather(logits, choice), None) };
        self.unmark(choice.penalised);
        if !allowed {
            return Err(errors::empty_mask());
        }
        if greedy {
            return best.ok_or_else(errors::no_candidate);
        }
        if self.candidates.is_empty() {
            return Err(errors::no_candidate());
        }
        self.warp(choice.sampling);
        Ok(self.draw(choice.uniform))
    }

    /// Returns whether any token that has a logit is allowed, and the allowed token whose logit after the repetition
    /// penalty is the greatest, the one with the lowest id if several are equal. The token is `None` if no allowed
    /// token has a logit above minus infinity.
    fn best(&self, logits: &[f32], choice: &Choice<'_>) -> (bool, Option<u32>) {
        let (mut any, mut best, mut greatest) = (false, None, f32::NEG_INFINITY);
        let penalised = !choice.penalised.is_empty();
        for (index, word, chunk) in allowed_chunks(logits, choice.mask) {
            any = true;
            if word == u32::MAX && !penalised {
                // the fold has no branches, so that the compiler can vectorise it; `max` skips NaN
                let top = chunk.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                if top > greatest {
                    greatest = top;
                    best = chunk.iter().position(|&logit| logit == top).map(|bit| (index * 32 + bit) as u32);
                }
                continue;
            }
            for bit in bits(word) {
                let token = index * 32 + bit;
                let logit = chunk.get(bit).map_or(f32::NAN, |&logit| {
                    self.penalise(token, logit, choice.sampling.repetition_penalty)
                });
                if logit > greatest {
                    greatest = logit;
                    best = Some(token as u32);
                }
            }
        }
        (any, best)
    }

    /// Collects the allowed tokens whose logits after the repetition penalty are above minus infinity into
    /// `candidates`, by rising id. Returns whether any token that has a logit is allowed.
    fn gather(&mut self, logits: &[f32], choice: &Choice<'_>) -> bool {
        let mut any = false;
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for (index, word, chunk) in allowed_chunks(logits, choice.mask) {
            any = true;
            for bit in bits(word) {
                let token = index * 32 + bit;
                let logit = chunk.get(bit).map_or(f32::NAN, |&logit| {
                    self.penalise(token, logit, choice.sampling.repetition_penalty)
                });
                if logit > f32::NEG_INFINITY {
                    // plus infinity becomes the greatest finite float; `+ 0.0` turns minus zero into zero, so that both
                    // compare as equal
                    let logit = logit.clamp(f32::MIN, f32::MAX) + 0.0;
                    candidates.push(Candidate { logit, token: token as u32, weight: 1.0 });
                }
            }
        }
        self.candidates = candidates;
        any
    }

    fn penalise(&self, token: usize, logit: f32, penalty: f32) -> f32 {
        if self.penalised.get(token / 32).is_some_and(|word| word >> (token % 32) & 1 != 0) {
            if logit > 0.0 { logit / penalty } else { logit * penalty }
        } else {
            logit
        }
    }

    /// Applies top-k, temperature, top-p and min-p, sets the weights of the candidates that remain, and orders them by
    /// rising id. At least one candidate remains if there was one.
    fn warp(&mut self, sampling: &SamplingParams) {
        let &SamplingParams { temperature, top_k, top_p, min_p, .. } = sampling;
        let candidates = &mut self.candidates;
        if top_k > 0 && top_k < candidates.len() {
            candidates.select_nth_unstable_by(top_k - 1, order);
            candidates.truncate(top_k);
        }
        let greatest = candidates.iter().map(|c| c.logit).fold(f32::MIN, f32::max);
        let mut total = 0.0;
        for candidate in candidates.iter_mut() {
            let below = f64::from(candidate.logit) - f64::from(greatest);
            candidate.weight = (below / f64::from(temperature)).exp();
            total += candidate.weight;
        }
        if top_p < 1.0 {
            // All n candidates with weights below w weigh less than n * w together. If this is no more than what top-p
            // leaves out, none of them is in the nucleus. The bound `least` is half of such a w, so that rounding does
            // not matter.
            let least = (1.0 - f64::from(top_p)) * total / candidates.len() as f64 / 2.0;
            candidates.retain(|c| c.weight >= least);
            let kept = nucleus(candidates, f64::from(top_p) * total);
            candidates.truncate(kept);
        }
        if min_p > 0.0 {
            // the greatest weight is exp(0) = 1
            candidates.retain(|c| c.weight >= f64::from(min_p));
        }
        if top_k > 0 || top_p < 1.0 {
            candidates.sort_unstable_by_key(|c| c.token);
        }
    }

    /// Returns the token of the first candidate at which the cumulative weight exceeds `uniform`, in [0, 1), times the
    /// total weight. If there is no such candidate because of rounding, returns the last token with a positive weight;
    /// 0 if there is none.
    fn draw(&self, uniform: f64) -> u32 {
        let total: f64 = self.candidates.iter().map(|c| c.weight).sum();
        let mut left = uniform * total;
        let mut last = 0;
        for candidate in &self.candidates {
            if candidate.weight > 0.0 {
                last = candidate.token;
                if left < candidate.weight {
                    break;
                }
                left -= candidate.weight;
            }
        }
        last
    }

    fn mark(&mut self, penalised: &[u32], tokens: usize) {
        if penalised.is_empty() {
            return;
        }
        self.penalised.resize(tokens.div_ceil(32), 0);
        for &token in penalised {
            if let Some(word) = self.penalised.get_mut(token as usize / 32) {
                *word |= 1 << (token % 32);
            }
        }
    }

    fn unmark(&mut self, penalised: &[u32]) {
        for &token in penalised {
            if let Some(word) = self.penalised.get_mut(token as usize / 32) {
                *word = 0;
            }
        }
    }
}

/// Returns the least n for which the n candidates with the greatest logits weigh at least `goal` together; the number
/// of candidates if all of them weigh less. Moves these n candidates to the start, in falling order. Most nuclei are
/// small, so candidates are sorted in chunks, as far as needed: 64 at first, then twice as many each time.
fn nucleus(candidates: &mut [Candidate], goal: f64) -> usize {
    let mut sorted = 0;
    let mut sum = 0.0;
    let mut chunk = 64;
    while sorted < candidates.len() {
        let rest = &mut candidates[sorted..];
        let size = chunk.min(rest.len());
        if size < rest.len() {
            rest.select_nth_unstable_by(size, order);
        }
        let part = &mut rest[..size];
        part.sort_unstable_by(order);
        for (i, candidate) in part.iter().enumerate() {
            sum += candidate.weight;
            if sum >= goal {
                return sorted + i + 1;
            }
        }
        sorted += size;
        chunk *= 2;
    }
    candidates.len()
}
