//! A model's answers, and counts of the requests for them.

use serde_json::Value;
use std::time::Duration;

/// A call of a tool, as the model wrote it. Neither the name nor the arguments are checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name of the tool.
    pub name: String,
    /// The arguments, of any JSON type. If the model's text is not JSON, a JSON string with this text.
    pub arguments: Value,
}

/// An answer of a model: a text, calls of tools, or both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The text; empty if there is none.
    pub text: String,
    /// The calls of tools, in the model's order.
    pub calls: Vec<Call>,
    /// Whether the answer is truncated by a bound on tokens.
    pub is_cut: bool,
}

/// Counts of requests and tokens, and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of requests that were answered.
    pub answers: u64,
    /// Number of requests that were sent, each try counted, including failed and refused ones.
    pub sent: u64,
    /// Tokens of prompts, as the server counts them.
    pub prompt_tokens: u64,
    /// Tokens of answers, as the server counts them.
    pub answer_tokens: u64,
    /// Number of answers for which the server sent no count of tokens.
    pub uncounted: u64,
    /// Time spent on requests, including failed ones and pauses between tries.
    pub time: Duration,
}
