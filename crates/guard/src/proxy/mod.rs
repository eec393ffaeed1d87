//! A session: a guard between a client and a server, each on a transport of its own.
//!
//! Threads read each side and write to it, so that neither side can keep the guard from the other one. What waits to be
//! read or written is bounded.

mod child;
mod outbox;
mod peer;
mod session;
mod streams;

pub use session::{Client, Journal, Server, run};

pub(crate) use outbox::{GRACE, Outbox, Waiting};
pub(crate) use peer::{Event, MOST_READ, Peer, Side};
