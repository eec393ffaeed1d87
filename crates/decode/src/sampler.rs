//! Choosing a token from logits under a mask.
//!
//! The order of operations is that of Hugging Face's `generate` (its logits processors, then its warpers), with the
//! mask first: mask, repetition penalty, temperature, top-k, top-p, min-p, then one draw from what is left with the
//! probabilities scaled to sum to 1. So top-k and top-p look at allowed tokens only. (llama.cpp applies the temperature
//! last by default; with temperature 1 the two agree.)

use super::errors;
use super::mask::{allowed_chunks, bits};
use grammata::error::Result;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// Settings of a [`Sampler`]. The default is greedy.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct SamplingParams {
    /// Logits are divided by it. 0 (the default) is greedy: the most probable allowed token, the lowest id of equals.
    pub temperature: f32,
    /// Only the `top_k` most probable tokens stay. 0 (the default) keeps all.
    pub top_k: usize,
    /// The fewest most probable tokens stay whose probabilities reach `top_p`, in (0, 1]. 1 (the default) keeps all.
    pub top_p: f32,
    /// Tokens stay that are at least `min_p` times as probable as the most probable, in [0, 1]. 0 (the default)
    /// keeps all.
    pub min_p: f32,
    /// Positive logits of recent tokens are divided by it, negative ones multiplied (Keskar et al. 2019, CTRL).
    /// 1 (the default) changes nothing; more makes repeating less probable.
    pub repetition_penalty: f32,
    /// How many of the latest tokens, the prompt's among them, the penalty looks at. 64 by default.
    pub repetition_window: usize,
    /// Seed of the random numbers (ChaCha8): equal seeds and logits give equal tokens on every machine. 0 by default.
    pub seed: u64,
}

impl Default for SamplingParams {
    fn default() -> SamplingParams {
        SamplingParams {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            repetition_window: 64,
            seed: 0,
        }
    }
}

grammata_base::setters!(SamplingParams {
    temperature: f32,
    top_k: usize,
    top_p: f32,
    min_p: f32,
    repetition_penalty: f32,
    repetition_window: usize,
    seed: u64,
});

impl SamplingParams {
    /// The most probable allowed token, always.
    pub fn greedy() -> SamplingParams {
        SamplingParams::default()
    }

    fn check(&self) -> Result<()> {
        // written so that NaN fails
        let checks = [
            (
                "temperature",
                self.temperature,
                self.temperature >= 0.0 && self.temperature.is_finite(),
                "0 or more",
            ),
            ("top_p", self.top_p, self.top_p > 0.0 && self.top_p <= 1.0, "more than 0, at most 1"),
            ("min_p", self.min_p, self.min_p >= 0.0 && self.min_p <= 1.0, "from 0 to 1"),
            (
                "repetition_penalty",
                self.repetition_penalty,
                self.repetition_penalty > 0.0 && self.repetition_penalty.is_finite(),
                "more than 0",
            ),
        ];
        match checks.into_iter().find(|&(_, _, fine, _)| !fine) {
            Some((name, value, _, allowed)) => Err(errors::setting(name, value, allowed)),
            None => Ok(()),
        }
    }
}

/// One token that may be chosen.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    logit: f32,
    token: u32,
    /// exp((logit - the greatest logit) / temperature): its probability times a constant
    weight: f64,
}

/// By falling logit, then rising id: a total order (no logit is NaN here), so that sets do not depend on the sort.
fn order(a: &Candidate, b: &Candidate) -> Ordering {
    b.logit.total_cmp(&a.logit).then(a.token.cmp(&b.token))
}

/// Chooses tokens for one sequence.
#[derive(Clone, Debug)]
pub struct Sampler {
    settings: SamplingParams,
    random: ChaCha8Rng,
    recent: VecDeque<u32>,
    /// one bit a token of `recent`; set before a choice and cleared after it
    penalised: Vec<u32>,
    candidates: Vec<Candidate>,
}

impl Sampler {
    /// A sampler at its seed.
    ///
    /// # Errors
    /// A setting out of its range.
    pub fn new(settings: SamplingParams) -> Result<Sampler> {
        settings.check()?;
        let random = ChaCha8Rng::seed_from_u64(settings.seed);
        Ok(Sampler {
            settings,
            random,
            recent: VecDeque::new(),
            penalised: Vec::new(),
            candidates: Vec::new(),
        })
    }

    /// The settings.
    pub fn settings(&self) -> &SamplingParams {
        &self.settings
    }

