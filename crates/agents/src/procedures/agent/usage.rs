//! What agents cost.

use std::time::Duration;

/// What an agent was asked, and how long that took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Prompts answered.
    pub calls: usize,
    /// Tokens that the model was fed; what two prompts begin with alike is fed once.
    pub tokens: usize,
    /// Time in the model.
    pub model: Duration,
    /// Time in all: with prompts, grammars and masks.
    pub all: Duration,
    /// Grammars compiled.
    pub grammars: usize,
}
