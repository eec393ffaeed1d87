//! Settings of the choice of tokens.

use super::errors;
use grammata::error::Result;

/// Settings of a [`Sampler`](super::Sampler). The default is greedy.
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
    /// Returns settings that always choose the most probable allowed token.
    pub fn greedy() -> SamplingParams {
        SamplingParams::default()
    }

    /// Checks that the settings are in their ranges.
    ///
    /// # Errors
    /// `decode/sampling`: a setting is out of its range.
    pub(super) fn check(&self) -> Result<()> {
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
