//! The rules that a guard enforces on an agent: the trait [`Rules`] and its implementations.

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
    /// The name of the tool in the rules.
    pub tool: String,
    /// By argument, the schema of its allowed values.
    pub properties: Values,
    /// Arguments that a call must have.
    pub required: Vec<String>,
}

/// A tool that the guard adds to those of the server.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnTool {
    /// The name, without the guard's prefix.
    pub name: &'static str,
    /// The description, for the agent.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Value,
}

/// The rules of an agent's calls, at a point of a session. Texts of refusals give the reason in one line.
pub trait Rules {
    /// Instructions for the agent, for the beginning of a session.
    fn about(&self) -> String;

    /// The names of the tools that the rules know, each with the arguments that a call must have.
    fn tools(&self) -> Vec<(String, Vec<String>)>;

    /// The tools that may be called now.
    fn open(&self) -> Vec<Open>;

    /// Checks a call and records it. Its result must follow.
    ///
    /// # Errors
    /// The reason why the call is not allowed; the state is then unchanged.
    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String>;

    /// Records the result of the last call. Returns the result for the log.
    ///
    /// # Errors
    /// The rules cannot continue with this result, so the call counts as failed. The error has the result for the log
    /// and the reason.
    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)>;

    /// The guard's own tools that may be called now, without the guard's prefix.
    fn own(&self) -> Vec<OwnTool>;

    /// The names of all tools that the guard may add at some time, without the guard's prefix.
    fn own_names(&self) -> Vec<&'static str>;

    /// Carries out a call of one of the guard's own tools. Returns the event for the log, and the text for the agent.
    ///
    /// # Errors
    /// The reason why the call is not allowed; the state is then unchanged.
    fn act(&mut self, tool: &str, arguments: &Values) -> Result<(Value, String), String>;

    /// Lines for the agent: what is allowed now and, for procedures, why the rest is not.
    fn feedback(&self) -> String;

    /// The line of the log for an event; `None` if such events are not logged. By default, the event in JSON.
    fn line(&self, event: &Value) -> Option<String> {
        Some(event.to_string())
    }
}
