//! Settings for choosing tokens.

use super::errors;
use grammata::error::Result;

/// The greatest penalty, as in the protocol of OpenAI.
const MOST_PENALTY: f32 = 2.0;

/// The greatest bias, as in the protocol of OpenAI.
const MOST_BIAS: f32 = 100.0;

grammata_base::options! {
    /// Settings of a [`Sampler`](super::Sampler). The default is greedy.
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct SamplingParams {
        /// Divisor of the logits. 0 (the default) is greedy: the allowed token with the greatest logit after the
        /// repetition penalty is chosen, the one with the lowest id if several are equal.
        pub temperature: f32 = 0.0,
        /// Only the `top_k` most probable tokens remain. 0 (the default) keeps all.
        pub top_k: usize,
        /// Only the most probable tokens remain, as few as have a total probability of at least `top_p`, in (0, 1]. 1
        /// (the default) keeps all.
        pub top_p: f32 = 1.0,
        /// Only tokens remain that are at least `min_p` times as probable as the most probable token. In [0, 1]; 0 (the
        /// default) keeps all.
        pub min_p: f32 = 0.0,
        /// Divisor of the positive logits of recent tokens; their other logits are multiplied by it (Keskar et al.
        /// 2019, CTRL). Must be more than 0. 1 (the default) changes nothing; more makes repetition less probable.
        pub repetition_penalty: f32 = 1.0,
        /// Number of latest tokens, including those of the prompt, that the repetition penalty applies to. 64 by
        /// default.
        pub repetition_window: usize = 64,
        /// Subtracted from the logit of a token for each time that it is in the output. 0 (the default) changes nothing.
        pub frequency_penalty: f32 = 0.0,
        /// Subtracted from the logit of a token that is in the output. 0 (the default) changes nothing.
        pub presence_penalty: f32 = 0.0,
        /// Tokens and what is added to their logits. None by default.
        pub logit_bias: Vec<(u32, f32)>,
        /// Seed of the random numbers (ChaCha8): equal seeds, settings and logits give equal tokens on every machine,
        /// unless rounding crosses a boundary between two tokens. 0 by default.
        pub seed: u64,
    }
}

impl SamplingParams {
    /// Returns settings that always choose the allowed token with the greatest logit.
    pub fn greedy() -> SamplingParams {
        SamplingParams::default()
    }

    /// Checks that the settings are in their ranges.
    ///
    /// # Errors
    /// `decode/sampling`: a setting is out of its range, infinite or NaN.
    pub fn check(&self) -> Result<()> {
        // comparisons with NaN are false, so NaN is refused
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
            (
                "frequency_penalty",
                self.frequency_penalty,
                self.frequency_penalty.abs() <= MOST_PENALTY,
                "from -2 to 2",
            ),
            (
                "presence_penalty",
                self.presence_penalty,
                self.presence_penalty.abs() <= MOST_PENALTY,
                "from -2 to 2",
            ),
        ];
        let biases = self
            .logit_bias
            .iter()
            .map(|&(_, bias)| ("logit_bias", bias, bias.abs() <= MOST_BIAS, "from -100 to 100"));
        match checks.into_iter().chain(biases).find(|&(_, _, fine, _)| !fine) {
            Some((name, value, _, allowed)) => Err(errors::setting(name, value, allowed)),
            None => Ok(()),
        }
    }

    /// Returns whether logits are changed by what is in the output, or by a bias.
    pub(super) fn adjusts(&self) -> bool {
        self.frequency_penalty != 0.0 || self.presence_penalty != 0.0 || !self.logit_bias.is_empty()
    }
}
