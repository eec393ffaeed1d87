//! Sides of a session that speak in lines: what a session needs of a side, and sides on two streams.
//!
//! Threads read each side and write to it, so that neither side can keep the guard from the other one. What waits to be
//! read or written is bounded.

mod child;
mod outbox;
mod peer;
mod streams;

pub(crate) use child::ChildServer;
pub(crate) use outbox::{GRACE, Outbox, Waiting};
pub(crate) use peer::{Event, MOST_READ, Peer, Side};
pub(crate) use streams::StreamClient;