    /// Restarts the random numbers at another seed.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.settings.seed = seed;
        self.random = ChaCha8Rng::seed_from_u64(seed);
    }

    /// Notes a token of the prompt or one that was chosen, for the repetition penalty.
    pub fn observe(&mut self, token: u32) {
        if self.settings.repetition_penalty == 1.0 || self.settings.repetition_window == 0 {
            return;
        }
        if self.recent.len() == self.settings.repetition_window {
            self.recent.pop_front();
        }
        self.recent.push_back(token);
    }

    /// Chooses a token. Bit i of word i/32 of `mask` allows token i; tokens past its end are not allowed, bits past the
    /// last logit are ignored. Logits that are NaN or minus infinity are never chosen. With one candidate no random
    /// number is used.
    ///
    /// # Errors
    /// No token is allowed, or none that is allowed has a probability.
    pub fn sample(&mut self, logits: &[f32], mask: Option<&[u32]>) -> Result<u32> {
        self.mark(logits.len());
        let greedy = self.settings.temperature == 0.0;
        let (allowed, best) =
            if greedy { self.best(logits, mask) } else { (self.gather(logits, mask), None) };
        self.unmark();
        if !allowed {
            return Err(errors::empty_mask());
        }
        if greedy {
            return best.ok_or_else(errors::no_candidate);
        }
        match self.candidates.as_slice() {
            [] => Err(errors::no_candidate()),
            [only] => Ok(only.token),
            _ => {
                self.warp();
                Ok(self.draw())
            }
        }
    }

    /// Whether any token that has a logit is allowed, and the first of the most probable ones.
    fn best(&self, logits: &[f32], mask: Option<&[u32]>) -> (bool, Option<u32>) {
        let (mut any, mut best, mut greatest) = (false, None, f32::NEG_INFINITY);
        let penalised = !self.recent.is_empty();
        for (index, word, chunk) in allowed_chunks(logits, mask) {
            any = true;
            if word == u32::MAX && !penalised {
                // without branches, so that it runs in vectors; max skips NaN
                let top = chunk.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                if top > greatest {
                    greatest = top;
                    best = chunk.iter().position(|&logit| logit == top).map(|bit| (index * 32 + bit) as u32);
                }
                continue;
            }
            for bit in bits(word) {
                let token = index * 32 + bit;
                let logit = chunk.get(bit).map_or(f32::NAN, |&logit| self.penalise(token, logit));
                if logit > greatest {
                    greatest = logit;
                    best = Some(token as u32);
                }
            }
        }
        (any, best)
    }

    /// Collects the allowed candidates in one pass. True if any token that has a logit is allowed.
    fn gather(&mut self, logits: &[f32], mask: Option<&[u32]>) -> bool {
        let mut any = false;
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        for (index, word, chunk) in allowed_chunks(logits, mask) {
            any = true;
            for bit in bits(word) {
                let token = index * 32 + bit;
                let logit = chunk.get(bit).map_or(f32::NAN, |&logit| self.penalise(token, logit));
                if logit > f32::NEG_INFINITY {
                    // plus infinity means "certainly this one"; + 0.0 makes minus zero zero, so that they are equals
                    let logit = logit.clamp(f32::MIN, f32::MAX) + 0.0;
                    candidates.push(Candidate { logit, token: token as u32, weight: 1.0 });
                }
            }
        }
        self.candidates = candidates;
        any
    }

    fn penalise(&self, token: usize, logit: f32) -> f32 {
        if self.penalised.get(token / 32).is_some_and(|word| word >> (token % 32) & 1 != 0) {
            let penalty = self.settings.repetition_penalty;
            if logit > 0.0 { logit / penalty } else { logit * penalty }
        } else {
            logit
        }
    }

    /// Temperature, top-k, top-p, min-p. Leaves at least one candidate, each with its weight.
    fn warp(&mut self) {
        let SamplingParams { temperature, top_k, top_p, min_p, .. } = self.settings;
        let candidates = &mut self.candidates;
        if top_k > 0 && top_k < candidates.len() {
            candidates.select_nth_unstable_by(top_k - 1, order);
            candidates.truncate(top_k);
            // the selection leaves an order that the standard library may change
            candidates.sort_unstable_by(order);
        }
        let greatest = candidates.iter().map(|c| c.logit).fold(f32::MIN, f32::max);
        let mut total = 0.0;
        for candidate in candidates.iter_mut() {
            let below = f64::from(candidate.logit) - f64::from(greatest);
            candidate.weight = (below / f64::from(temperature)).exp();
            total += candidate.weight;
        }
        if top_p < 1.0 {
            // All tokens as improbable as one of weight w weigh at most n * w together. Where that is less than what
            // top-p leaves out, none of them is in; half of it, so that rounding does not matter.
            let least = (1.0 - f64::from(top_p)) * total / candidates.len() as f64 / 2.0;
            candidates.retain(|c| c.weight >= least);
            let kept = nucleus(candidates, f64::from(top_p) * total);
            candidates.truncate(kept);
        }
        if min_p > 0.0 {
            // the greatest weight is exp(0) = 1
            candidates.retain(|c| c.weight >= f64::from(min_p));
        }
    }

    /// One token, with a probability in proportion to its weight.
    fn draw(&mut self) -> u32 {
        let total: f64 = self.candidates.iter().map(|c| c.weight).sum();
        // the 53 high bits: a uniform number in [0, 1)
        let unit = (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut left = unit * total;
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

    fn mark(&mut self, tokens: usize) {
        if self.recent.is_empty() {
            return;
        }
        self.penalised.resize(tokens.div_ceil(32), 0);
        for &token in &self.recent {
            if let Some(word) = self.penalised.get_mut(token as usize / 32) {
                *word |= 1 << (token % 32);
            }
        }
    }

    fn unmark(&mut self) {
        for &token in &self.recent {
            if let Some(word) = self.penalised.get_mut(token as usize / 32) {
                *word = 0;
            }
        }
    }
}

/// Sorts the beginning of `candidates` far enough that the weights of the first n reach `goal`; gives the least such n.
/// Most nuclei are small, so only as much is sorted as is needed, twice as much each time.
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
