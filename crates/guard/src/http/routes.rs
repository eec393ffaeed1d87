//! Routes messages of the guard to the open HTTP requests of a client.

use super::remote::version;
use crate::transport::{Event, MOST_READ, Peer, Waiting};
use crate::wire::{Id, Kind, Message};
use grammata::error::Result;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of messages that are held for the client's next stream. If there are more, the oldest are dropped.
const MOST_HELD: usize = 256;
/// Maximum bytes of the messages that are held for the client's next stream. If they have more, the oldest are dropped.
const MOST_HELD_BYTES: usize = 1 << 20;

/// A message for an HTTP request of the client, and whether it is the last one of that request.
pub(super) type Sent = (String, bool);

#[derive(Debug, Default)]
struct Open {
    /// HTTP requests that wait for the answer to a message, in order of arrival: the id of the message, whether other
    /// messages may be sent to the request too, and its sender.
    posts: Vec<(Id, bool, Sender<Sent>)>,
    /// The number and the sender of the stream for the server's own messages.
    stream: Option<(u64, Sender<Sent>)>,
    streams: u64,
    held: VecDeque<String>,
    held_bytes: usize,
    /// The version of the protocol, from the first answer that has one.
    version: Option<String>,
    is_closed: bool,
    /// The reason if the session has failed.
    why_failed: Option<String>,
}

impl Open {
    fn hold(&mut self, line: String) {
        self.held_bytes += line.len();
        self.held.push_back(line);
        while self.held.len() > MOST_HELD || self.held_bytes > MOST_HELD_BYTES {
            let Some(dropped) = self.held.pop_front() else { return };
            self.held_bytes -= dropped.len();
        }
    }
}

/// The open HTTP requests of a session's client.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    open: Arc<Mutex<Open>>,
    waiting: Waiting,
}

impl Routes {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers an HTTP request that waits for the answer to the message `id`, and returns the receiver of its
    /// messages. With `takes_others`, other messages may be sent to this HTTP request too. Returns `None` if another
    /// request waits for the same id, or if the session has ended.
    pub(super) fn expect(&self, id: &Id, takes_others: bool) -> Option<Receiver<Sent>> {
        let mut open = self.open();
        if open.is_closed || open.posts.iter().any(|(known, ..)| known == id) {
            return None;
        }
        let (to, from) = channel();
        open.posts.push((id.clone(), takes_others, to));
        Some(from)
    }

    /// Ends the wait for the answer to the message `id`. Other messages that were sent to the receiver `from`, but not
    /// to the client, are held for the client's next stream.
    pub(super) fn forget(&self, id: &Id, from: &Receiver<Sent>) {
        self.open().posts.retain(|(known, ..)| known != id);
        self.keep(from);
    }

    /// Ends the wait for the answer to the message `id`, after the client has cancelled it.
    pub(super) fn cancel(&self, id: &Id) {
        self.open().posts.retain(|(known, ..)| known != id);
    }

