//! The sides of a session, which exchange lines: the trait [`Peer`], a client on two streams, and a server that is a
//! child process.
//!
//! Each side is read and written on its own threads, so that neither side can block the other. The queues of lines that
//! wait to be read or written are bounded.

mod child;
mod outbox;
mod peer;
mod streams;
mod threads;

pub(crate) use child::ChildServer;
pub(crate) use outbox::{GRACE, Outbox, Waiting};
pub(crate) use peer::{Event, MOST_READ, Peer, Side};
pub(crate) use streams::StreamClient;
pub(crate) use threads::{ROOM, spawn, with_room};
