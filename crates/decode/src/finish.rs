//! Why a generation ended.

use super::exact::Exhaustion;
use std::fmt;
use std::time::Duration;

/// The relation of the output to the language of the constraint when the generation was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputStatus {
    /// There is no constraint.
    Unconstrained,
    /// The output is only a prefix of a word of the grammar.
    Prefix,
    /// The output is a word of the grammar, though a longer word might have followed.
    Word,
}

impl fmt::Display for OutputStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OutputStatus::Unconstrained => "the output may be incomplete",
            OutputStatus::Prefix => "the output is only a prefix of a word of the grammar, not a word",
            OutputStatus::Word => "the output is a word of the grammar, but more might have followed",
        })
    }
}

/// Why a generation ended. Its `Display` form is a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinishReason {
    /// The output is a word of the grammar that nothing may follow.
    Complete,
    /// The model ended the sequence with an end token.
    EndOfSequence,
    /// `max_tokens` tokens were generated.
    TokenLimit {
        /// The limit, in tokens.
        limit: usize,
        /// The relation of the output to the grammar.
        status: OutputStatus,
    },
    /// The model's context is full.
    ContextLimit {
        /// The length of the context, in tokens, for prompt and output together.
        limit: usize,
        /// The relation of the output to the grammar.
        status: OutputStatus,
    },
    /// The output reached a stop string.
    StopString {
        /// The stop string that was reached.
        stop: String,
        /// The relation of the generated tokens, those of the stop string included, to the grammar.
        status: OutputStatus,
    },
    /// The time limit of the options was reached.
    Timeout {
        /// The time limit that was reached.
        limit: Duration,
        /// The relation of the output to the grammar.
        status: OutputStatus,
    },
    /// Exact sampling found no output; the text is empty.
    Exhausted {
        /// Number of tries that were made.
        tries: usize,
        /// Why there was no further try.
        cause: Exhaustion,
    },
    /// The decoder was closed before it ended.
    Abandoned,
}

impl FinishReason {
    /// Returns whether the output is complete: the grammar or the model ended it, a limit truncated it at a word of the
    /// grammar, or it reached a stop string and has no constraint.
    pub fn is_complete(&self) -> bool {
        match self {
            FinishReason::Complete | FinishReason::EndOfSequence => true,
            FinishReason::TokenLimit { status, .. }
            | FinishReason::ContextLimit { status, .. }
            | FinishReason::Timeout { status, .. } => *status == OutputStatus::Word,
            FinishReason::StopString { status, .. } => *status == OutputStatus::Unconstrained,
            FinishReason::Exhausted { .. } | FinishReason::Abandoned => false,
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FinishReason::Complete => f.write_str("the output is complete: the grammar allows nothing more"),
            FinishReason::EndOfSequence => f.write_str("the model ended the output"),
            FinishReason::TokenLimit { limit, status } => {
                write!(f, "stopped at the limit of {limit} tokens: {status}")
            }
            FinishReason::ContextLimit { limit, status } => {
                write!(f, "stopped because the model's context of {limit} tokens is full: {status}")
            }
            FinishReason::StopString { stop, status } => {
                write!(f, "stopped at the stop string {stop:?}: {status}")
            }
            FinishReason::Timeout { limit, status } => {
                write!(f, "stopped after {limit:?}, the time that it had: {status}")
            }
            FinishReason::Exhausted { tries, cause } => {
                write!(f, "exact sampling found no output in {tries} tries: {cause}")
            }
            FinishReason::Abandoned => {
                f.write_str("the caller stopped the generation: the output may be incomplete")
            }
        }
    }
}
