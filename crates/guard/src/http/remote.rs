//! The server's side of a session, for a server that is reached by streamable HTTP.

use super::posts::{Post, Posts};
use super::{JSON, MOST_ID, SESSION, STREAM, VERSION, events, headers, posts};
use crate::errors;
use crate::transport::{Event, GRACE, Outbox, Peer, Side, spawn};
use crate::wire::{Id, Kind, Line, Message, error};
use grammata::diagnostic::excerpt;
use grammata::error::Result;
use grammata_endpoint::{Timeouts, agent, hide_address};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use ureq::http::Response;
use ureq::{Agent, Body, RequestBuilder};

/// Timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);
/// Timeout of a request, up to the last byte of its answer. The guard has its own deadline for calls.
const ANSWER: Duration = Duration::from_secs(15 * 60);
/// Timeout of the stream of the server's own messages. The stream is then opened again.
const STREAMING: Duration = Duration::from_secs(5 * 60);
/// The pause before the stream of the server's own messages is opened again, if the stream lasted longer than
/// [`MOST_PAUSE`]. The pause doubles each time the stream ends sooner.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause before the stream of the server's own messages is opened again.
const MOST_PAUSE: Duration = Duration::from_secs(30);
/// Maximum bytes that are read of the body of an error response.
const MOST_ERROR: u64 = 1 << 12;

/// A server that is reached by streamable HTTP: its address, its key and an HTTP client. Clones share the HTTP client,
/// but each session with the server is separate.
#[derive(Clone, Debug)]
pub struct Remote {
    url: String,
    agent: Agent,
    key: Option<grammata_endpoint::Key>,
}

impl Remote {
    /// Creates a description of the server at a URL. Sends nothing. The key will be sent as
    /// `Authorization: Bearer KEY`.
    ///
    /// # Errors
    /// `guard/url`: the URL is not an HTTP address; `endpoint/certificates`: the URL has `https`, and the system has no
    /// trusted certificates.
    pub fn new(url: &str, key: Option<grammata_endpoint::Key>) -> Result<Remote> {
        let timeouts = Timeouts { connect: CONNECT, first_byte: None, whole: Some(ANSWER) };
        let agent = agent(url, &timeouts)?.ok_or_else(|| errors::url(url))?;
        url.parse::<ureq::http::Uri>().map_err(|_| errors::url(url))?;
        Ok(Remote { url: url.to_owned(), agent, key })
    }

    /// Returns a text with the key, and parts of it, hidden.
    fn hide(&self, text: &str) -> String {
        self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide(text))
    }
}

/// The state that the threads of a session share.
struct Shared {
    remote: Remote,
    line_bytes: usize,
    events: SyncSender<Event>,
    /// The id of the session and the version of the protocol, from the server's answer to `initialize`. Each is `None`
    /// before this answer, or if the answer has no valid one.
    session: Mutex<(Option<String>, Option<String>)>,
    posts: Posts,
    is_closed: AtomicBool,
}

/// A session with a [`Remote`] server. Dropping it ends the session on the server.
pub(crate) struct RemoteServer {
    shared: Arc<Shared>,
    outbox: Outbox,
}

impl RemoteServer {
    /// Begins a session. Sends nothing yet.
    ///
    /// # Errors
    /// `guard/thread` if no thread can be started.
    pub(crate) fn new(remote: &Remote, line_bytes: usize, events: SyncSender<Event>) -> Result<RemoteServer> {
        let shared = Arc::new(Shared {
            remote: remote.clone(),
            line_bytes,
            events,
            session: Mutex::default(),
            posts: Posts::default(),
            is_closed: AtomicBool::new(false),
        });
        let own = Arc::clone(&shared);
        let outbox = Outbox::new("server", move |line| post_in_order(&own, line))?;
        Ok(RemoteServer { shared, outbox })
    }
}

impl Peer for RemoteServer {
    fn send(&mut self, line: String) -> Result<()> {
        self.outbox.send(line)
    }

    fn flush(&mut self) {
        self.outbox.flush();
    }

    fn how_ended(&mut self) -> String {
        "it has ended the session".to_owned()
    }

    fn close(&mut self) {
        self.outbox.flush();
        self.outbox.close();
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.close();
        self.shared.is_closed.store(true, Ordering::Release);
        if self.shared.session().0.is_some() {
            let remote = &self.shared.remote;
            let request = self.shared.with_headers(remote.agent.delete(&remote.url));
            // a server may refuse to end a session, which has no consequences here
            let _ = request.config().timeout_global(Some(GRACE)).build().call();
        }
    }
}

