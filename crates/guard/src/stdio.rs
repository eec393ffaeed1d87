//! A guard between a client on two streams and a server that runs as a child.
//!
//! A thread reads each side and a thread writes to each, so that neither side can keep the guard from the other one.
//! What waits to be read or written is bounded.

use crate::errors;
use crate::guard::{Action, Guard};
use crate::wire::{Line, read_line};
use grammata::error::{Error, Result};
use serde_json::Value;
use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

/// Lines that were read and wait, at most.
const MOST_READ: usize = 4;
/// Bytes that wait to be written to a side, at most.
const MOST_WRITTEN: usize = 64 << 20;
/// How long the server may take for the last answers, after the client has closed its stream.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long a side may take to read what was written, and the server to end.
const GRACE: Duration = Duration::from_secs(2);
/// How often a child that is to end is looked for.
const POLL: Duration = Duration::from_millis(10);

/// The streams of a client, and where the events of the session go.
pub struct Ends<'e> {
    /// What the client writes.
    pub input: Box<dyn Read + Send>,
    /// What the client reads.
    pub output: Box<dyn Write + Send>,
    /// The log, with its name for errors.
    pub log: Option<(&'e Path, &'e mut dyn Write)>,
    /// Takes remarks on broken messages.
    pub note: &'e mut dyn FnMut(&str),
    /// Bytes of a line, at most.
    pub line_bytes: usize,
}

impl std::fmt::Debug for Ends<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ends").field("line_bytes", &self.line_bytes).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Client,
    Server,
}

/// A line of a side; `None` if it has ended.
type FromSide = (Side, Option<Line>);

/// Runs a server and guards it until the client or the server ends.
///
/// # Errors
/// `guard/start`; `guard/server-ended` if the server ends first; what stops the guard; a log that cannot be written.
pub fn run(guard: &mut Guard<'_>, command: &mut Command, ends: Ends<'_>) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.map_err(|cause| errors::start(&name, &cause))?;
    let outcome = match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Proxy::new(guard, input, output, ends).run(&mut child),
        _ => Ok(()),
    };
    if ended(&mut child).is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    outcome
}

/// Waits for a child to end, but not for long.
fn ended(child: &mut Child) -> Option<ExitStatus> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if start.elapsed() < GRACE => std::thread::sleep(POLL),
            status => return status.ok().flatten(),
        }
    }
}

/// A thread that writes lines to a side.
struct Outbox {
    side: &'static str,
    lines: Option<Sender<String>>,
    bytes: Arc<AtomicUsize>,
}

impl Outbox {
    fn new(side: &'static str, mut stream: impl Write + Send + 'static) -> Outbox {
        let (lines, waiting) = channel::<String>();
        let bytes = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let mut is_open = true;
            for line in waiting {
                let length = line.len();
                // lines for a side that is gone are dropped
                is_open = is_open
                    && stream.write_all(line.as_bytes()).is_ok()
                    && stream.write_all(b"\n").is_ok()
                    && stream.flush().is_ok();
                left.fetch_sub(length, Ordering::Release);
            }
        });
        Outbox { side, lines: Some(lines), bytes }
    }

    /// Gives the line to the thread.
    fn send(&self, line: String) -> Result<()> {
        let before = self.bytes.fetch_add(line.len(), Ordering::Acquire);
        if let Some(lines) = &self.lines {
            let _ = lines.send(line);
        }
        if before <= MOST_WRITTEN { Ok(()) } else { Err(errors::full(self.side, MOST_WRITTEN)) }
    }

    /// Waits until all is written, but not for long.
    fn flush(&self) {
        let start = Instant::now();
        while self.bytes.load(Ordering::Acquire) > 0 && start.elapsed() < GRACE {
            std::thread::sleep(POLL);
        }
    }
}

fn reader(side: Side, stream: impl Read + Send + 'static, most: usize, to: SyncSender<FromSide>) {
    std::thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        while let Ok(Some(line)) = read_line(&mut stream, most) {
            if to.send((side, Some(line))).is_err() {
                return;
            }
        }
        let _ = to.send((side, None));
    });
}

