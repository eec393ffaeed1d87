//! Settings and statistics of exact sampling.

use super::errors;
use super::sampling::SamplingParams;
use grammata::error::Result;
use std::fmt;
use std::time::Duration;

grammata_base::options! {
    /// Settings of exact sampling: texts are drawn from the model's distribution, conditioned on the constraint.
    ///
    /// Masks alone rescale the probabilities of each step, which favours texts whose later steps the model finds
    /// improbable. Exact sampling draws from the model without rescaling, refuses a text as soon as it leaves the
    /// constraint, and begins again. It remembers the refused probability below each prefix, so that, as long as memory
    /// suffices, no try ends in the same way twice (adaptive rejection: ASAp, Park et al. 2024; CARS, arXiv
    /// 2510.01902).
    ///
    /// The distribution: let q(s) be the product of the model's probabilities of the tokens s at the temperature, among
    /// all its tokens. Let S be the outputs that the decoder can give: token sequences after which it ends, each
    /// complete within `max_tokens` and the context. Output s of S has the probability q(s) / sum of q over S. Three
    /// ends count. After an end token, q includes that token's probability. After a word that nothing may follow, and
    /// after a word that fills `max_tokens` or the context, no end token is needed. With
    /// [`complete`](crate::GenerationOptions::complete) off, every prefix that fills `max_tokens` or the context counts
    /// too. A text before a stop string counts as soon as the stop string is there.
    ///
    /// The temperature must be more than 0. Top-k, top-p, min-p and repetition penalty must be off.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct ExactSampling {
        /// The most tries for one output; at least one is made. 1,000 by default. If all of them are refused, the
        /// output ends without a text ([`FinishReason::Exhausted`](crate::FinishReason::Exhausted)).
        pub tries: usize = 1_000,
        /// The most bytes for remembered prefixes. 256 MiB by default. When they are used up, no more prefixes are
        /// remembered; outputs keep their distribution, and need more tries.
        pub memory_bytes: usize = 256 << 20,
    }
}

/// Statistics of exact sampling for one output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ExactStatistics {
    /// Number of tries that were made, including the last one.
    pub tries: usize,
    /// Number of prefixes that are remembered, including those from earlier outputs of the same decoder.
    pub prefixes: usize,
    /// Probability of the model's texts that are known not to be outputs, from 0 to 1: a lower bound of the probability
    /// that the constraint and the limits refuse.
    pub refused_mass: f64,
}

/// Why exact sampling gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Exhaustion {
    /// The number of tries in [`ExactSampling::tries`] is used up.
    Tries,
    /// The time limit of the output was reached. The value is the limit.
    Time(Duration),
    /// The model gives no output within the limits a probability.
    NoOutput,
}

impl fmt::Display for Exhaustion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exhaustion::Tries => f.write_str("no more tries are allowed"),
            Exhaustion::Time(limit) => write!(f, "{limit:?} are over"),
            Exhaustion::NoOutput => f.write_str("the model gives no output within the limits a probability"),
        }
    }
}

/// Refuses sampling settings that exact sampling does not support.
///
/// # Errors
/// `decode/exact-sampling`: the temperature is not above 0, or a filter or the repetition penalty is on.
pub(super) fn check(sampling: &SamplingParams) -> Result<()> {
    let SamplingParams { temperature, top_k, top_p, min_p, repetition_penalty, .. } = sampling;
    let checks = [
        ("temperature", *temperature > 0.0, temperature.to_string()),
        ("top_k", *top_k == 0, top_k.to_string()),
        ("top_p", *top_p == 1.0, top_p.to_string()),
        ("min_p", *min_p == 0.0, min_p.to_string()),
        ("repetition_penalty", *repetition_penalty == 1.0, repetition_penalty.to_string()),
        ("frequency_penalty, presence_penalty or logit_bias", !sampling.adjusts(), "a value".to_owned()),
    ];
    match checks.into_iter().find(|(_, fine, _)| !fine) {
        Some((name, _, found)) => Err(errors::exact_sampling(name, &found)),
        None => Ok(()),
    }
}
