//! The choice of a token from logits under a mask.
//!
//! The order of operations is that of Hugging Face's `generate` (its logits processors, then its warpers), with the
//! mask first: mask, biases and penalties that count tokens, repetition penalty, temperature, top-k, top-p, min-p, then one draw from the remaining tokens with
//! their probabilities scaled to sum to 1. So top-k and top-p consider allowed tokens only. (llama.cpp applies the
//! temperature last by default; with temperature 1 the two agree.)

use super::choice::{Choice, HostChooser};
use super::sampling::SamplingParams;
use grammata::error::Result;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Chooses tokens for one sequence. It holds the random number generator, and the latest tokens for the repetition
/// penalty.
#[derive(Clone, Debug)]
pub struct Sampler {
    settings: SamplingParams,
    random: ChaCha8Rng,
    recent: VecDeque<u32>,
    /// How often each token is in the output, if that matters.
    counts: FxHashMap<u32, u32>,
    host: HostChooser,
}

impl Sampler {
    /// Creates a sampler whose random numbers start from `settings.seed`.
    ///
    /// # Errors
    /// `decode/sampling`: a setting is out of its range.
    pub fn new(settings: SamplingParams) -> Result<Sampler> {
        settings.check()?;
        let random = ChaCha8Rng::seed_from_u64(settings.seed);
        Ok(Sampler {
            settings,
            random,
            recent: VecDeque::new(),
            counts: FxHashMap::default(),
            host: HostChooser::default(),
        })
    }

    /// Returns the settings, with the seed that the random numbers started from.
    pub fn settings(&self) -> &SamplingParams {
        &self.settings
    }

    /// Restarts the random numbers from another seed.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.settings.seed = seed;
        self.random = ChaCha8Rng::seed_from_u64(seed);
    }

    /// Records a token of the prompt or a chosen token for the repetition penalty. Only the latest `repetition_window`
    /// tokens are kept, and none if the penalty is 1.
    pub fn observe(&mut self, token: u32) {
        if self.settings.repetition_penalty == 1.0 || self.settings.repetition_window == 0 {
            return;
        }
        if self.recent.len() == self.settings.repetition_window {
            self.recent.pop_front();
        }
        self.recent.push_back(token);
    }

    /// Records a token of the output for the penalties that count tokens.
    pub(super) fn count(&mut self, token: u32) {
        if self.settings.frequency_penalty != 0.0 || self.settings.presence_penalty != 0.0 {
            *self.counts.entry(token).or_default() += 1;
        }
    }

    /// Returns whether [`adjust`](Sampler::adjust) changes logits.
    pub(super) fn adjusts(&self) -> bool {
        self.settings.adjusts()
    }

    /// Adds the biases to a row of logits, and subtracts the penalties that count tokens. Ids without a logit are
    /// ignored.
    pub(super) fn adjust(&self, row: &mut [f32]) {
        let SamplingParams { frequency_penalty, presence_penalty, logit_bias, .. } = &self.settings;
        let counted = self
            .counts
            .iter()
            .map(|(&token, &count)| (token, -(presence_penalty + frequency_penalty * count as f32)));
        for (token, change) in logit_bias.iter().copied().chain(counted) {
            if let Some(logit) = row.get_mut(token as usize) {
                *logit += change;
            }
        }
    }

    /// Chooses a token. Bit `i % 32` of word `i / 32` of `mask` allows token i; tokens past the end of the mask are not
    /// allowed, bits past the last logit are ignored, and `None` allows every token. A token whose logit is NaN or
    /// minus infinity is never chosen. A greedy choice uses no random number, any other choice uses one.
    ///
    /// # Errors
    /// No token that has a logit is allowed (`decode/empty-mask`), or the logits of all allowed tokens are NaN or minus
    /// infinity (`decode/no-candidate`).
    pub fn sample(&mut self, logits: &[f32], mask: Option<&[u32]>) -> Result<u32> {
        let mut host = std::mem::take(&mut self.host);
        let chosen = host.choose(logits, &self.choice(0, mask, false));
        self.host = host;
        chosen
    }

    /// Returns the inputs of the next choice from row `row` under `mask`, for a caller that computes the choice
    /// elsewhere. `scored` asks for the log-probability of the token. The choice uses up the random number that
    /// [`Sampler::sample`] would use, and results in the same token. A device that computes with 32-bit floats may
    /// choose another token if rounding crosses a boundary between two tokens.
    pub fn choice<'a>(&'a mut self, row: usize, mask: Option<&'a [u32]>, scored: bool) -> Choice<'a> {
        let uniform = self.uniform();
        self.recent.make_contiguous();
        Choice { row, mask, sampling: &self.settings, penalised: self.recent.as_slices().0, uniform, scored }
    }

    /// Returns a uniform number in [0, 1) with 53 random bits; 0 for a greedy choice, which needs none.
    pub(super) fn uniform(&mut self) -> f64 {
        match self.settings.temperature == 0.0 {
            true => 0.0,
            false => (self.random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64,
        }
    }
}
