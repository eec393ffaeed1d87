//! A command of the operating system that answers requests.

use super::errors;
use grammata::error::Result;
use grammata_endpoint::{Answer, Call, Chat, Form, Request, Usage};
use grammata_process::{ShellError, run_shell};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// The maximum length of a command's output, in bytes.
const MOST_OUTPUT: u64 = 1 << 20;

/// Runs a command for each request: `sh -c COMMAND`, with a line of JSON on its standard input. Its members are
/// `question`, the last message; `messages`, all of them as `{"role", "content"}`; and, depending on the form,
/// `choices` (the answer must be one of these texts) or `schema` (a JSON Schema of the answer). The trimmed output of
/// the command is the answer: UTF-8, at most 1 MiB. If tools may be called, an output `{"calls": [{"name",
/// "arguments"}]}` is read as calls. A command that runs longer than its deadline is killed, with the processes of its
/// group.
#[derive(Clone, Debug)]
pub struct CommandChat {
    command: String,
    deadline: Duration,
    usage: Usage,
}

impl CommandChat {
    /// Creates a command that must answer within `deadline`.
    pub fn new(command: impl Into<String>, deadline: Duration) -> CommandChat {
        CommandChat { command: command.into(), deadline, usage: Usage::default() }
    }
}

/// Returns the request as the line of JSON that the command reads.
fn line(request: &Request) -> String {
    let messages: Vec<Value> = request
        .messages
        .iter()
        .map(|message| json!({"role": message.role.name(), "content": message.text}))
        .collect();
    let question = request.messages.last().map_or("", |message| message.text.as_str());
    let mut object = json!({"question": question, "messages": messages});
    match (&request.form, request.form.schema()) {
        (Form::Choice(texts), _) => object["choices"] = json!(texts),
        (_, Some(schema)) => object["schema"] = schema,
        _ => {}
    }
    format!("{object}\n")
}

impl Chat for CommandChat {
    fn ask(&mut self, request: &Request) -> Result<Answer> {
        let start = Instant::now();
        self.usage.sent += 1;
        let written = run_shell(&self.command, line(request), self.deadline, MOST_OUTPUT).map_err(
            |error| match error {
                ShellError::Failed(found) => errors::command(&self.command, &found),
                ShellError::Timeout => errors::timeout(&self.command, self.deadline),
            },
        )?;
        self.usage.time += start.elapsed();
        let text = String::from_utf8(written)
            .map_err(|_| errors::command(&self.command, "an answer that is not UTF-8"))?;
        self.usage.answers += 1;
        self.usage.uncounted += 1;
        let calls = match &request.form {
            Form::Tools { .. } => calls(&text).unwrap_or_default(),
            _ => Vec::new(),
        };
        Ok(Answer { text: text.trim().to_owned(), calls, is_cut: false })
    }

    fn usage(&self) -> Usage {
        self.usage
    }
}

/// Returns the calls of an object `{"calls": [{"name", "arguments"}]}`; `None` for any other text.
fn calls(text: &str) -> Option<Vec<Call>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let call = |call: &Value| {
        let name = call.get("name")?.as_str()?.to_owned();
        Some(Call { name, arguments: call.get("arguments")?.clone() })
    };
    value.get("calls")?.as_array()?.iter().map(call).collect()
}