    /// Returns whether the session has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.open().is_closed
    }

    /// Opens the stream of the server's own messages, which replaces an earlier one, and sends the held messages to it.
    /// Returns its number and receiver; `None` if the session has ended.
    pub(super) fn stream(&self) -> Option<(u64, Receiver<Sent>)> {
        let mut open = self.open();
        if open.is_closed {
            return None;
        }
        let (to, from) = channel();
        open.held_bytes = 0;
        for line in std::mem::take(&mut open.held) {
            if self.waiting.add("client", &line).is_ok() {
                let _ = to.send((line, false));
            } else {
                // too many bytes wait already, so the message is held for the next stream
                self.waiting.remove(line.len());
                open.hold(line);
            }
        }
        open.streams += 1;
        open.stream = Some((open.streams, to));
        Some((open.streams, from))
    }

    /// Closes the stream with number `number`, and holds the messages in `from` that were not sent to the client.
    pub(super) fn close_stream(&self, number: u64, from: &Receiver<Sent>) {
        let mut open = self.open();
        if open.stream.as_ref().is_some_and(|(known, _)| *known == number) {
            open.stream = None;
        }
        drop(open);
        self.keep(from);
    }

    /// Holds the messages that are left in the receiver of an HTTP request. Answers are dropped, because no other HTTP
    /// request waits for them.
    fn keep(&self, from: &Receiver<Sent>) {
        for (line, is_last) in from.try_iter() {
            self.taken(line.len());
            if !is_last {
                self.hold(line);
            }
        }
    }

    /// Holds a message for the client's next stream.
    pub(super) fn hold(&self, line: String) {
        self.open().hold(line);
    }

    /// Records that a message of `length` bytes was written or dropped.
    pub(super) fn taken(&self, length: usize) {
        self.waiting.remove(length);
    }

    /// Returns whether `named` is the session's version of the protocol. True while that version is not known.
    pub(super) fn has_version(&self, named: &str) -> bool {
        self.open().version.as_ref().is_none_or(|version| version == named)
    }

    fn send(&self, line: String) -> Result<()> {
        let message = Message::read(&line).ok();
        let answered = message.as_ref().and_then(|message| match &message.kind {
            Kind::Response { id } => Some(id.clone()),
            Kind::Request { .. } | Kind::Notification { .. } => None,
        });
        let mut open = self.open();
        let to = match &answered {
            Some(id) => {
                if open.version.is_none() {
                    open.version = message.as_ref().and_then(version);
                }
                let place = open.posts.iter().position(|(known, ..)| known == id);
                // an answer for which no request waits is dropped
                let Some(place) = place else { return Ok(()) };
                open.posts.remove(place).2
            }
            None => {
                let post = open.posts.iter().rev().find(|(_, takes_others, _)| *takes_others);
                let to = open.stream.as_ref().map(|(_, to)| to).or(post.map(|(.., to)| to));
                match to {
                    Some(to) => to.clone(),
                    None => {
                        open.hold(line);
                        return Ok(());
                    }
                }
            }
        };
        self.waiting.add("client", &line)?;
        let length = line.len();
        if let Err(lost) = to.send((line, answered.is_some())) {
            self.waiting.remove(length);
            // the client is gone, but may open another stream
            if answered.is_none() {
                open.hold(lost.0.0);
            }
        }
        Ok(())
    }

    /// Ends the session, with the reason if it has failed: open HTTP requests get no more messages, and new ones are
    /// refused.
    pub(super) fn close(&self, why_failed: Option<String>) {
        let mut open = self.open();
        open.is_closed = true;
        open.why_failed = why_failed;
        open.posts.clear();
        open.stream = None;
    }

    /// Returns the reason if the session has failed.
    pub(super) fn why_failed(&self) -> Option<String> {
        self.open().why_failed.clone()
    }
}

/// A client of a session that uses HTTP, from a [`Listener`](super::Listener).
#[derive(Debug)]
pub struct SessionClient {
    routes: Routes,
    to: SyncSender<Event>,
    from: Receiver<Event>,
}

impl SessionClient {
    /// Creates a client. Returns it with its routes, and the sender for its events.
    pub(super) fn new() -> (SessionClient, Routes, SyncSender<Event>) {
        let (to, from) = sync_channel(MOST_READ);
        let routes = Routes::default();
        (SessionClient { routes: routes.clone(), to: to.clone(), from }, routes, to)
    }

    pub(crate) fn into_parts(self) -> (impl Peer + 'static, SyncSender<Event>, Receiver<Event>) {
        (HttpPeer(self.routes), self.to, self.from)
    }
}

/// The client's side of a session.
struct HttpPeer(Routes);

impl Peer for HttpPeer {
    fn send(&mut self, line: String) -> Result<()> {
        self.0.send(line)
    }

    fn flush(&mut self) {
        self.0.waiting.flush();
    }
}
