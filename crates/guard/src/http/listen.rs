//! A listener for clients that use streamable HTTP. Each client gets its own session.

use super::request::{Request, Timed, Wrong};
use super::respond;
use super::routes::{Routes, SessionClient};
use super::{JSON, SESSION, STREAM, VERSION};
use crate::errors;
use crate::transport::{Event, Side};
use crate::wire::{Id, Kind, Line, Message, error};
use grammata::error::Result;
use std::collections::HashMap;
use std::io::Read;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The path to which clients send messages.
const PATH: &str = "/mcp";
/// Maximum number of concurrent connections; further ones are closed without an answer.
const MOST_CONNECTIONS: usize = 256;
/// Timeout for reading a request, and for each write of an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a request of a client waits for its answer, up to [`HEARTBEAT`] longer. The guard has its own deadline for
/// calls.
const MOST_WAIT: Duration = Duration::from_secs(15 * 60);
/// How long the rest of a request that could not be read is still received and dropped.
const LINGER: Duration = Duration::from_secs(1);
/// The interval at which a stream without messages gets a comment. Writing the comment fails if the client is gone.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The interval between searches for idle sessions.
const SWEEP: Duration = Duration::from_secs(1);

/// Access rules and bounds of a [`Listener`].
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Whether the listener may use an address that other machines can reach. By default it may not.
    pub is_public: bool,
    /// Values of the header `Origin` that are allowed in addition to those of this machine. None by default.
    pub origins: Vec<String>,
    /// Maximum number of concurrent sessions. Default 64.
    pub sessions: usize,
    /// Time without requests after which a session ends. Default 30 minutes.
    pub idle: Duration,
    /// Maximum bytes of a message. Default 4 MiB.
    pub body_bytes: usize,
}

impl Default for ListenOptions {
    fn default() -> ListenOptions {
        ListenOptions {
            is_public: false,
            origins: Vec::new(),
            sessions: 64,
            idle: Duration::from_secs(30 * 60),
            body_bytes: 4 << 20,
        }
    }
}

/// The listener's side of a session.
#[derive(Clone, Debug)]
struct Session {
    routes: Routes,
    to: SyncSender<Event>,
    used: Arc<Mutex<Instant>>,
    /// The number of HTTP requests of the client that are being answered, including streams of the server's own
    /// messages. A session with such requests is not idle.
    requests: Arc<AtomicUsize>,
}

/// A server for clients that use streamable HTTP: a listening socket with the sessions of the clients.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    options: ListenOptions,
    /// Whether the address is a loopback address, so that only this machine can reach it.
    is_loopback: bool,
    sessions: Mutex<HashMap<String, Session>>,
    connections: AtomicUsize,
}

/// A function that runs a session to its end, given the session's id and client.
type Run<'r> = dyn Fn(&str, SessionClient) + Sync + 'r;

impl Listener {
    /// Opens a socket that listens on an address.
    ///
    /// # Errors
    /// `guard/public`: other machines could reach the address, and the options forbid that; `guard/listen`: the address
    /// cannot be used.
    pub fn new(address: SocketAddr, options: ListenOptions) -> Result<Listener> {
        let is_loopback = address.ip().is_loopback();
        if !is_loopback && !options.is_public {
            return Err(errors::public(&address));
        }
        let listener = TcpListener::bind(address).map_err(|cause| errors::listen(&address, &cause))?;
        Ok(Listener {
            listener,
            options,
            is_loopback,
            sessions: Mutex::default(),
            connections: AtomicUsize::new(0),
        })
    }

    /// Returns the URL to which clients send messages.
    pub fn url(&self) -> String {
        let address = self.listener.local_addr();
        address.map_or_else(|_| PATH.to_owned(), |address| format!("http://{address}{PATH}"))
    }

