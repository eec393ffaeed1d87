//! A listener for clients that use streamable HTTP. Each client gets its own session.

use super::answer::{Answer, HEARTBEAT};
use super::connections::{Connection, Connections};
use super::origins;
use super::request::{Request, Timed, Wrong};
use super::respond::Reply;
use super::routes::SessionClient;
use super::sessions::{Ending, InUse, Refusal, Sessions};
use super::{JSON, SESSION, STREAM};
use crate::errors;
use crate::transport::{ROOM, with_room};
use crate::wire::{Id, Kind, Message, WITH_SESSIONS, error, stateless};
use grammata::error::Result;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::thread::{Builder, Scope};
use std::time::{Duration, Instant};

/// The path to which clients send messages.
const PATH: &str = "/mcp";
/// Timeout for reading a request, and for each write of an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The interval between searches for idle sessions.
const SWEEP: Duration = Duration::from_secs(1);

/// The least interval between two remarks about refused connections.
const QUIET: Duration = Duration::from_secs(10);
/// The stack of a connection's thread in bytes. It is small because a client may open many connections.
const STACK: usize = 512 << 10;
/// Bytes of address space that connections leave for sessions, which they may begin.
const SESSION_ROOM: u64 = 32 << 20;

/// Access rules and bounds of a [`Listener`].
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Whether the listener may use an address that other machines can reach. By default it may not.
    pub is_public: bool,
    /// Values of the header `Origin` that are allowed in addition to those of this machine. None by default.
    pub origins: Vec<String>,
    /// Maximum number of concurrent sessions. If it is reached, a new session ends the one that was unused for the
    /// longest time. Default 64.
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

/// A server for clients that use streamable HTTP: a listening socket with the sessions of the clients.
#[derive(Debug)]
pub struct Listener {
    listener: TcpListener,
    options: ListenOptions,
    /// Whether the address is a loopback address, so that only this machine can reach it.
    is_loopback: bool,
    sessions: Sessions,
    connections: Connections,
}

/// What a listener calls.
pub struct Handlers<'h> {
    /// A function that runs a session to its end, given the session's id and client. If it fails, the open requests of
    /// the client are answered with the error.
    pub run: &'h (dyn Fn(&str, SessionClient) -> Result<()> + Sync),
    /// A function that receives remarks, such as that a connection was refused.
    pub note: &'h (dyn Fn(&str) + Sync),
}

impl std::fmt::Debug for Handlers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handlers").finish_non_exhaustive()
    }
}

