//! Policies that ask a language model, a chat model or a person, and environments that carry steps out.

mod chat;
mod command;
mod errors;
mod interactive;
mod mock;
mod model;

pub use chat::ChatPolicy;
pub use command::CommandEnvironment;
pub use interactive::InteractivePolicy;
pub use mock::MockEnvironment;
pub use model::{
    ModelPolicy, ModelUse, PROMPT_MODES, PromptEncoder, PromptMode, PromptOptions, Written, answers,
};
