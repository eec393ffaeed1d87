//! Reads HTTP/1.1 requests within bounds and a deadline. `httparse` parses the head of a request.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Maximum bytes of the head: the request line and the headers.
const MOST_HEAD: usize = 16 << 10;
/// Maximum number of headers.
const MOST_HEADERS: usize = 64;

/// An HTTP request with its body.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    /// Names in lower case, and trimmed values. Only `accept` may occur more than once.
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// The reason why a request cannot be read: the status and text of the answer, or that the client has closed the
/// connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    Answer(u16, &'static str),
    Gone,
}

impl From<io::Error> for Wrong {
    fn from(cause: io::Error) -> Wrong {
        match cause.kind() {
            io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
                Wrong::Answer(408, "the request took too long")
            }
            _ => Wrong::Gone,
        }
    }
}

impl Request {
    /// Returns the first value of a header, given its name in lower case; `None` if it is missing.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Reads a request with a body of at most `most` bytes. Bytes after the body are ignored. A client that waits for
    /// the status 100 before it sends the body gets it.
    ///
    /// # Errors
    /// An answer with status 400, 408, 411, 413, 417 or 431 for a request that is malformed, late or too large;
    /// otherwise [`Wrong::Gone`].
    pub(super) fn read(stream: &mut (impl Read + Write), most: usize) -> Result<Request, Wrong> {
        let mut bytes = Vec::new();
        let mut piece = [0; 4096];
        let (mut request, length) = loop {
            let read = stream.read(&mut piece)?;
            if read == 0 {
                return Err(Wrong::Gone);
            }
            bytes.extend_from_slice(&piece[..read]);
            match head(&bytes)? {
                Some((request, length)) if length <= MOST_HEAD => break (request, length),
                None if bytes.len() <= MOST_HEAD => {}
                _ => return Err(Wrong::Answer(431, "the head of the request is too long")),
            }
        };
        let body = request.body_length()?;
        if body > most {
            return Err(Wrong::Answer(413, "the body is too long"));
        }
        request.body = bytes.split_off(length);
        if let Some(expected) = request.header("expect") {
            if !expected.eq_ignore_ascii_case("100-continue") {
                return Err(Wrong::Answer(417, "`Expect` must be `100-continue`"));
            }
            if request.body.len() < body {
                stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
            }
        }
        // bytes after the body would be another request, but each connection has only one
        request.body.truncate(body);
        while request.body.len() < body {
            let wanted = (body - request.body.len()).min(piece.len());
            let read = stream.read(&mut piece[..wanted])?;
            if read == 0 {
                return Err(Wrong::Gone);
            }
            request.body.extend_from_slice(&piece[..read]);
        }
        Ok(request)
    }

    /// Returns the length of the body in bytes, which is 0 without the header `Content-Length`. Headers from which a
    /// proxy could read another length are refused.
    fn body_length(&self) -> Result<usize, Wrong> {
        if self.header("transfer-encoding").is_some() {
            return Err(Wrong::Answer(411, "the body must have a `Content-Length`"));
        }
        let Some(text) = self.header("content-length") else { return Ok(0) };
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let length = text.parse().ok().filter(|_| is_number);
        length.ok_or(Wrong::Answer(400, "`Content-Length` is not a number"))
    }
}

/// Parses the head of a request. Returns the request without its body, and the length of the head in bytes; `None` if
/// the head is incomplete.
fn head(bytes: &[u8]) -> Result<Option<(Request, usize)>, Wrong> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Wrong::Answer(431, "there are too many headers")),
        Err(_) => return Err(Wrong::Answer(400, "this is not a request of HTTP/1.1")),
    };
    let (Some(method), Some(path)) = (parsed.method, parsed.path) else { return Ok(None) };
    let mut read =
        Request { method: method.to_owned(), path: path.to_owned(), headers: Vec::new(), body: Vec::new() };
    for header in parsed.headers.iter() {
        let value = str::from_utf8(header.value).map_err(|_| Wrong::Answer(400, "a header is not UTF-8"))?;
        let name = header.name.to_ascii_lowercase();
        // if a header had two values, a proxy could use the other one
        if name != "accept" && read.header(&name).is_some() {
            return Err(Wrong::Answer(400, "a header is there twice"));
        }
        read.headers.push((name, value.trim().to_owned()));
    }
    Ok(Some((read, length)))
}

/// A connection with one deadline for all reads, so that slow clients cannot hold it.
pub(super) struct Timed<'s> {
    pub(super) stream: &'s TcpStream,
    pub(super) deadline: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left < Duration::from_millis(1) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(bytes)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stream = self.stream;
        stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection: the bytes that the client sends, and those that it receives.
    struct Pair<'b>(&'b [u8], Vec<u8>);

    impl Read for Pair<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            // the body arrives separately
            let most = self.0.windows(4).position(|end| end == b"\r\n\r\n").map_or(self.0.len(), |at| at + 4);
            let most = most.min(bytes.len());
            self.0.read(&mut bytes[..most])
        }
    }

    impl Write for Pair<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_client_that_waits_is_told_to_continue() {
        for (headers, most, expected, told) in [
            ("Expect: 100-continue\r\nContent-Length: 2", 8, Ok(2), "HTTP/1.1 100 Continue\r\n\r\n"),
            ("Content-Length: 2", 8, Ok(2), ""),
            ("Expect: 100-Continue\r\nContent-Length: 0", 8, Ok(0), ""),
            ("Expect: 100-continue\r\nContent-Length: 2", 1, Err(413), ""),
            ("Expect: tea\r\nContent-Length: 2", 8, Err(417), ""),
        ] {
            let text = format!("POST /mcp HTTP/1.1\r\n{headers}\r\n\r\n{{}}");
            let mut pair = Pair(text.as_bytes(), Vec::new());
            let read = Request::read(&mut pair, most).map(|request| request.body.len());
            let read = read.map_err(|wrong| if let Wrong::Answer(status, _) = wrong { status } else { 0 });
            assert_eq!((read, String::from_utf8(pair.1).unwrap().as_str()), (expected, told), "{headers}");
        }
    }

    #[test]
    fn requests_are_read_within_their_bounds() {
        let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(20_000));
        let many =
            format!("GET / HTTP/1.1\r\n{}\r\n", (0..70).map(|n| format!("A{n}: b\r\n")).collect::<String>());
        let status = |text: &str| match Request::read(&mut Pair(text.as_bytes(), Vec::new()), 8) {
            Ok(request) => (200, String::from_utf8(request.body).unwrap()),
            Err(Wrong::Answer(status, _)) => (status, String::new()),
            Err(Wrong::Gone) => (0, String::new()),
        };
        for (text, expected, body) in [
            ("POST /mcp HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 200, "{}"),
            ("POST /mcp HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}GET / HTTP/1.1\r\n\r\n", 200, "{}"),
            ("GET / HTTP/1.1\r\n\r\n", 200, ""),
            ("GET / HTTP/1.1\r\nAccept: a\r\naccept: b\r\n\r\n", 200, ""),
            ("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", 413, ""),
            ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400, ""),
            ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400, ""),
            ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\na", 400, ""),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400, ""),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411, ""),
            ("POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na", 411, ""),
            ("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\na", 0, ""),
            ("GET / HTTP/1.1\r\nA", 0, ""),
            ("", 0, ""),
            ("garbage\r\n\r\n", 400, ""),
            ("GET / HTTP/1.1\r\nA b: c\r\n\r\n", 400, ""),
            (&long, 431, ""),
            (&many, 431, ""),
        ] {
            assert_eq!(status(text), (expected, body.to_owned()), "{text}");
        }
    }
}