/// Sends a message. `initialize`, notifications and responses are sent on this thread, which then waits for the answer.
/// Each other request is sent on its own thread. After `notifications/initialized`, another thread begins to read the stream of the server's own messages.
fn post_in_order(shared: &Arc<Shared>, line: String) {
    // the guard sends only valid messages
    let Ok(message) = Message::read(&line) else { return };
    // a session that began with `initialize` has the version of its beginning
    let headers = if shared.session().1.is_none() { headers::of(&message) } else { Vec::new() };
    let cancelled = message.cancelled();
    match message.kind {
        Kind::Request { id, method } if method == "initialize" => {
            shared.post(&line, Vec::new(), Some(&Post::new(id, false)), true)
        }
        Kind::Request { id, .. } => {
            let post = Post::new(id.clone(), !headers.is_empty());
            shared.posts.begin(&post);
            let own = Arc::clone(shared);
            let posted = spawn(move || {
                own.post(&line, headers, Some(&post), false);
                own.posts.end(&post.id);
            });
            if let Err(error) = posted {
                shared.fail(Some(&id), &errors::text_of(&error));
                shared.posts.end(&id);
            }
        }
        Kind::Notification { method } => {
            let cancelled = cancelled.filter(|_| method == "notifications/cancelled");
            if cancelled.is_some_and(|id| shared.posts.cancel(&id)) {
                return;
            }
            shared.post(&line, headers, None, false);
            if method == "notifications/initialized" {
                let shared = Arc::clone(shared);
                // without a thread the server's own messages are not read
                let _ = spawn(move || shared.listen());
            }
        }
        Kind::Response { .. } => shared.post(&line, headers, None, false),
    }
}

