//! Writes HTTP/1.1 responses. Each connection has only one response.

use super::request::Timed;
use super::{JSON, STREAM, events, origins};
use crate::wire::{Id, error};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// How long the rest of a request that could not be read is still received and dropped.
const LINGER: Duration = Duration::from_secs(1);

/// Returns the reason phrase of a status. Statuses that are not used here get the phrase of 503.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    }
}

/// The response of a connection, with header lines that it has in any case.
#[derive(Clone, Debug)]
pub(super) struct Reply<'s> {
    stream: &'s TcpStream,
    headers: String,
}

impl<'s> Reply<'s> {
    /// Creates a response for a web page of an allowed origin, or without an origin for any other client.
    pub(super) fn new(stream: &'s TcpStream, origin: Option<&str>) -> Reply<'s> {
        Reply { stream, headers: origin.map(origins::headers).unwrap_or_default() }
    }

    /// Adds header lines, each with its line end.
    pub(super) fn with(mut self, headers: &str) -> Reply<'s> {
        self.headers.push_str(headers);
        self
    }

    /// Writes a response with a JSON body or, if `body` is empty, without one.
    pub(super) fn whole(&self, status: u16, body: &str) -> io::Result<()> {
        let kind = if body.is_empty() { String::new() } else { format!("content-type: {JSON}\r\n") };
        let length = match status {
            204 => String::new(),
            _ => format!("content-length: {}\r\n", body.len()),
        };
        let (reason, headers) = (reason(status), &self.headers);
        self.write(&format!(
            "HTTP/1.1 {status} {reason}\r\n{headers}{kind}{length}connection: close\r\n\r\n{body}"
        ))
    }

    /// Writes a status and a JSON-RPC error.
    pub(super) fn refuse(&self, status: u16, id: Option<&Id>, text: &str) {
        // if the write fails, the client is gone
        let _ = self.whole(status, &error::line(id, error::INVALID_REQUEST, text));
    }

    /// Writes the head of a response that is a stream of events. The stream ends with the connection.
    pub(super) fn begin_stream(&self) -> io::Result<()> {
        let headers = &self.headers;
        self.write(&format!(
            "HTTP/1.1 200 OK\r\n{headers}content-type: {STREAM}\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n"
        ))
    }

    /// Writes a message to a stream of events, as one event.
    pub(super) fn event(&self, message: &str) -> io::Result<()> {
        self.write(&events::written(message))
    }

    /// Writes a comment to a stream of events. The write fails if the client is gone.
    pub(super) fn comment(&self) -> io::Result<()> {
        self.write(": still here\n\n")
    }

    fn write(&self, text: &str) -> io::Result<()> {
        let mut stream = self.stream;
        stream.write_all(text.as_bytes())
    }

    /// Receives and drops the rest of a request for at most [`LINGER`]. If the connection were closed earlier, the
    /// client could lose the answer.
    pub(super) fn linger(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut timed = Timed { stream: self.stream, deadline: Instant::now() + LINGER };
        let mut piece = [0; 4096];
        while timed.read(&mut piece).is_ok_and(|read| read > 0) {}
    }
}
