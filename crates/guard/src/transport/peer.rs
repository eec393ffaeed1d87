//! The interface between a session and its sides.

use crate::wire::Line;
use grammata::error::Result;

/// Maximum number of events that wait for the session. Readers block when it is reached.
pub(crate) const MOST_READ: usize = 4;

/// A side of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// An event of a side: a line, or its end.
#[derive(Debug)]
pub(crate) enum Event {
    Line(Side, Line),
    /// The side has ended; with the reason, if it is known.
    Ended(Side, Option<String>),
}

/// A side of a session, to which lines can be sent.
pub(crate) trait Peer {
    /// Sends a line, without waiting for the side.
    ///
    /// # Errors
    /// `guard/full`: too many bytes wait, because the side does not read.
    fn send(&mut self, line: String) -> Result<()>;

    /// Waits a bounded time until all lines are sent.
    fn flush(&mut self);

    /// Returns how the side ended, for an error.
    fn how_ended(&mut self) -> String {
        "it closed its stream".to_owned()
    }

    /// Tells the side that no more lines follow. Does nothing by default.
    fn close(&mut self) {}
}
