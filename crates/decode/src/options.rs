//! Settings and outcome of a generation.

use super::exact::{ExactSampling, ExactStatistics};
use super::finish::FinishReason;
use super::sampling::SamplingParams;
use super::timings::Timings;
use std::time::Duration;

/// Settings of one generation.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct GenerationOptions {
    /// The most tokens to generate. 512 by default.
    pub max_tokens: usize,
    /// Whether the constraint must make the output complete within `max_tokens` tokens and the model's context. If so,
    /// only tokens are chosen after which a short enough completion is known; if none is known at the start, generation
    /// fails before the first token. Otherwise the output is truncated at the limit. True by default.
    pub complete: bool,
    /// Ends the output after this much time, at the next token. None by default.
    pub timeout: Option<Duration>,
    /// How tokens are chosen. Greedy by default.
    pub sampling: SamplingParams,
    /// Draws the output from the model's distribution conditioned on the constraint, instead of from each mask. None by
    /// default. No text is certain before the output is complete, so all events come at its end.
    pub exact: Option<ExactSampling>,
    /// Ids that end the sequence (end of text, end of turn). None by default.
    pub end_tokens: Vec<u32>,
    /// Texts at which to stop; they are not part of the output. None by default.
    pub stop: Vec<String>,
    /// Computes the log-probability of each token, including forced ones. Off by default: it takes a pass over the
    /// logits of each token, and one more run of the model if the output ends in forced tokens.
    pub log_probabilities: bool,
    /// Computes, for each token, the probability of the tokens that the constraint did not allow in its place; implies
    /// `log_probabilities`. Off by default: it takes another pass over the logits, on the host.
    pub refused_mass: bool,
    /// The most tokens that each run of the model verifies ahead: what followed the latest earlier occurrence of the
    /// last tokens ([`NgramDraft`](crate::NgramDraft)). 0, the default, is none. The output is the same. Exact sampling
    /// takes none.
    pub prompt_lookup: usize,
    /// Computes a mask that takes work on another thread while the model runs. The output is the same. Off by default:
    /// it pays where the model leaves a processor free (see docs/library.md for figures).
    pub overlap: bool,
}

impl Default for GenerationOptions {
    fn default() -> GenerationOptions {
        GenerationOptions {
            max_tokens: 512,
            complete: true,
            timeout: None,
            sampling: SamplingParams::default(),
            exact: None,
            end_tokens: Vec::new(),
            stop: Vec::new(),
            log_probabilities: false,
            refused_mass: false,
            prompt_lookup: 0,
            overlap: false,
        }
    }
}

grammata_base::setters!(GenerationOptions {
    max_tokens: usize,
    complete: bool,
    timeout: Option<Duration>,
    sampling: SamplingParams,
    exact: Option<ExactSampling>,
    end_tokens: Vec<u32>,
    stop: Vec<String>,
    log_probabilities: bool,
    refused_mass: bool,
    prompt_lookup: usize,
    overlap: bool,
});

/// The outcome of a generation.
#[derive(Clone, Debug)]
pub struct Generation {
    /// The text, without a stop string. Invalid UTF-8 is replaced by U+FFFD.
    pub text: String,
    /// All generated tokens, including the one that ended the sequence.
    pub tokens: Vec<u32>,
    /// The natural logarithm of the probability that the model gives each token after those before it, at temperature 1
    /// and among all tokens, not only the allowed ones; empty unless they were asked for.
    pub log_probabilities: Vec<f64>,
    /// For each token, the probability, at temperature 1, of the tokens that the constraint did not allow in its place;
    /// empty unless it was asked for.
    pub refused_mass: Vec<f64>,
    /// Statistics of exact sampling, if the output was sampled exactly.
    pub exact: Option<ExactStatistics>,
    /// Why it ended.
    pub finish: FinishReason,
    /// How long it took.
    pub timings: Timings,
}

impl Generation {
    /// The log-probability of the whole output: the sum of those of its tokens.
    pub fn log_probability(&self) -> f64 {
        self.log_probabilities.iter().sum()
    }
}
