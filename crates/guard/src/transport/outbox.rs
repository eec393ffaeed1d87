//! Threads that write queued lines to a side of a session, and threads that read lines of a side.

use super::peer::{Event, Side};
use super::threads::spawn;
use crate::errors;
use crate::wire::read_line;
use grammata::error::Result;
use std::io::{BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::time::{Duration, Instant};

/// Maximum bytes of lines that wait for a side. If more bytes wait, sending another line is an error.
const MOST_WRITTEN: usize = 64 << 20;
/// How long a flush waits until all lines are written to a side, and how long the end of a session waits until the
/// server has ended.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// The interval between checks whether all lines are written, or whether a child process has ended.
pub(crate) const POLL: Duration = Duration::from_millis(10);

/// A counter of the bytes of lines that wait for a side. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    /// Adds the length in bytes of a line for a side. The length is also added if an error is returned.
    ///
    /// # Errors
    /// `guard/full` if more than [`MOST_WRITTEN`] bytes were waiting before.
    pub(crate) fn add(&self, side: &str, line: &str) -> Result<()> {
        let before = self.0.fetch_add(line.len(), Ordering::Acquire);
        if before <= MOST_WRITTEN { Ok(()) } else { Err(errors::full(side, MOST_WRITTEN)) }
    }

    /// Subtracts the length in bytes of a line that was sent or dropped.
    pub(crate) fn remove(&self, length: usize) {
        self.0.fetch_sub(length, Ordering::Release);
    }

    /// Waits until no line waits, but at most [`GRACE`].
    pub(crate) fn flush(&self) {
        let start = Instant::now();
        while self.0.load(Ordering::Acquire) > 0 && start.elapsed() < GRACE {
            std::thread::sleep(POLL);
        }
    }
}

/// A queue of lines for a side, whose thread writes them in order.
pub(crate) struct Outbox {
    side: &'static str,
    lines: Option<Sender<String>>,
    waiting: Waiting,
}

impl Outbox {
    /// Creates an outbox that writes lines to a stream.
    ///
    /// # Errors
    /// `guard/thread` if no thread can be started.
    pub(crate) fn of_stream(side: &'static str, mut stream: impl Write + Send + 'static) -> Result<Outbox> {
        let mut is_open = true;
        Outbox::new(side, move |line| {
            // after a failed write the side is gone, and its lines are dropped
            is_open = is_open
                && stream.write_all(line.as_bytes()).is_ok()
                && stream.write_all(b"\n").is_ok()
                && stream.flush().is_ok();
        })
    }

    /// Creates an outbox that passes each line to `take`, in order, on a new thread.
    ///
    /// # Errors
    /// `guard/thread` if no thread can be started.
    pub(crate) fn new(side: &'static str, mut take: impl FnMut(String) + Send + 'static) -> Result<Outbox> {
        let (lines, to_take) = channel::<String>();
        let waiting = Waiting::default();
        let left = waiting.clone();
        spawn(move || {
            for line in to_take {
                let length = line.len();
                take(line);
                left.remove(length);
            }
        })?;
        Ok(Outbox { side, lines: Some(lines), waiting })
    }

    /// Queues a line.
    ///
    /// # Errors
    /// `guard/full` if more than [`MOST_WRITTEN`] bytes wait already.
    pub(crate) fn send(&self, line: String) -> Result<()> {
        self.waiting.add(self.side, &line)?;
        if let Some(lines) = &self.lines {
            let _ = lines.send(line);
        }
        Ok(())
    }

    pub(crate) fn flush(&self) {
        self.waiting.flush();
    }

    /// Lets the thread end after it has written the queued lines. Later lines are dropped.
    pub(crate) fn close(&mut self) {
        self.lines = None;
    }
}

/// Reads the lines of a side on a new thread. Sends an event for each line that is not blank, and one at the end of the
/// stream or after a read error. A line of more than `most` bytes is [`Line::TooLong`](crate::wire::Line::TooLong).
///
/// # Errors
/// `guard/thread` if no thread can be started.
pub(crate) fn reader(
    side: Side,
    stream: impl Read + Send + 'static,
    most: usize,
    to: SyncSender<Event>,
) -> Result<()> {
    spawn(move || {
        let mut stream = BufReader::new(stream);
        while let Ok(Some(line)) = read_line(&mut stream, most) {
            if to.send(Event::Line(side, line)).is_err() {
                return;
            }
        }
        let _ = to.send(Event::Ended(side, None));
    })
}
