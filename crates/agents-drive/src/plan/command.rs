//! An environment that is a command of the operating system.

use super::errors;
use grammata::error::Result;
use grammata::syntax::automaton_spec::Spec;
use grammata_agents::plan::{Environment, Observation, Step, step_json};
use grammata_process::{ShellError, run_shell};
use serde_json::Value;
use std::time::Duration;

/// The maximum number of bytes of the command's output for one step.
const MOST_OUTPUT: u64 = 1 << 20;

/// Runs a command for each step: `sh -c COMMAND`, with the step as a line of JSON on its standard input (`action`,
/// `text`, and, if the step has them, `elements` and `arguments`). The output of the command is an [`Observation`] as a
/// JSON object; an empty output counts as an observation without an outcome. A command that runs longer than its
/// deadline is killed, with the processes of its group.
#[derive(Clone, Debug)]
pub struct CommandEnvironment {
    command: String,
    deadline: Duration,
}

impl CommandEnvironment {
    /// Creates an environment that runs `command` and allows it at most `deadline` for a step.
    pub fn new(command: impl Into<String>, deadline: Duration) -> CommandEnvironment {
        CommandEnvironment { command: command.into(), deadline }
    }
}

impl Environment for CommandEnvironment {
    fn execute(&mut self, spec: &Spec, step: &Step) -> Result<Observation> {
        let id = spec.symbols().get(step.action).map_or("", |symbol| symbol.id.as_str());
        self.send(id, &step_json(spec, step))
    }
}

impl CommandEnvironment {
    /// Runs the command with `line` on its standard input, and parses its output. `id` names the action in errors.
    ///
    /// # Errors
    /// Those of [`execute`](Environment::execute).
    pub(crate) fn send(&self, id: &str, line: &Value) -> Result<Observation> {
        let written =
            run_shell(&self.command, format!("{line}\n"), self.deadline, MOST_OUTPUT).map_err(|error| {
                match error {
                    ShellError::Failed(found) => errors::command_failed(id, found),
                    ShellError::Timeout => errors::timeout(id, Some(self.deadline)),
                }
            })?;
        let text = written.trim_ascii();
        if text.is_empty() {
            return Ok(Observation::default());
        }
        let wrong = |cause: &dyn std::fmt::Display| format!("its output is not an observation: {cause}");
        // serde reads structs from arrays too
        if text.first() != Some(&b'{') {
            return Err(errors::command_failed(id, wrong(&"not a JSON object")));
        }
        serde_json::from_slice(text).map_err(|cause| errors::command_failed(id, wrong(&cause)))
    }
}
