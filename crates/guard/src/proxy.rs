//! Sessions: a guard between a client and a server, each on its own transport.

use crate::errors;
use crate::guard::{Action, Guard};
use crate::http::{Remote, RemoteServer, SessionClient};
use crate::transport::{ChildServer, Event, MOST_READ, Peer, Side, StreamClient};
use crate::wire::{self, Kind, Message};
use grammata::error::{Error, Result};
use std::io::{Read, Write};
use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How long a session waits for the answers of the server after the client has closed its stream.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// A client of a session.
pub enum Client {
    /// Two streams: the one that the client writes, and the one that it reads.
    Streams(Box<dyn Read + Send>, Box<dyn Write + Send>),
    /// A client of a [`Listener`](crate::http::Listener).
    Http(SessionClient),
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Client::Streams(..) => "Client::Streams",
            Client::Http(_) => "Client::Http",
        })
    }
}

/// A server of a session.
#[derive(Debug)]
pub enum Server<'s> {
    /// A command that is started, and exchanges messages on its standard input and output.
    Command(&'s mut Command),
    /// A server that is reached by HTTP.
    Http(&'s Remote),
}

impl Server<'_> {
    /// Starts the server's side of a session. Its messages of at most `line_bytes` bytes are sent to `events`.
    pub(crate) fn start(self, line_bytes: usize, events: SyncSender<Event>) -> Result<Box<dyn Peer>> {
        Ok(match self {
            Server::Command(command) => Box::new(ChildServer::start(command, line_bytes, events)?),
            Server::Http(remote) => Box::new(RemoteServer::new(remote, line_bytes, events)?),
        })
    }
}

/// The destinations of a session's events and remarks.
pub struct Journal<'j> {
    /// A function that writes a line to the log. The line has no line end. If the function fails, the session ends, and
    /// what would follow the line, such as sending a call, does not happen.
    pub log: &'j mut dyn FnMut(&str) -> Result<()>,
    /// A function that receives remarks, such as those on broken messages.
    pub note: &'j mut dyn FnMut(&str),
}

impl std::fmt::Debug for Journal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

/// Runs a session until the client or the server ends. `line_bytes` is the maximum length of a message of the server,
/// and of a line of a client on streams.
///
/// # Errors
/// `guard/start` if the command cannot be started; `guard/thread` if a thread cannot be; `guard/server-ended` if the
/// server ends first; `guard/full` if a side does not read; the error of an [`Action::Stop`]; an error if the log
/// cannot be written.
pub fn run(
    guard: &mut Guard<'_>,
    server: Server<'_>,
    client: Client,
    journal: Journal<'_>,
    line_bytes: usize,
) -> Result<()> {
    let (client_events, events);
    let client: Box<dyn Peer> = match client {
        Client::Streams(input, output) => {
            (client_events, events) = sync_channel(MOST_READ);
            Box::new(StreamClient::new(input, output, line_bytes, client_events.clone())?)
        }
        Client::Http(client) => {
            let (peer, to, from) = client.into_parts();
            (client_events, events) = (to, from);
            Box::new(peer)
        }
    };
    let server = server.start(line_bytes, client_events)?;
    Proxy { guard, events, client, server, journal }.run()
}

struct Proxy<'g, 'r, 'j> {
    guard: &'g mut Guard<'r>,
    events: Receiver<Event>,
    client: Box<dyn Peer>,
    server: Box<dyn Peer>,
    journal: Journal<'j>,
}

impl Proxy<'_, '_, '_> {
    fn run(mut self) -> Result<()> {
        let outcome = self.serve();
        if let Err(error) = &outcome {
            let actions = self.guard.close(&errors::text_of(error), Instant::now());
            self.give_up(actions);
        }
        self.client.flush();
        outcome
    }

    fn serve(&mut self) -> Result<()> {
        loop {
            let Some(event) = self.next()? else { continue };
            let now = Instant::now();
            match event {
                Event::Line(Side::Client, line) => {
                    let actions = self.guard.from_client(line, now);
                    self.act(actions)?;
                }
                Event::Line(Side::Server, line) => {
                    let actions = self.guard.from_server(line, now);
                    self.act(actions)?;
                }
                Event::Ended(Side::Client, _) => return self.client_ended(),
                Event::Ended(Side::Server, how) => {
                    let actions = self.guard.close("the server has ended", now);
                    self.act(actions)?;
                    let how = how.unwrap_or_else(|| self.server.how_ended());
                    return Err(errors::server_ended(&how));
                }
            }
        }
    }

    /// Returns the next event; `None` if a deadline of the guard passed before an event.
    fn next(&mut self) -> Result<Option<Event>> {
        let Some(deadline) = self.guard.deadline() else {
            // the channel is never disconnected: each side sends `Ended` before its sender is dropped, and `serve` then
            // returns
            return Ok(self.events.recv().ok());
        };
        match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                let actions = self.guard.tick(Instant::now());
                self.act(actions)?;
                Ok(None)
            }
        }
    }

    /// Ends the session after the client has ended. Waits up to [`LAST_ANSWERS`] for the answers to the client's
    /// requests, so that the log has the result of the last call.
    fn client_ended(&mut self) -> Result<()> {
        let end = Instant::now() + LAST_ANSWERS;
        let actions = self.guard.client_left(Instant::now());
        self.act(actions)?;
        while self.guard.is_waiting() && Instant::now() < end {
            let until = self.guard.deadline().map_or(end, |deadline| deadline.min(end));
            let actions = match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Event::Line(Side::Server, line)) => self.guard.from_server(line, Instant::now()),
                Ok(Event::Ended(Side::Server, _)) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(Event::Line(Side::Client, _) | Event::Ended(Side::Client, _))
                | Err(RecvTimeoutError::Timeout) => self.guard.tick(Instant::now()),
            };
            self.act(actions)?;
        }
        let actions = self.guard.close("the client left before the result", Instant::now());
        self.act(actions)?;
        self.server.close();
        Ok(())
    }

    fn act(&mut self, actions: Vec<Action>) -> Result<()> {
        let mut actions = actions.into_iter();
        while let Some(action) = actions.next() {
            let done = match action {
                Action::Client(line) => self.client.send(line),
                Action::Server(line) => self.server.send(line),
                Action::Log(line) => (self.journal.log)(&line),
                Action::Note(text) => {
                    (self.journal.note)(&text);
                    Ok(())
                }
                Action::Stop(error) => Err(error),
            };
            if let Err(error) = done {
                self.answer_with(&error, actions);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Sends an error in place of each answer among steps that are not carried out.
    fn answer_with(&mut self, error: &Error, steps: impl Iterator<Item = Action>) {
        for step in steps {
            let Action::Client(line) = step else { continue };
            if let Ok(Message { kind: Kind::Response { id }, .. }) = Message::read(&line) {
                let line = wire::error::line(Some(&id), wire::error::UNAVAILABLE, &errors::text_of(error));
                // the error of the session is returned, not an error that follows from it
                let _ = self.client.send(line);
            }
        }
    }

    /// Carries out the steps that follow an error of the session: the client gets its answers even if the log cannot be
    /// written. The error of the session is returned, not an error that follows from it.
    fn give_up(&mut self, actions: Vec<Action>) {
        let mut is_logged = true;
        for action in actions {
            match action {
                Action::Client(line) => drop(self.client.send(line)),
                Action::Log(line) if is_logged => is_logged = (self.journal.log)(&line).is_ok(),
                Action::Note(text) => (self.journal.note)(&text),
                Action::Server(_) | Action::Log(_) | Action::Stop(_) => {}
            }
        }
    }
}
