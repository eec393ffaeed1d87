//! An environment that is a command of the operating system.

use super::{Environment, Observation, errors, step_json};
use crate::error::Result;
use crate::plan::step::Step;
use crate::syntax::automaton_spec::Spec;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Bytes of an observation, at most.
const MOST_OUTPUT: u64 = 1 << 20;
/// How often it is looked whether the command ended.
const POLL: Duration = Duration::from_millis(5);

/// Runs a command for each step: `sh -c COMMAND`, with the step as a line of JSON on its standard input (`action`, `text`, and
/// what there is of `elements` and `arguments`). What it writes is an [`Observation`] in JSON; nothing is one without an
/// outcome. A command that runs longer than its deadline is killed, with the processes of its group.
#[derive(Clone, Debug)]
pub struct CommandEnvironment {
    command: String,
    deadline: Duration,
}

impl CommandEnvironment {
    /// An environment of a command that may take as long as `deadline` for a step.
    pub fn new(command: impl Into<String>, deadline: Duration) -> CommandEnvironment {
        CommandEnvironment { command: command.into(), deadline }
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let mut command = Command::new("sh");
        command.args(["-c", &self.command]).stdin(Stdio::piped()).stdout(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.spawn()
    }
}

/// Kills a command and the processes of its group.
fn kill(child: &mut Child) {
    #[cfg(unix)]
    let _ = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", child.id())])
        .stderr(Stdio::null())
        .status();
    let _ = child.kill();
    let _ = child.wait();
}

impl Environment for CommandEnvironment {
    fn execute(&mut self, spec: &Spec, step: &Step) -> Result<Observation> {
        let id = spec.symbols().get(step.action).map_or("", |symbol| symbol.id.as_str());
        let fail = |found: String| errors::command_failed(id, found);
        let end = Instant::now() + self.deadline;
        let mut child = self.spawn().map_err(|cause| fail(cause.to_string()))?;
        let (sender, receiver) = mpsc::channel();
        if let Some(mut stdout) = child.stdout.take() {
            std::thread::spawn(move || {
                let mut written = Vec::new();
                let read = (&mut stdout).take(MOST_OUTPUT + 1).read_to_end(&mut written);
                let _ = sender.send(read.map(|_| written));
            });
        }
        if let Some(mut stdin) = child.stdin.take() {
            let input = format!("{}\n", step_json(spec, step));
            // a command that does not read its input closes it, or leaves it: neither is waited for
            std::thread::spawn(move || {
                let _ = stdin.write_all(input.as_bytes());
            });
        }
        let written = match receiver.recv_timeout(self.deadline) {
            Ok(Ok(written)) => written,
            Ok(Err(cause)) => {
                kill(&mut child);
                return Err(fail(cause.to_string()));
            }
            Err(_) => {
                kill(&mut child);
                return Err(errors::timeout(id, Some(self.deadline)));
            }
        };
        if written.len() as u64 > MOST_OUTPUT {
            kill(&mut child);
            return Err(fail(format!("it wrote more than {MOST_OUTPUT} bytes")));
        }
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < end => std::thread::sleep(POLL),
                Ok(None) => {
                    kill(&mut child);
                    return Err(errors::timeout(id, Some(self.deadline)));
                }
                Err(cause) => return Err(fail(cause.to_string())),
            }
        };
        if !status.success() {
            return Err(fail(status.to_string()));
        }
        if written.iter().all(u8::is_ascii_whitespace) {
            return Ok(Observation::default());
        }
        serde_json::from_slice(&written)
            .map_err(|cause| fail(format!("what it wrote is no observation: {cause}")))
    }
}