struct Proxy<'g, 'r, 'e> {
    guard: &'g mut Guard<'r>,
    lines: Receiver<FromSide>,
    client: Outbox,
    server: Outbox,
    log: Option<(&'e Path, &'e mut dyn Write)>,
    note: &'e mut dyn FnMut(&str),
}

impl<'g, 'r, 'e> Proxy<'g, 'r, 'e> {
    fn new(guard: &'g mut Guard<'r>, input: ChildStdin, output: ChildStdout, ends: Ends<'e>) -> Self {
        let (to, lines) = sync_channel(MOST_READ);
        reader(Side::Client, ends.input, ends.line_bytes, to.clone());
        reader(Side::Server, output, ends.line_bytes, to);
        let (client, server) = (Outbox::new("client", ends.output), Outbox::new("server", input));
        Proxy { guard, lines, client, server, log: ends.log, note: ends.note }
    }

    fn run(mut self, child: &mut Child) -> Result<()> {
        let outcome = self.serve(child);
        if outcome.is_err() {
            let actions = self.guard.close("the guard has ended", Instant::now());
            // the first error counts
            let _ = self.act(actions);
        }
        self.client.flush();
        outcome
    }

    fn serve(&mut self, child: &mut Child) -> Result<()> {
        loop {
            let Some((side, line)) = self.next()? else { continue };
            let now = Instant::now();
            match (side, line) {
                (Side::Client, Some(line)) => {
                    let actions = self.guard.from_client(line, now);
                    self.act(actions)?;
                }
                (Side::Server, Some(line)) => {
                    let actions = self.guard.from_server(line, now);
                    self.act(actions)?;
                }
                (Side::Client, None) => return self.client_ended(),
                (Side::Server, None) => {
                    let actions = self.guard.close("the server has ended", now);
                    self.act(actions)?;
                    let status = ended(child).map(|status| status.to_string());
                    let how = status.unwrap_or_else(|| "it closed its standard output".to_owned());
                    return Err(errors::server_ended(&how));
                }
            }
        }
    }

    /// The next line; `None` where the time alone had an effect.
    fn next(&mut self) -> Result<Option<FromSide>> {
        let Some(deadline) = self.guard.deadline() else {
            // both readers say when they end, and the loop is left then
            return Ok(self.lines.recv().ok());
        };
        match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(read) => Ok(Some(read)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                let actions = self.guard.tick(Instant::now());
                self.act(actions)?;
                Ok(None)
            }
        }
    }

    /// The client has closed its stream. What it has requested is answered, and the log has the result of the last
    /// call.
    fn client_ended(&mut self) -> Result<()> {
        let end = Instant::now() + LAST_ANSWERS;
        while self.guard.is_waiting() && Instant::now() < end {
            let until = self.guard.deadline().map_or(end, |deadline| deadline.min(end));
            let actions = match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok((Side::Server, Some(line))) => self.guard.from_server(line, Instant::now()),
                Ok((Side::Server, None)) | Err(RecvTimeoutError::Disconnected) => break,
                Ok((Side::Client, _)) | Err(RecvTimeoutError::Timeout) => self.guard.tick(Instant::now()),
            };
            self.act(actions)?;
        }
        let actions = self.guard.close("the client left before the result", Instant::now());
        self.act(actions)?;
        self.server.lines = None;
        Ok(())
    }

    fn act(&mut self, actions: Vec<Action>) -> Result<()> {
        for action in actions {
            match action {
                Action::Client(line) => self.client.send(line)?,
                Action::Server(line) => self.server.send(line)?,
                Action::Log(event) => self.write(&event)?,
                Action::Note(text) => (self.note)(&text),
                Action::Stop(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn write(&mut self, event: &Value) -> Result<()> {
        let Some((path, log)) = &mut self.log else { return Ok(()) };
        let written = log.write_all(format!("{event}\n").as_bytes()).and_then(|()| log.flush());
        written.map_err(|cause| Error::io(path, &cause))
    }
}
