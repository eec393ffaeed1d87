//! Costs of agents.

use std::time::Duration;

/// The costs of an agent: prompts, tokens and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompts answered.
    pub calls: usize,
    /// Tokens that the model was fed; a common prefix of two prompts is fed once.
    pub tokens: usize,
    /// Time in the model.
    pub model: Duration,
    /// Time in all: with prompts, grammars and masks.
    pub all: Duration,
    /// Grammars compiled.
    pub grammars: usize,
}
