//! The interface between a session and its sides.

use crate::wire::Line;
use grammata::error::Result;

/// Maximum number of events that wait for the session. Readers block while it is reached.
pub(crate) const MOST_READ: usize = 4;

/// The client or the server of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// An event of a side: a line, or the end of the side.
#[derive(Debug)]
pub(crate) enum Event {
    Line(Side, Line),
    /// The end of the side, with the reason if it is known.
    Ended(Side, Option<String>),
}

/// A side of a session, to which lines can be sent.
pub(crate) trait Peer {
    /// Queues a line for the side and returns without waiting until it is sent.
    ///
    /// # Errors
    /// `guard/full`: too many bytes wait, because the side does not read.
    fn send(&mut self, line: String) -> Result<()>;

    /// Waits for a bounded time until all lines are sent.
    fn flush(&mut self);

    /// Returns how the side ended, as the text of an error.
    fn how_ended(&mut self) -> String {
        "it closed its stream".to_owned()
    }

    /// Tells the side that no more lines follow. Does nothing by default.
    fn close(&mut self) {}
}
