//! Responses to the messages of clients.

use super::respond::Reply;
use super::sessions::Session;
use crate::transport::{Event, Side};
use crate::wire::{Id, Line, error};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How long a request of a client waits for its answer, up to [`HEARTBEAT`] longer. The guard has its own deadline for
/// calls.
const MOST_WAIT: Duration = Duration::from_secs(15 * 60);
/// The interval at which a stream without messages gets a comment. Writing the comment fails if the client is gone.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// The HTTP response to a message of a client: the connection, and the content types that the client accepts.
pub(super) struct Answer<'a> {
    pub(super) reply: Reply<'a>,
    pub(super) takes_json: bool,
    pub(super) takes_stream: bool,
}

impl Answer<'_> {
    /// Passes a message to the session and writes the response. A request, which has an `id`, is answered with the
    /// messages of the session for this request, up to its answer. Any other message is answered with status 202. If
    /// the session has ended, the status is 404, or 503 with the reason if it has failed; if a request with this id
    /// waits already, it is 400.
    pub(super) fn post(&self, session: &Session, id: Option<&Id>, text: String) {
        let give = || session.give(Event::Line(Side::Client, Line::Text(text)));
        let Some(id) = id else {
            return match give() {
                true => drop(self.reply.whole(202, "")),
                false => self.has_ended(session, None),
            };
        };
        let Some(from) = session.routes.expect(id, self.takes_stream) else {
            return match session.routes.is_closed() {
                true => self.has_ended(session, Some(id)),
                false => self.reply.refuse(400, Some(id), "a request with this id waits already"),
            };
        };
        let end = Instant::now() + MOST_WAIT;
        let (mut is_begun, mut is_answered) = (false, false);
        // if the session has ended, its routes are closed soon, and the wait ends
        let _ = give();
        let mut is_open = true;
        while is_open && Instant::now() < end {
            let written = match from.recv_timeout(HEARTBEAT) {
                Ok((line, is_last)) => {
                    let written = self.write(&line, is_last, &mut is_begun);
                    session.routes.taken(line.len());
                    if written.is_err() && !is_last {
                        session.routes.hold(line);
                    }
                    is_answered |= is_last;
                    is_open = !is_last;
                    written
                }
                // a client that does not accept streams can receive only the answer
                Err(RecvTimeoutError::Timeout) if !self.takes_stream => Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    self.begin(&mut is_begun).and_then(|()| self.reply.comment())
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            is_open &= written.is_ok();
        }
        session.routes.forget(id, &from);
        match is_begun || is_answered {
            true => {}
            false if session.routes.is_closed() => self.has_ended(session, Some(id)),
            false => {
                let body =
                    error::line(Some(id), error::UNAVAILABLE, "the request was cancelled or took too long");
                let _ = self.reply.whole(200, &body);
            }
        }
    }

    fn has_ended(&self, session: &Session, id: Option<&Id>) {
        match session.routes.why_failed() {
            Some(reason) => self.reply.refuse(503, id, &reason),
            None => self.reply.refuse(404, id, "the session has ended"),
        }
    }

    fn begin(&self, is_begun: &mut bool) -> std::io::Result<()> {
        if std::mem::replace(is_begun, true) { Ok(()) } else { self.reply.begin_stream() }
    }

    fn write(&self, line: &str, is_last: bool, is_begun: &mut bool) -> std::io::Result<()> {
        if is_last && !*is_begun && self.takes_json {
            return self.reply.whole(200, line);
        }
        self.begin(is_begun)?;
        self.reply.event(line)
    }
}