    /// Serves clients; never returns. Each session has its own thread, on which `run` must run it to its end.
    /// Connections that cannot be accepted are skipped.
    ///
    /// # Errors
    /// None at present.
    pub fn serve(&self, run: &Run<'_>) -> Result<()> {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    std::thread::sleep(SWEEP);
                    self.sweep();
                }
            });
            loop {
                match self.listener.accept() {
                    Ok((stream, _)) if self.connections.load(Ordering::Acquire) < MOST_CONNECTIONS => {
                        self.connections.fetch_add(1, Ordering::AcqRel);
                        scope.spawn(move || {
                            self.connection(&stream, scope, run);
                            self.connections.fetch_sub(1, Ordering::AcqRel);
                        });
                    }
                    // too many connections: this one is closed
                    Ok(_) => {}
                    Err(_) => std::thread::sleep(Duration::from_millis(10)),
                }
            }
        })
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends sessions without open requests that were not used for the idle time.
    fn sweep(&self) {
        let mut idle = Vec::new();
        self.sessions().retain(|_, session| {
            let used = *session.used.lock().unwrap_or_else(PoisonError::into_inner);
            let is_idle = session.requests.load(Ordering::Acquire) == 0 && used.elapsed() > self.options.idle;
            if is_idle {
                idle.push(session.clone());
            }
            !is_idle
        });
        for session in idle {
            let _ = session.to.send(Event::Ended(Side::Client, None));
        }
    }

    /// Reads and answers the request of a connection. Each connection has only one.
    fn connection<'s>(&'s self, stream: &TcpStream, scope: &'s std::thread::Scope<'s, '_>, run: &'s Run<'_>) {
        let timeouts = stream.set_write_timeout(Some(PATIENCE)).and_then(|()| stream.set_nodelay(true));
        if timeouts.is_err() {
            return;
        }
        let mut timed = Timed { stream, deadline: Instant::now() + PATIENCE };
        let request = match Request::read(&mut timed, self.options.body_bytes) {
            Ok(request) => request,
            Err(Wrong::Answer(status, text)) => {
                refuse(stream, status, None, text);
                return linger(stream);
            }
            Err(Wrong::Gone) => return,
        };
        if let Err((status, text)) = self.admit(&request) {
            return refuse(stream, status, None, text);
        }
        match request.method.as_str() {
            "POST" => self.post(stream, request, scope, run),
            "GET" => self.get(stream, &request),
            "DELETE" => self.delete(stream, &request),
            _ => {
                let body = error::line(None, error::INVALID_REQUEST, "send POST, GET or DELETE");
                let _ = respond::whole(stream, 405, "allow: GET, POST, DELETE\r\n", &body);
            }
        }
    }

    /// Checks the header `Origin`, the header `Host` and the path of a request. `Host` is checked only if the address
    /// of the listener is a loopback address.
    ///
    /// # Errors
    /// The HTTP status and the text of the refusal.
    fn admit(&self, request: &Request) -> std::result::Result<(), (u16, &'static str)> {
        // a web page in a browser of this machine can reach the listener, but cannot hide its origin
        let is_origin = |origin: &str| {
            let host = origin.split_once("://").map(|(_, host)| host);
            self.options.origins.iter().any(|known| known == origin) || host.is_some_and(is_this_machine)
        };
        if request.header("origin").is_some_and(|origin| !is_origin(origin)) {
            return Err((403, "this origin is not allowed"));
        }
        // against DNS rebinding: `Host` has the domain name of the page, although that resolves to this machine
        if self.is_loopback && !request.header("host").is_some_and(is_this_machine) {
            return Err((403, "this host is not allowed"));
        }
        let path = request.path.split('?').next().unwrap_or_default();
        if path.trim_end_matches('/') != PATH {
            return Err((404, "messages are sent to /mcp"));
        }
        Ok(())
    }

    /// Returns the session that a request names, with its id, and records that it was used.
    ///
    /// # Errors
    /// The HTTP status and the text of the refusal: the request names no session or an unknown one, or another version
    /// of the protocol than that of the session.
    fn session(&self, request: &Request) -> std::result::Result<(String, Session), (u16, &'static str)> {
        let Some(id) = request.header(SESSION) else {
            return Err((400, "begin with `initialize`, and send the header `Mcp-Session-Id` after it"));
        };
        let session = self.sessions().get(id).cloned();
        let session = session.ok_or((404, "unknown session: begin with `initialize`"))?;
        if request.header(VERSION).is_some_and(|version| !session.routes.has_version(version)) {
            return Err((400, "`MCP-Protocol-Version` is not the version of the session"));
        }
        *session.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Ok((id.to_owned(), session))
    }

    fn post<'s>(
        &'s self,
        stream: &TcpStream,
        request: Request,
        scope: &'s std::thread::Scope<'s, '_>,
        run: &'s Run<'_>,
    ) {
        let kind = request.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case(JSON) {
            return refuse(stream, 415, None, "the body must be `application/json`");
        }
        let takes = |kind: &str| accepts(&request, kind);
        let (takes_json, takes_stream) = (takes(JSON), takes(STREAM));
        if !takes_json && !takes_stream {
            return refuse(stream, 406, None, "accept `application/json` and `text/event-stream`");
        }
        let session = self.session(&request);
        let is_named = request.header(SESSION).is_some();
        let Ok(text) = String::from_utf8(request.body) else {
            return refuse(stream, 400, None, "the body is not UTF-8");
        };
        let message = match Message::read(&text) {
            Ok(message) => message,
            Err(invalid) => {
                let body = error::line(invalid.id.as_ref(), invalid.code, &invalid.text);
                let _ = respond::whole(stream, 400, "", &body);
                return;
            }
        };
        let id = match &message.kind {
            Kind::Request { id, .. } => Some(id.clone()),
            Kind::Notification { .. } | Kind::Response { .. } => None,
        };
        let begins = matches!(&message.kind, Kind::Request { method, .. } if method == "initialize");
        let (name, session) = match session {
            Ok(found) => found,
            Err(_) if begins && !is_named => match self.begin(scope, run) {
                Ok(found) => found,
                Err((status, text)) => return refuse(stream, status, id.as_ref(), text),
            },
            Err((status, text)) => return refuse(stream, status, id.as_ref(), text),
        };
        session.requests.fetch_add(1, Ordering::AcqRel);
        let answer = Answer { stream, takes_json, takes_stream, header: format!("{SESSION}: {name}\r\n") };
        let cancelled = cancelled(&message);
        answer.post(&session, id.as_ref(), text);
        if let Some(cancelled) = cancelled {
            session.routes.cancel(&cancelled);
        }
        *session.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        session.requests.fetch_sub(1, Ordering::AcqRel);
    }

    /// Creates a session with a random id and runs it on a new thread.
    ///
    /// # Errors
    /// The HTTP status and the text of the refusal: there are too many sessions, or no random numbers.
    fn begin<'s>(
        &'s self,
        scope: &'s std::thread::Scope<'s, '_>,
        run: &'s Run<'_>,
    ) -> std::result::Result<(String, Session), (u16, &'static str)> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|_| (503, "no session can begin: there are no random numbers"))?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let (client, routes, to) = SessionClient::new();
        let used = Arc::new(Mutex::new(Instant::now()));
        let session = Session { routes, to, used, requests: Arc::default() };
        let mut sessions = self.sessions();
        if sessions.len() >= self.options.sessions {
            return Err((503, "there are too many sessions: try again later"));
        }
        sessions.insert(name.clone(), session.clone());
        drop(sessions);
        let own = name.clone();
        scope.spawn(move || {
            run(&own, client);
            self.sessions().remove(&own);
        });
        Ok((name, session))
    }

    fn get(&self, stream: &TcpStream, request: &Request) {
        if !accepts(request, STREAM) {
            return refuse(stream, 406, None, "accept `text/event-stream`");
        }
        let session = match self.session(request) {
            Ok((_, session)) => session,
            Err((status, text)) => return refuse(stream, status, None, text),
        };
        let Some((number, from)) = session.routes.stream() else {
            return refuse(stream, 404, None, "the session has ended");
        };
        session.requests.fetch_add(1, Ordering::AcqRel);
        let mut written = respond::begin_stream(stream, "");
        while written.is_ok() {
            written = match from.recv_timeout(HEARTBEAT) {
                Ok((line, _)) => {
                    let written = respond::event(stream, &line);
                    session.routes.taken(line.len());
                    if written.is_err() {
                        session.routes.hold(line);
                    }
                    written
                }
                Err(RecvTimeoutError::Timeout) => respond::comment(stream),
                Err(RecvTimeoutError::Disconnected) => break,
            };
        }
        session.routes.close_stream(number, &from);
        *session.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        session.requests.fetch_sub(1, Ordering::AcqRel);
    }

    fn delete(&self, stream: &TcpStream, request: &Request) {
        match self.session(request) {
            Ok((id, session)) => {
                self.sessions().remove(&id);
                let _ = session.to.send(Event::Ended(Side::Client, None));
                let _ = respond::whole(stream, 200, "", "");
            }
            Err((status, text)) => refuse(stream, status, None, text),
        }
    }
}

