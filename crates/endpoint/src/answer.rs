//! Answers of a model: texts and calls of tools.

use serde_json::Value;
use std::time::Duration;

/// A call of a tool, as the model wrote it, unchecked.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The name of the tool.
    pub name: String,
    /// The arguments; a text if they are not JSON.
    pub arguments: Value,
}

/// An answer of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// The calls of tools.
    pub calls: Vec<Call>,
    /// Whether the bound on tokens ended the answer early.
    pub is_cut: bool,
}

/// Counts of requests, tokens and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests that were answered.
    pub answers: u64,
    /// Requests that were sent, including failed and refused ones.
    pub sent: u64,
    /// Tokens of prompts, as the server counts them.
    pub prompt_tokens: u64,
    /// Tokens of answers, as the server counts them.
    pub answer_tokens: u64,
    /// Answers without a count of tokens.
    pub uncounted: u64,
    /// Time until the answers were complete, including failed tries.
    pub time: Duration,
}
