//! What a session needs of a side.

use crate::wire::Line;
use grammata::error::Result;

/// Lines that were read and wait, at most.
pub(crate) const MOST_READ: usize = 4;

/// A side of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// What a side does.
#[derive(Debug)]
pub(crate) enum Event {
    Line(Side, Line),
    /// The side has ended, in this way if that is known.
    Ended(Side, Option<String>),
}

/// A side that lines are sent to.
pub(crate) trait Peer {
    /// Sends a line, without waiting for the side.
    ///
    /// # Errors
    /// `guard/full`: the side does not read what it is sent.
    fn send(&mut self, line: String) -> Result<()>;

    /// Waits until all is sent, but not for long.
    fn flush(&mut self);

    /// How the side ended, for an error.
    fn how_ended(&mut self) -> String {
        "it closed its stream".to_owned()
    }

    /// Says to the side that nothing more comes.
    fn close(&mut self) {}
}