/// Returns the id of the request that a message cancels; `None` if it is not a valid `notifications/cancelled`.
fn cancelled(message: &Message) -> Option<Id> {
    let is_cancel =
        matches!(&message.kind, Kind::Notification { method } if method == "notifications/cancelled");
    message.cancelled().filter(|_| is_cancel)
}

/// Returns whether a client accepts a content type. Without the header `Accept`, a client accepts all types. Weights
/// (`q=`) are ignored.
fn accepts(request: &Request, kind: &str) -> bool {
    let Some(accept) = request.header("accept") else { return true };
    let group = kind.split('/').next().unwrap_or_default();
    accept.split(',').any(|one| {
        let one = one.split(';').next().unwrap_or_default().trim();
        one == "*/*" || one.eq_ignore_ascii_case(kind) || one.strip_suffix("/*") == Some(group)
    })
}

/// Returns whether a host, with or without a port, is `localhost` or a loopback address.
fn is_this_machine(host: &str) -> bool {
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// Receives and drops the rest of a request for at most [`LINGER`]. If the connection were closed earlier, the client
/// could lose the answer.
fn linger(stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let mut timed = Timed { stream, deadline: Instant::now() + LINGER };
    let mut piece = [0; 4096];
    while timed.read(&mut piece).is_ok_and(|read| read > 0) {}
}

/// Answers a request with a status and a JSON-RPC error.
fn refuse(stream: &TcpStream, status: u16, id: Option<&Id>, text: &str) {
    // if the write fails, the client is gone
    let _ = respond::whole(stream, status, "", &error::line(id, error::INVALID_REQUEST, text));
}

/// The HTTP response to a message of a client: the connection, and the content types that the client accepts.
struct Answer<'a> {
    stream: &'a TcpStream,
    takes_json: bool,
    takes_stream: bool,
    header: String,
}

