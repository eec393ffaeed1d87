//! Writes HTTP/1.1 responses. Each connection has only one response.

use super::{JSON, STREAM, events};
use std::io::{self, Write};
use std::net::TcpStream;

/// Returns the reason phrase of a status. Statuses that are not used here get the phrase of 503.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    }
}

/// Writes a response with a JSON body or, if `body` is empty, without one. `headers` are further header lines, each
/// with its line end.
pub(super) fn whole(mut stream: &TcpStream, status: u16, headers: &str, body: &str) -> io::Result<()> {
    let kind = if body.is_empty() { String::new() } else { format!("content-type: {JSON}\r\n") };
    let (reason, length) = (reason(status), body.len());
    let text = format!(
        "HTTP/1.1 {status} {reason}\r\n{headers}{kind}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes())
}

/// Writes the head of a response that is a stream of events. The stream ends with the connection. `headers` are further
/// header lines, each with its line end.
pub(super) fn begin_stream(mut stream: &TcpStream, headers: &str) -> io::Result<()> {
    let text = format!(
        "HTTP/1.1 200 OK\r\n{headers}content-type: {STREAM}\r\ncache-control: no-cache\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(text.as_bytes())
}

/// Writes a message to a stream of events, as one event.
pub(super) fn event(mut stream: &TcpStream, message: &str) -> io::Result<()> {
    stream.write_all(events::written(message).as_bytes())
}

/// Writes a comment to a stream of events. The write fails if the client is gone.
pub(super) fn comment(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b": still here\n\n")
}
