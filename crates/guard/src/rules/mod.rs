//! What an agent is held to: the seam between the guard and what says which tools may be called.

mod flow;
mod observed;
mod plan;
mod procedure;
mod tools;

pub use flow::FlowRules;
pub use plan::PlanRules;
pub use procedure::{ProcedureOptions, ProcedureRules};
pub use tools::ToolRules;

use crate::outcome::Outcome;
use serde_json::{Map, Value};

/// Arguments by name.
pub type Values = Map<String, Value>;

/// A tool that may be called now.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// Its name in the rules.
    pub tool: String,
    /// By argument, the schema of the values that it may have.
    pub properties: Values,
    /// Arguments that a call must have.
    pub required: Vec<String>,
}

/// A tool that the guard adds to those of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnTool {
    /// The name, without the guard's prefix.
    pub name: &'static str,
    /// What it does, for the agent.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Value,
}

/// What an agent is held to. A text that refuses something gives the reason in one line.
pub trait Rules {
    /// What the agent has to know before it begins.
    fn about(&self) -> String;

    /// The names of the tools that the rules know, each with the arguments that a call must have.
    fn tools(&self) -> Vec<(String, Vec<String>)>;

    /// The tools that may be called now.
    fn open(&self) -> Vec<Open>;

    /// Follows a call, whose result is to come next.
    ///
    /// # Errors
    /// The reason why it may not come; nothing has changed then.
    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String>;

    /// Follows the result of the last call. Returns it as it is logged.
    ///
    /// # Errors
    /// The reason why it cannot be followed, after the result that was followed in its place: the call counts as
    /// failed.
    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)>;

    /// The guard's own tools that may be called now.
    fn own(&self) -> Vec<OwnTool>;

    /// The names of all tools that the guard may add.
    fn own_names(&self) -> Vec<&'static str>;

    /// Follows a call of one of the guard's own tools. Returns the event for the log, and what the agent is told.
    ///
    /// # Errors
    /// The reason why it may not come; nothing has changed then.
    fn act(&mut self, tool: &str, arguments: &Values) -> Result<(Value, String), String>;

    /// Lines that say what may come now, and why the rest may not.
    fn feedback(&self) -> String;

    /// The line of the log for an event; `None` if the log does not have such events. By default, the event in JSON.
    fn line(&self, event: &Value) -> Option<String> {
        Some(event.to_string())
    }
}
