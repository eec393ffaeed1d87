//! The driver: a session of an agent with a user and with APIs.
//!
//! An [`Agent`] writes one step at a time, with or without a grammar of the offered steps ([`ModelAgent`]); a [`User`]
//! answers; an [`Environment`](grammata_agents::plan::Environment) carries calls out. [`run`] combines them and returns a
//! [`Record`]. [`AgentOptions`] configure how the agent is bound: a mask over nodes and arguments, or the published
//! controllers, which refuse an act after it was written.

mod apis;
mod chat;
mod chat_user;
mod command;
mod controllers;
mod decision;
mod driver;
mod errors;
mod model;
mod model_user;
mod nearest;
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
pub use chat_user::ChatUser;
pub use command::CommandApis;
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

use grammata::error::Result;
use grammata_agents::procedures::{Conversation, Offer};
use serde_json::Value;

/// The situation in which an agent writes a step.
#[derive(Debug)]
pub struct Situation<'a, 'w> {
    /// The conversation.
    pub conversation: &'a Conversation<'w>,
    /// The events so far.
    pub record: &'a Record,
    /// The offered steps; empty if there is no mask.
    pub offers: &'a [Offer],
    /// The options that bind the agent.
    pub binding: &'a AgentOptions,
    /// Why the steps since the last accepted act of this turn were refused or not readable, the oldest first.
    pub refusals: &'a [String],
}

/// An author of steps.
pub trait Agent {
    /// Writes one step in the call format of the options, or, if there is none, in their step format.
    ///
    /// # Errors
    /// The agent fails.
    fn write(&mut self, situation: &Situation<'_, '_>) -> Result<String>;

    /// Returns the value of the choice that the user made with a reply to an answer: null if the user drops the
    /// request. Returns `None` if the reply is unclear.
    ///
    /// # Errors
    /// The agent fails.
    fn decide(&mut self, request: &DecisionRequest<'_>) -> Result<Option<Value>>;

    /// Returns the costs so far. The default is zero costs.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}
