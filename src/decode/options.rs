//! Settings of a generation, and what it gives.

use super::finish::FinishReason;
use super::sampler::SamplingParams;
use super::timings::Timings;

/// Settings of one generation.
#[derive(Clone, Debug)]
pub struct GenerationOptions {
    /// The most tokens to generate. 512 by default.
    pub max_tokens: usize,
    /// How tokens are chosen. Greedy by default.
    pub sampling: SamplingParams,
    /// Ids that end the sequence (end of text, end of turn). None by default.
    pub end_tokens: Vec<u32>,
    /// Texts at which to stop; they are not part of the output. None by default.
    pub stop: Vec<String>,
    /// Computes the log-probability of each token, of forced ones too. Off by default: it takes a pass over the logits of
    /// each token, and one more run of the model where the output ends in forced tokens.
    pub log_probabilities: bool,
}

impl Default for GenerationOptions {
    fn default() -> GenerationOptions {
        GenerationOptions {
            max_tokens: 512,
            sampling: SamplingParams::default(),
            end_tokens: Vec::new(),
            stop: Vec::new(),
            log_probabilities: false,
        }
    }
}

/// The outcome of a generation.
#[derive(Clone, Debug)]
pub struct Generation {
    /// The text, without a stop string; bytes that are no UTF-8 are U+FFFD.
    pub text: String,
    /// All tokens generated, the one that ended the sequence among them.
    pub tokens: Vec<u32>,
    /// The natural logarithm of the probability that the model gives each token after those before it, at temperature 1
    /// and among all tokens, not only the allowed ones; empty unless they were asked for.
    pub log_probabilities: Vec<f64>,
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