/// The scope of a listener's threads, with its handlers.
#[derive(Clone, Copy)]
struct Serving<'s, 'e> {
    scope: &'s Scope<'s, 'e>,
    handlers: &'s Handlers<'s>,
}

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
        let sessions = Sessions::new(options.sessions, options.idle);
        Ok(Listener { listener, options, is_loopback, sessions, connections: Connections::default() })
    }

    /// Returns the URL to which clients send messages.
    pub fn url(&self) -> String {
        let address = self.listener.local_addr();
        address.map_or_else(|_| PATH.to_owned(), |address| format!("http://{address}{PATH}"))
    }

    /// Serves clients; does not return unless it fails. Each session has its own thread, on which it runs to its end.
    /// Connections that cannot be accepted are skipped. If the system cannot start a thread for a connection, the
    /// connection is answered with status 503, and the one that has waited longest for its request is closed.
    ///
    /// # Errors
    /// `guard/thread`: the system cannot start a thread.
    pub fn serve(&self, handlers: &Handlers<'_>) -> Result<()> {
        std::thread::scope(|scope| {
            let serving = Serving { scope, handlers };
            let sweeper = Builder::new().stack_size(STACK).spawn_scoped(scope, || {
                loop {
                    std::thread::sleep(SWEEP);
                    self.sessions.sweep();
                }
            });
            sweeper.map_err(|cause| errors::thread(&cause))?;
            let mut noted: Option<Instant> = None;
            loop {
                let Ok((stream, _)) = self.listener.accept() else {
                    std::thread::sleep(Duration::from_millis(10));
                    continue;
                };
                let Err(text) = self.accept(Arc::new(stream), serving) else { continue };
                if noted.is_none_or(|noted| noted.elapsed() > QUIET) {
                    noted = Some(Instant::now());
                    (handlers.note)(&format!("a connection was refused: {text}"));
                }
            }
        })
    }

    /// Serves a connection on its own thread.
    ///
    /// # Errors
    /// The reason why the connection was answered with status 503.
    fn accept<'s>(
        &'s self,
        stream: Arc<TcpStream>,
        serving: Serving<'s, '_>,
    ) -> std::result::Result<(), String> {
        let refuse = |text: &str| {
            let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
            Reply::new(&stream, None).refuse(503, None, text);
            text.to_owned()
        };
        let Some(connection) = self.connections.add(&stream) else {
            return Err(refuse("all connections are in use: try again later"));
        };
        let own = Arc::clone(&stream);
        let serve = move || self.connection(&own, &connection, serving);
        let thread = with_room(ROOM + SESSION_ROOM, || {
            Builder::new().stack_size(STACK).spawn_scoped(serving.scope, serve)
        });
        thread.map(drop).map_err(|cause| {
            self.connections.make_room();
            format!("{}: {cause}", refuse("the system cannot start a thread: try again later"))
        })
    }

    /// Reads and answers the request of a connection. Each connection has only one.
    fn connection<'s>(&'s self, stream: &TcpStream, connection: &Connection<'_>, serving: Serving<'s, '_>) {
        let timeouts = stream.set_write_timeout(Some(PATIENCE)).and_then(|()| stream.set_nodelay(true));
        if timeouts.is_err() {
            return;
        }
        let mut timed = Timed { stream, deadline: Instant::now() + PATIENCE };
        let request = Request::read(&mut timed, self.options.body_bytes);
        connection.has_request();
        let request = match request {
            Ok(request) => request,
            Err(Wrong::Answer(status, text)) => {
                let reply = Reply::new(stream, None);
                reply.refuse(status, None, text);
                return reply.linger();
            }
            Err(Wrong::Gone) => return,
        };
        // a web page in a browser of this machine can reach the listener, but cannot hide its origin
        let origin = request.header("origin");
        if origin.is_some_and(|origin| !origins::is_allowed(origin, &self.options.origins)) {
            return Reply::new(stream, None).refuse(403, None, "this origin is not allowed");
        }
        let reply = Reply::new(stream, origin);
        if let Err((status, text)) = self.admit(&request) {
            return reply.refuse(status, None, text);
        }
        match request.method.as_str() {
            "POST" => self.post(&reply, request, serving),
            "GET" => self.get(&reply, &request),
            "DELETE" => self.delete(&reply, &request),
            "OPTIONS" => drop(reply.with(&origins::preflight(&request)).whole(204, "")),
            _ => {
                let reply = reply.with("allow: GET, POST, DELETE, OPTIONS\r\n");
                reply.refuse(405, None, "send POST, GET or DELETE");
            }
        }
    }

    /// Checks the header `Host` and the path of a request. `Host` is checked only if the address of the listener is a
    /// loopback address.
    ///
    /// # Errors
    /// The HTTP status and the text of the refusal.
    fn admit(&self, request: &Request) -> std::result::Result<(), Refusal> {
        // against DNS rebinding: `Host` has the domain name of the page, although that resolves to this machine
        if self.is_loopback && !request.header("host").is_some_and(origins::is_this_machine) {
            return Err((403, "this host is not allowed"));
        }
        let path = request.path.split('?').next().unwrap_or_default();
        if path.trim_end_matches('/') != PATH {
            return Err((404, "messages are sent to /mcp"));
        }
        Ok(())
    }

    fn post<'s>(&'s self, reply: &Reply<'_>, request: Request, serving: Serving<'s, '_>) {
        let kind = request.header("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case(JSON) {
            return reply.refuse(415, None, "the body must be `application/json`");
        }
        let takes = |kind: &str| accepts(&request, kind);
        let (takes_json, takes_stream) = (takes(JSON), takes(STREAM));
        if !takes_json && !takes_stream {
            return reply.refuse(406, None, "accept `application/json` and `text/event-stream`");
        }
        let session = self.sessions.find(&request);
        let is_named = request.header(SESSION).is_some();
        let Ok(text) = String::from_utf8(request.body) else {
            return reply.refuse(400, None, "the body is not UTF-8");
        };
        let message = match Message::read(&text) {
            Ok(message) => message,
            Err(invalid) => {
                let body = error::line(invalid.id.as_ref(), invalid.code, &invalid.text);
                return drop(reply.whole(400, &body));
            }
        };
        let id = match &message.kind {
            Kind::Request { id, .. } => Some(id.clone()),
            Kind::Notification { .. } | Kind::Response { .. } => None,
        };
        let begins = matches!(&message.kind, Kind::Request { method, .. } if method == "initialize");
        let used = match session {
            Err(_) if begins && !is_named => self.begin(serving),
            session => session,
        };
        let used = match used {
            Ok(used) => used,
            Err((status, text)) => {
                let version = stateless::named_version(&message).filter(|_| !is_named && !begins);
                return match (&id, version) {
                    (Some(id), Some(version)) => {
                        let supported = &WITH_SESSIONS;
                        drop(reply.whole(400, &stateless::unsupported_version(id, &version, supported)))
                    }
                    _ => reply.refuse(status, id.as_ref(), text),
                };
            }
        };
        let reply = reply.clone().with(&format!("{SESSION}: {}\r\n", used.name));
        let cancelled = cancelled(&message);
        Answer { reply, takes_json, takes_stream }.post(&used.session, id.as_ref(), text);
        if let Some(cancelled) = cancelled {
            used.session.routes.cancel(&cancelled);
        }
    }

    /// Begins a session and runs it on a new thread.
    ///
    /// # Errors
    /// 503: all sessions are in use, or the system cannot start a thread or gives no random numbers.
    fn begin<'s>(&'s self, serving: Serving<'s, '_>) -> std::result::Result<InUse, Refusal> {
        let (used, client) = self.sessions.begin()?;
        let (name, routes) = (used.name.clone(), used.session.routes.clone());
        let ending = Ending::new(&self.sessions, name, routes);
        let run = move || {
            let ended = (serving.handlers.run)(ending.name(), client);
            ending.close(ended.err().map(|error| errors::text_of(&error)));
        };
        let thread = with_room(ROOM, || Builder::new().spawn_scoped(serving.scope, run));
        match thread {
            Ok(_) => Ok(used),
            Err(_) => {
                self.connections.make_room();
                Err((503, "the system cannot start a thread: try again later"))
            }
        }
    }

    fn get(&self, reply: &Reply<'_>, request: &Request) {
        if !accepts(request, STREAM) {
            return reply.refuse(406, None, "accept `text/event-stream`");
        }
        let used = match self.sessions.find(request) {
            Ok(used) => used,
            Err((status, text)) => return reply.refuse(status, None, text),
        };
        let routes = &used.session.routes;
        let Some((number, from)) = routes.stream() else {
            return reply.refuse(404, None, "the session has ended");
        };
        let mut written = reply.begin_stream();
        while written.is_ok() {
            written = match from.recv_timeout(HEARTBEAT) {
                Ok((line, _)) => {
                    let written = reply.event(&line);
                    routes.taken(line.len());
                    if written.is_err() {
                        routes.hold(line);
                    }
                    written
                }
                Err(RecvTimeoutError::Timeout) => reply.comment(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
        }
        routes.close_stream(number, &from);
    }

    fn delete(&self, reply: &Reply<'_>, request: &Request) {
        match self.sessions.find(request) {
            Ok(used) => {
                self.sessions.end(&used);
                let _ = reply.whole(200, "");
            }
            Err((status, text)) => reply.refuse(status, None, text),
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
