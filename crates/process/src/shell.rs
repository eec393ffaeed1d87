//! Running shell commands with a deadline and a bound on their output.

use crate::group::Group;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The interval between two checks of whether a command has ended.
const POLL: Duration = Duration::from_millis(5);

/// The reason why a command gave no usable output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellError {
    /// The command could not be run, failed, or wrote too much.
    Failed(String),
    /// The command ran longer than its deadline.
    Timeout,
}

/// Runs `sh -c COMMAND` with `input` on its standard input, and returns its standard output.
///
/// The processes of the command's group are killed when the function returns, so a command cannot leave any behind.
///
/// # Errors
/// [`ShellError::Timeout`] if the command runs longer than `deadline`; [`ShellError::Failed`] if it cannot be run, its
/// exit status is not 0, or it writes more than `most_output` bytes.
pub fn run_shell(
    command: &str,
    input: String,
    deadline: Duration,
    most_output: u64,
) -> Result<Vec<u8>, ShellError> {
    let fail = |cause: std::io::Error| ShellError::Failed(cause.to_string());
    let start = Instant::now();
    let mut group = spawn(command).map_err(fail)?;
    let child = group.child();
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut written = Vec::new();
            let read = (&mut stdout).take(most_output.saturating_add(1)).read_to_end(&mut written);
            let _ = sender.send(read.map(|_| written));
        });
    }
    if let Some(mut stdin) = child.stdin.take() {
        // a command may close its input or never read it, so the write is not waited for
        std::thread::spawn(move || {
            let _ = stdin.write_all(input.as_bytes());
        });
    }
    let written = match receiver.recv_timeout(deadline) {
        Ok(written) => written.map_err(fail)?,
        Err(_) => return Err(ShellError::Timeout),
    };
    if written.len() as u64 > most_output {
        return Err(ShellError::Failed(format!("it wrote more than {most_output} bytes")));
    }
    let status = loop {
        match child.try_wait().map_err(fail)? {
            Some(status) => break status,
            None if start.elapsed() < deadline => std::thread::sleep(POLL),
            None => return Err(ShellError::Timeout),
        }
    };
    if status.success() { Ok(written) } else { Err(ShellError::Failed(status.to_string())) }
}

fn spawn(command: &str) -> std::io::Result<Group> {
    let mut shell = Command::new("sh");
    Group::start(shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()))
}
