//! APIs that a command of the operating system carries out.

use crate::plan::CommandEnvironment;
use grammata::error::Result;
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::{Environment, Observation, Step, step_json};
use grammata_agents::procedures::{Procedure, Values};
use serde_json::{Value, json};
use std::time::Duration;

/// Runs a command for each call, as a [`CommandEnvironment`] does. If the API names a tool of a document, the input
/// line also has the call in the names of that document, as `tool` with `name` and `arguments`, and its HTTP request as
/// `request`. `request` is null if no request can be built, for instance because the tool has none or the document
/// names no server.
#[derive(Debug)]
pub struct CommandApis<'p> {
    command: CommandEnvironment,
    procedures: &'p [Procedure],
}

impl<'p> CommandApis<'p> {
    /// Creates the APIs of the given procedures. A call that runs longer than `deadline` is killed and fails.
    pub fn new(
        command: impl Into<String>,
        deadline: Duration,
        procedures: &'p [Procedure],
    ) -> CommandApis<'p> {
        CommandApis { command: CommandEnvironment::new(command, deadline), procedures }
    }
}

impl Environment for CommandApis<'_> {
    fn execute(&mut self, spec: &Spec, step: &Step) -> Result<Observation> {
        let id = spec.symbols().get(step.action).map_or("", |symbol| symbol.id.as_str());
        let mut line = step_json(spec, step);
        // the symbols of a spec are the APIs of one procedure
        let is_of =
            |procedure: &&Procedure| spec.symbols().iter().all(|symbol| procedure.node(&symbol.id).is_some());
        let procedure = self.procedures.iter().find(is_of);
        let node = procedure.and_then(|procedure| Some(&procedure.nodes()[procedure.node(id)?]));
        if let Some(tool) = node.and_then(|node| node.tool.as_deref()) {
            let empty = Values::new();
            let slots = step.arguments.as_ref().and_then(Value::as_object).unwrap_or(&empty);
            line["tool"] = json!({ "name": tool.tool.name, "arguments": tool.arguments(slots) });
            let request = tool.request(slots).ok().flatten();
            line["request"] = request.map_or(Value::Null, |request| {
                json!({
                    "method": request.method,
                    "url": request.url,
                    "headers": request.headers,
                    "body": request.body,
                })
            });
        }
        self.command.send(id, &line)
    }
}