impl Answer<'_> {
    /// Passes a message to the session and writes the response. A request, which has an `id`, is answered with the
    /// messages of the session for this request, up to its answer. Any other message is answered with status 202. If
    /// the session has ended, the status is 404; if a request with this id waits already, it is 400.
    fn post(&self, session: &Session, id: Option<&Id>, text: String) {
        let give = || session.to.send(Event::Line(Side::Client, Line::Text(text))).is_ok();
        let Some(id) = id else {
            let _ = match give() {
                true => respond::whole(self.stream, 202, &self.header, ""),
                false => return refuse(self.stream, 404, None, "the session has ended"),
            };
            return;
        };
        let Some(from) = session.routes.expect(id, self.takes_stream) else {
            return match session.routes.is_closed() {
                true => refuse(self.stream, 404, Some(id), "the session has ended"),
                false => refuse(self.stream, 400, Some(id), "a request with this id waits already"),
            };
        };
        let end = Instant::now() + MOST_WAIT;
        let (mut is_begun, mut is_answered) = (false, false);
        if !give() {
            session.routes.forget(id, &from);
            return refuse(self.stream, 404, Some(id), "the session has ended");
        }
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
                    self.begin(&mut is_begun).and_then(|()| respond::comment(self.stream))
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            is_open &= written.is_ok();
        }
        session.routes.forget(id, &from);
        match is_begun || is_answered {
            true => {}
            false if session.routes.is_closed() => {
                refuse(self.stream, 404, Some(id), "the session has ended");
            }
            false => {
                let body =
                    error::line(Some(id), error::UNAVAILABLE, "the request was cancelled or took too long");
                let _ = respond::whole(self.stream, 200, &self.header, &body);
            }
        }
    }

    fn begin(&self, is_begun: &mut bool) -> std::io::Result<()> {
        if std::mem::replace(is_begun, true) {
            Ok(())
        } else {
            respond::begin_stream(self.stream, &self.header)
        }
    }

    fn write(&self, line: &str, is_last: bool, is_begun: &mut bool) -> std::io::Result<()> {
        if is_last && !*is_begun && self.takes_json {
            return respond::whole(self.stream, 200, &self.header, line);
        }
        self.begin(is_begun)?;
        respond::event(self.stream, line)
    }
}
