//! The client's side of a session on two streams, such as standard input and output.

use super::outbox::{Outbox, reader};
use super::peer::{Event, Peer, Side};
use grammata::error::Result;
use std::io::{Read, Write};
use std::sync::mpsc::SyncSender;

/// A client on two streams. Reading its lines begins when it is created.
pub(crate) struct StreamClient(Outbox);

impl StreamClient {
    /// Creates the client.
    ///
    /// # Errors
    /// `guard/thread` if no thread can be started.
    pub(crate) fn new(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        line_bytes: usize,
        events: SyncSender<Event>,
    ) -> Result<StreamClient> {
        reader(Side::Client, input, line_bytes, events)?;
        Ok(StreamClient(Outbox::of_stream("client", output)?))
    }
}

impl Peer for StreamClient {
    fn send(&mut self, line: String) -> Result<()> {
        self.0.send(line)
    }

    fn flush(&mut self) {
        self.0.flush();
    }
}