impl Shared {
    fn session(&self) -> (Option<String>, Option<String>) {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn with_headers<B>(&self, mut request: RequestBuilder<B>) -> RequestBuilder<B> {
        let (session, version) = self.session();
        if let Some(key) = &self.remote.key {
            request = request.header("authorization", key.bearer());
        }
        for (name, value) in [(SESSION, session), (VERSION, version)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
    }

    /// Passes an error response to the guard, in place of the answer to the request with this id. Does nothing without
    /// an id.
    fn fail(&self, id: Option<&Id>, what: &str) {
        let Some(id) = id else { return };
        let text = format!("the server did not answer: {}", self.remote.hide(what));
        self.give(Line::Text(error::line(Some(id), error::UNAVAILABLE, &text)));
    }

    /// Passes a line of the server to the guard, without the key. Returns `false` if the guard has ended. An empty line
    /// is dropped, with the result `true`.
    fn give(&self, line: Line) -> bool {
        let line = match (line, &self.remote.key) {
            // servers begin a stream with an event without data, which only carries an id for resuming
            (Line::Text(text), _) if text.is_empty() => return true,
            (Line::Text(text), Some(key)) => Line::Text(key.hide_in_json(text)),
            (line, _) => line,
        };
        self.events.send(Event::Line(Side::Server, line)).is_ok()
    }

    /// Sends a message and passes the server's answer to the guard. If a request gets no answer, and was not cancelled,
    /// the guard gets an error response with its id. If the server no longer knows the session, the session ends. `headers` are
    /// those of the message. `is_first` means that the message is `initialize`.
    fn post(&self, line: &str, headers: Vec<(&str, String)>, post: Option<&Post>, is_first: bool) {
        let id = post.map(|post| &post.id);
        let failed = |what: &str| match post.is_some_and(Post::is_cancelled) {
            true => {}
            false => self.fail(id, what),
        };
        let mut request = self.with_headers(self.remote.agent.post(&self.remote.url));
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let request = request.header("content-type", JSON).header("accept", format!("{JSON}, {STREAM}"));
        let response = match request.send(line) {
            Ok(response) => response,
            Err(cause) => return failed(&cause.to_string()),
        };
        let status = response.status().as_u16();
        if status == 404 && self.session().0.is_some() {
            let _ =
                self.events.send(Event::Ended(Side::Server, Some("it does not know the session".to_owned())));
            return;
        }
        if (300..400).contains(&status) {
            let to = header(&response, "location").unwrap_or_default();
            let to = excerpt(&hide_address(&resolved(&self.remote.url, &to)));
            return failed(&format!(
                "status {status}: it redirects to {to}; if you trust it, give `--http {to}`"
            ));
        }
        if !(200..300).contains(&status) {
            let said = said(response);
            // errors that have an error status are part of later versions
            let is_error = |answer: &Message| answer.value("error").is_some();
            return match id.and_then(|id| answers(&said, id)).is_some_and(|answer| is_error(&answer)) {
                true => drop(self.give(Line::Text(said))),
                false => failed(&format!("status {status}: {}", excerpt(&self.remote.hide(&said)))),
            };
        }
        if is_first {
            let session = header(&response, SESSION);
            let is_id = |id: &String| id.len() <= MOST_ID && id.bytes().all(|byte| byte.is_ascii_graphic());
            self.session.lock().unwrap_or_else(PoisonError::into_inner).0 = session.filter(is_id);
        }
        let Some(id) = id else { return };
        let kind = header(&response, "content-type").unwrap_or_default().to_ascii_lowercase();
        let body = posts::Response(response.into_body().into_reader(), post);
        let mut is_answered = false;
        let mut take = |data: Line| {
            let answer = match &data {
                Line::Text(text) => answers(text, id),
                Line::TooLong | Line::NotUtf8 => None,
            };
            if let Some(version) = answer.as_ref().filter(|_| is_first).and_then(version) {
                self.session.lock().unwrap_or_else(PoisonError::into_inner).1 = Some(version);
            }
            is_answered |= answer.is_some();
            self.give(data)
        };
        if kind.starts_with(STREAM) {
            let mut body = BufReader::new(body);
            while let Ok(Some(event)) = events::read(&mut body, self.line_bytes) {
                if !take(event.data) {
                    return;
                }
            }
        } else if kind.starts_with(JSON) {
            let mut text = Vec::new();
            let most = self.line_bytes as u64;
            match body.take(most + 1).read_to_end(&mut text) {
                Ok(_) if text.len() as u64 > most => return failed("the answer is too long"),
                Ok(_) => drop(take(String::from_utf8(text).map_or(Line::NotUtf8, Line::Text))),
                Err(cause) => return failed(&cause.to_string()),
            }
        }
        if !is_answered {
            failed("it ended the answer without a response");
        }
    }

    /// Reads the stream of the server's own messages. Opens it again when it ends, until the session ends or the
    /// server refuses the stream with a status from 400 to 499.
    fn listen(&self) {
        let (mut last, mut pause) = (None, PAUSE);
        while !self.is_closed.load(Ordering::Acquire) {
            let start = Instant::now();
            let mut request =
                self.with_headers(self.remote.agent.get(&self.remote.url)).header("accept", STREAM);
            if let Some(last) = &last {
                request = request.header("last-event-id", last);
            }
            let response = request.config().timeout_global(Some(STREAMING)).build().call();
            match response {
                Ok(response) if response.status() == 200 => {
                    let mut body = BufReader::new(response.into_body().into_reader());
                    if !self.stream(&mut body, &mut last) {
                        return;
                    }
                }
                Ok(response) if response.status().is_client_error() => return,
                Ok(_) | Err(_) => {}
            }
            pause =
                if start.elapsed() > MOST_PAUSE { PAUSE } else { pause.saturating_mul(2).min(MOST_PAUSE) };
            std::thread::sleep(pause);
        }
    }

    /// Passes the messages of a stream to the guard until the stream ends. Stores the id of the latest event with an id
    /// in `last`. Returns whether the session continues.
    fn stream(&self, body: &mut impl BufRead, last: &mut Option<String>) -> bool {
        while let Ok(Some(event)) = events::read(body, self.line_bytes) {
            if event.id.is_some() {
                *last = event.id;
            }
            if self.is_closed.load(Ordering::Acquire) || !self.give(event.data) {
                return false;
            }
        }
        true
    }
}

fn header(response: &Response<Body>, name: &str) -> Option<String> {
    response.headers().get(name)?.to_str().ok().map(str::to_owned)
}

/// Returns the address of a redirection, which may be relative to the address of the request.
fn resolved(url: &str, location: &str) -> String {
    let host_end = |start: usize| url[start..].find('/').map_or(url.len(), |at| start + at);
    match url.find("://") {
        Some(at) if location.starts_with("//") => format!("{}{location}", &url[..=at]),
        Some(at) if location.starts_with('/') => format!("{}{location}", &url[..host_end(at + 3)]),
        Some(_) if !location.contains("://") => match url.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{location}"),
            None => location.to_owned(),
        },
        _ => location.to_owned(),
    }
}

/// Returns the body of an error response as text. At most [`MOST_ERROR`] bytes of the body are read.
fn said(response: Response<Body>) -> String {
    let mut text = Vec::new();
    // if reading fails, the part that was read is shown
    let _ = response.into_body().into_reader().take(MOST_ERROR).read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the response to the request with this id: the message `text`, or a message of the batch `text`. `None` if
/// there is no such response.
fn answers(text: &str, id: &Id) -> Option<Message> {
    let is_answer = |message: &Message| matches!(&message.kind, Kind::Response { id: found } if found == id);
    if text.trim_start().starts_with('[') {
        let messages: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(text).ok()?;
        return messages.iter().filter_map(|message| Message::read(message.get()).ok()).find(is_answer);
    }
    Message::read(text).ok().filter(is_answer)
}

/// Returns the version of the protocol in an answer to `initialize`; `None` if it is missing, longer than [`MOST_ID`]
/// bytes, or has characters other than visible ASCII.
pub(super) fn version(answer: &Message) -> Option<String> {
    let result = answer.value("result")?;
    let version = result.get("protocolVersion").and_then(Value::as_str)?;
    let is_version = version.len() <= MOST_ID && version.bytes().all(|byte| byte.is_ascii_graphic());
    is_version.then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirections_are_resolved() {
        for (url, location, expected) in [
            ("http://a:1/mcp", "/mcp/", "http://a:1/mcp/"),
            ("http://a:1/mcp", "https://b/mcp", "https://b/mcp"),
            ("http://a:1/mcp", "//b/mcp", "http://b/mcp"),
            ("http://a:1/x/mcp", "other", "http://a:1/x/other"),
            ("http://a:1", "/mcp", "http://a:1/mcp"),
        ] {
            assert_eq!(resolved(url, location), expected, "{url} {location}");
        }
    }
}
