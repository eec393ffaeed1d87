//! Settings and output of a generation.

use super::exact::{ExactSampling, ExactStatistics};
use super::finish::FinishReason;
use super::sampling::SamplingParams;
use super::timings::Timings;
use std::time::Duration;

grammata_base::options! {
    /// Settings of one generation.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct GenerationOptions {
        /// The most tokens to generate, an end token included. 512 by default.
        pub max_tokens: usize = 512,
        /// Whether the constraint must make the output complete within `max_tokens` tokens and the context of the
        /// model. If so, only tokens are chosen after which a short enough completion is known; if none is known at the
        /// start, generation fails before the first token. Otherwise the output is truncated at the limit. Without a
        /// constraint it has no effect. True by default.
        pub complete: bool = true,
        /// Ends the output after this much time, before the next token is chosen. None by default.
        pub timeout: Option<Duration>,
        /// How tokens are chosen. Greedy by default.
        pub sampling: SamplingParams,
        /// Draws the output from the model's distribution conditioned on the constraint, instead of from each mask.
        /// None by default. Without a constraint only the sampling settings are checked. No text is certain before the
        /// output is complete, so all events are reported at its end.
        pub exact: Option<ExactSampling>,
        /// Ids of tokens that end the sequence (end of text, end of turn). None by default. Under a constraint, such a
        /// token ends the output only if nothing may follow it.
        pub end_tokens: Vec<u32>,
        /// Texts at which the output stops; they are not part of its text. None by default.
        pub stop: Vec<String>,
        /// Computes the log-probability of each token, including forced ones. Off by default: it takes a pass over the
        /// logits of each token, and one more run of the model if the output ends in forced tokens.
        pub log_probabilities: bool,
        /// How many of the most probable tokens are reported with each token; more than 0 implies `log_probabilities`. 0
        /// by default: it takes a pass over the logits of each token, on the host.
        pub alternatives: usize,
        /// An end token is not chosen before the output has this many tokens, unless the constraint allows no other. 0
        /// by default.
        pub min_tokens: usize,
        /// Computes, for each token, the probability, at temperature 1, of the tokens that the constraint did not allow
        /// in its place; implies `log_probabilities`. Off by default: it takes another pass over the logits, on the
        /// host.
        pub refused_mass: bool,
        /// The most tokens that each run of the model verifies ahead: the tokens that followed the latest earlier
        /// occurrence of the last tokens ([`NgramDraft`](crate::NgramDraft)). 0, the default, turns it off. The output
        /// is the same if logits do not depend on how many tokens a run is fed. Exact sampling under a constraint does
        /// not use it.
        pub prompt_lookup: usize,
        /// Computes a mask that takes work on another thread while the model runs. The output is the same. Off by
        /// default: it saves time only if the model leaves a processor free (see docs/library.md for figures).
        pub overlap: bool,
    }
}

/// The output of a generation, with its scores and timings.
#[derive(Clone, Debug)]
pub struct Generation {
    /// The text, without a stop string. Invalid UTF-8 is replaced by U+FFFD.
    pub text: String,
    /// All generated tokens, including an end token.
    pub tokens: Vec<u32>,
    /// For each token, the natural logarithm of the probability that the model gives it after the tokens before it, at
    /// temperature 1 and among all tokens, not only the allowed ones. Empty unless log-probabilities were requested.
    pub log_probabilities: Vec<f64>,
    /// For each token, the probability, at temperature 1, of the tokens that the constraint did not allow in its place.
    /// Empty unless it was requested.
    pub refused_mass: Vec<f64>,
    /// Statistics of exact sampling; `None` if the output was not sampled exactly.
    pub exact: Option<ExactStatistics>,
    /// Why the generation ended.
    pub finish: FinishReason,
    /// Times and counts of the steps of the generation.
    pub timings: Timings,
}

impl Generation {
    /// Returns the log-probability of the whole output: the sum of
    /// [`log_probabilities`](field@Generation::log_probabilities), which is 0 if they were not requested.
    pub fn log_probability(&self) -> f64 {
        self.log_probabilities.iter().sum()
    }
}
