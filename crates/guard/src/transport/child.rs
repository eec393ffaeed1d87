//! The server's side of a session, for a server that runs as a child process and uses its standard streams.

use super::outbox::{GRACE, Outbox, POLL, reader};
use super::peer::{Event, Peer, Side};
use crate::errors;
use grammata::error::Result;
use grammata_process::Group;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::SyncSender;
use std::time::Instant;

/// A server that runs as a child process. Dropping it closes the child's standard input, waits until the child ends,
/// at most [`GRACE`], and kills what is left of its process group.
pub(crate) struct ChildServer {
    group: Group,
    outbox: Outbox,
}

impl ChildServer {
    /// Starts a command as the server. The lines that the server writes are sent to `events`.
    ///
    /// # Errors
    /// `guard/start` if the command cannot be started; `guard/thread` if no thread can be.
    pub(crate) fn start(
        command: &mut Command,
        line_bytes: usize,
        events: SyncSender<Event>,
    ) -> Result<ChildServer> {
        let name = command.get_program().to_string_lossy().into_owned();
        let group = Group::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let mut group = group.map_err(|cause| errors::start(&name, &cause))?;
        let child = group.child();
        let outbox = match child.stdin.take() {
            Some(input) => Outbox::of_stream("server", input)?,
            None => Outbox::of_stream("server", std::io::sink())?,
        };
        if let Some(output) = child.stdout.take() {
            reader(Side::Server, output, line_bytes, events)?;
        }
        Ok(ChildServer { group, outbox })
    }

    /// Waits at most [`GRACE`] for the child to end. Returns its exit status; `None` if the child still runs, or if its
    /// status is not known.
    fn ended(&mut self) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.group.child().try_wait() {
                Ok(None) if start.elapsed() < GRACE => std::thread::sleep(POLL),
                status => return status.ok().flatten(),
            }
        }
    }
}

impl Peer for ChildServer {
    fn send(&mut self, line: String) -> Result<()> {
        self.outbox.send(line)
    }

    fn flush(&mut self) {
        self.outbox.flush();
    }

    fn how_ended(&mut self) -> String {
        let status = self.ended().map(|status| status.to_string());
        status.unwrap_or_else(|| "it closed its standard output".to_owned())
    }

    fn close(&mut self) {
        self.outbox.close();
    }
}

impl Drop for ChildServer {
    fn drop(&mut self) {
        self.outbox.close();
        self.ended();
    }
}
