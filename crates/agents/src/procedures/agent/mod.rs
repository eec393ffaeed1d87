//! The driver: a session of an agent with a user and with APIs.
//!
//! An [`Agent`] writes one step at a time, under a grammar of what is offered ([`ModelAgent`]) or not; a [`User`] answers; an
//! [`Environment`](crate::plan::Environment) carries calls out. [`run`] brings them together and gives a [`Record`]. How much an
//! agent is bound is said by [`AgentOptions`]: a mask over nodes and arguments, or the published controllers, which refuse an act
//! after it was written.

mod apis;
mod chat;
mod controllers;
mod decision;
mod driver;
mod errors;
mod model;
mod model_user;
mod options;
mod picture;
mod prompt;
mod record;
mod rule;
mod simulation;
mod usage;
mod user;

pub use apis::{Rows, SimulatedApis};
pub use chat::ChatAgent;
pub use controllers::{Controllers, Quirks};
pub use decision::DecisionRequest;
pub use driver::{RunOptions, run};
pub use model::ModelAgent;
pub use model_user::ModelUser;
pub use options::{AgentOptions, Mask};
pub use picture::picture;
pub use record::{Ending, Entry, Record};
pub use rule::RuleAgent;
pub use simulation::{Expected, OutOfWorkflow, Simulation, UserScript};
pub use usage::Usage;
pub use user::{AskedUser, Reply, Said, ScriptedUser, User};

use super::conversation::Conversation;
use super::conversation::step::Offer;
use grammata::error::Result;
use serde_json::Value;

/// What an agent sees when it is to write a step.
#[derive(Debug)]
pub struct Situation<'a, 'w> {
    /// The conversation.
    pub conversation: &'a Conversation<'w>,
    /// What happened so far.
    pub record: &'a Record,
    /// What may come; everything, where there is no mask.
    pub offers: &'a [Offer],
    /// How it is bound.
    pub binding: &'a AgentOptions,
    /// What the controllers said of the last try.
    pub refusals: &'a [String],
}

/// Who writes the steps.
pub trait Agent {
    /// One step as a text in the format of the options.
    ///
    /// # Errors
    /// The agent fails.
    fn write(&mut self, situation: &Situation<'_, '_>) -> Result<String>;

    /// What the user decided with a reply to an answer; `None` if that is not clear.
    ///
    /// # Errors
    /// The agent fails.
    fn decide(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>>;

    /// What it was asked to do so far.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}
