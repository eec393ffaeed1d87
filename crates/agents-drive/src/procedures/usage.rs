//! Costs of agents.

use std::time::Duration;

/// The costs of an agent: prompts, tokens and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The number of answered prompts.
    pub calls: usize,
    /// Tokens. A local model counts those that it was fed, where a common prefix of two consecutive prompts is fed
    /// once. A chat model counts those of prompts and answers, as its server reports them.
    pub tokens: usize,
    /// Time that the model took.
    pub model: Duration,
    /// Total time, including that for prompts, grammars and masks.
    pub all: Duration,
    /// The number of compiled grammars.
    pub grammars: usize,
}
