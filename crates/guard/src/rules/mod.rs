//! Rules that a guard enforces on an agent: the trait [`Rules`] and its implementations.

mod events;
mod flow;
mod names;
mod observed;
mod plan;
mod procedure;
mod question;
mod reasons;
mod response;
mod resumable;
mod tools;
mod wishes;

pub use flow::FlowRules;
pub use names::ClientNames;
pub use plan::PlanRules;
pub use procedure::{ProcedureOptions, ProcedureRules};
pub use question::{Ask, Field, Question, Reply};
pub use resumable::ResumableRules;
pub use tools::ToolRules;
pub use wishes::{WishRules, Wishes};

use crate::outcome::Outcome;
use grammata::diagnostic::visible_json;
use grammata::error::Error;
use serde_json::{Map, Value};
use std::time::Duration;

/// Arguments by name.
pub type Values = Map<String, Value>;

/// A tool that may be called now.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The name of the tool in the rules.
    pub tool: String,
    /// The JSON Schema of the allowed values of each argument, by the name of the argument.
    pub properties: Values,
    /// Arguments that a call must have.
    pub required: Vec<String>,
}

/// A tool that the guard adds to the server's tools.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnTool {
    /// The name, without the guard's prefix.
    pub name: &'static str,
    /// The description, for the agent.
    pub description: String,
    /// The JSON Schema of the arguments.
    pub schema: Value,
}

/// The rules of an agent's calls, with the current state of a session. The text of a refusal is a reason in one line.
pub trait Rules {
    /// Returns instructions for the agent, which are sent at the beginning of a session.
    fn about(&self) -> String;

    /// Returns the names of all tools of the rules, each with the arguments that the server's tool must have, because
    /// the rules bind them.
    fn tools(&self) -> Vec<(String, Vec<String>)>;

    /// Reads the names of the server's tools, whenever they were listed. By default, rules know their tools without.
    ///
    /// # Errors
    /// The rules need a tool that the server lacks.
    fn bind(&mut self, _tools: &[&str]) -> Result<(), Error> {
        Ok(())
    }

    /// Reads the time, as the time since 1970. It is called before each call.
    fn at(&mut self, _now: Duration) {}

    /// Returns the name that a tool of the rules has on the server, if the rules declare it; `None` if the names are
    /// equal.
    fn server_name(&self, _tool: &str) -> Option<&str> {
        None
    }

    /// Sets the names of tools that texts for the agent use. By default the names of the rules are kept.
    fn use_names(&mut self, _names: ClientNames) {}

    /// Returns the tools of the rules that may be called now.
    fn open(&self) -> Vec<Open>;

    /// Returns whether the rules govern an argument of a tool. By default they govern all. An argument that they do not
    /// govern is passed on unchecked if the server's schema lists it, and the rules do not see it.
    fn governs(&self, _tool: &str, _argument: &str) -> bool {
        true
    }

    /// Returns whether the rules check the arguments that they govern. By default they do.
    fn checks_arguments(&self) -> bool {
        true
    }

    /// Returns whether a tool of the rules is never open. By default none is.
    fn hides(&self, _tool: &str) -> bool {
        false
    }

    /// Returns lines for the person who sets a guard up, about what the tools alone do not show: what a person decides,
    /// and what is hidden or limited. By default there are none.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the arguments of a call by the names that the rules use. By default the names are those of the tool.
    ///
    /// # Errors
    /// A reason: an argument has a name that only the rules use.
    fn named(&self, _tool: &str, arguments: Values) -> Result<Values, String> {
        Ok(arguments)
    }

    /// Checks a call, whose arguments have the names that the rules use, and records it. [`result`](Rules::result) must
    /// be called next.
    ///
    /// # Errors
    /// The reason why the call is not allowed; the state is then unchanged.
    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String>;

    /// Records the result of the last call. Returns the data of the result's event for the log. Without a call that
    /// waits for its result, nothing is recorded, and the data is empty.
    ///
    /// # Errors
    /// The rules cannot continue with this result, so the call counts as failed. The error has the data of the event
    /// for the log, and the reason.
    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)>;

    /// Returns the guard's own tools that may be called now, without the guard's prefix.
    fn own(&self) -> Vec<OwnTool> {
        Vec::new()
    }

    /// Returns the names of all tools that the guard may add during a session, without the guard's prefix.
    fn own_names(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Carries out a call of one of the guard's own tools. Returns the events for the log and the text for the agent.
    ///
    /// # Errors
    /// The reason why the call is not allowed; the state is then unchanged.
    fn act(&mut self, _tool: &str, _arguments: &Values) -> Result<(Vec<Value>, String), String> {
        Err("with these rules the guard has no tools of its own".to_owned())
    }

    /// Removes and returns the question that the last [`call`](Rules::call) or [`act`](Rules::act) has raised. After a
    /// refused `call`, the call may be repeated when the person has accepted. If there is a question,
    /// [`reply`](Rules::reply) must be called next.
    fn question(&mut self) -> Option<Question> {
        None
    }

    /// Records the reply to the last question. Returns the events for the log and the text for the agent.
    ///
    /// # Errors
    /// The reason why nothing is decided; the state is then unchanged.
    fn reply(&mut self, reply: Reply) -> Result<(Vec<Value>, String), String> {
        drop(reply);
        Err("nothing was asked".to_owned())
    }

    /// Returns whether the agent may end now without a call of one of the guard's own tools. By default not.
    fn may_end(&self) -> bool {
        false
    }

    /// Returns the log line of an event: by default, the event in JSON without raw control characters. `None` if such
    /// events are not logged.
    fn line(&self, event: &Value) -> Option<String> {
        visible_json(event).ok()
    }
}
