//! Reads the tools of a server without a client: begins a session, reads all pages of its list, and ends the session.

use crate::catalogue::{Catalogue, Pages};
use crate::errors;
use crate::proxy::Server;
use crate::transport::{Event, MOST_READ, Peer, Side};
use crate::wire::{self, Id, Kind, Line, Message, error};
use grammata::diagnostic::excerpt;
use grammata::error::Result;
use serde_json::{Value, json};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// The version of the protocol that the session asks for. The server may answer with another one.
const VERSION: &str = "2025-11-25";

/// A server's description of itself, and its tools.
#[derive(Debug)]
pub struct Inspected {
    /// The server's name and version, as far as it gives them, shortened if they are very long.
    pub server: String,
    /// The version of the protocol that the server answered with; empty if it gave none.
    pub protocol: String,
    pub(crate) catalogue: Catalogue,
}

impl Inspected {
    /// Returns the tools as the server lists them, each name once.
    pub fn tools(&self) -> &[Value] {
        self.catalogue.tools()
    }

    /// Returns the list as the text of a document of tools, in JSON: an object with the member `tools`.
    pub fn text(&self) -> String {
        format!("{:#}\n", json!({ "tools": self.tools() }))
    }
}

/// Reads the tools of a server. All answers must arrive within `deadline`. A message of the server has at most
/// `line_bytes` bytes.
///
/// # Errors
/// `guard/start` if the command cannot be started; `guard/server-ended` if the server ends; `guard/silent-server` if it
/// does not answer in time; `guard/initialize` if it refuses the session; `guard/list` if its list cannot be read.
pub fn inspect(server: Server<'_>, deadline: Duration, line_bytes: usize) -> Result<Inspected> {
    let (to, events) = sync_channel(MOST_READ);
    let end = Instant::now() + deadline;
    let mut session = Session { events, server: server.start(line_bytes, to)?, deadline, end, last: 0 };
    let about = json!({
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": { "name": "grammata", "version": env!("CARGO_PKG_VERSION") },
    });
    let answer = session.ask("initialize", &about)?;
    let Some(Value::Object(begun)) = answer.value("result") else {
        return Err(errors::initialize(&said(&answer)));
    };
    session.server.send(wire::notification("notifications/initialized", None))?;
    let mut pages = Pages::default();
    let mut params = json!({});
    loop {
        let answer = session.ask("tools/list", &params)?;
        let page = answer.value("result").ok_or_else(|| said(&answer));
        match page.and_then(|page| pages.add(page, answer.bytes("result"))) {
            Ok(None) => break,
            Ok(Some(cursor)) => params = json!({ "cursor": cursor }),
            Err(what) => return Err(errors::list(&what)),
        }
    }
    let info = |name: &str| begun.get("serverInfo").and_then(|info| info.get(name)?.as_str()).map(excerpt);
    let server: Vec<String> = ["name", "version"].into_iter().filter_map(info).collect();
    let protocol = begun.get("protocolVersion").and_then(Value::as_str).map(excerpt);
    Ok(Inspected {
        server: server.join(" "),
        protocol: protocol.unwrap_or_default(),
        catalogue: Catalogue::new(pages),
    })
}

/// Returns what a server said in place of a result.
fn said(answer: &Message) -> String {
    match answer.value("error") {
        Some(error) => format!("the error {error}"),
        None => "a result that cannot be read".to_owned(),
    }
}

struct Session {
    events: Receiver<Event>,
    server: Box<dyn Peer>,
    deadline: Duration,
    end: Instant,
    last: u64,
}

impl Session {
    /// Sends a request and waits for its answer. Requests of the server are answered: `ping` with a result, others with
    /// an error. All else is ignored.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Message> {
        self.last += 1;
        self.server.send(wire::request(self.last, method, params))?;
        loop {
            let left = self.end.saturating_duration_since(Instant::now());
            let event = match left.is_zero() {
                // events may arrive without end
                true => Err(RecvTimeoutError::Timeout),
                false => self.events.recv_timeout(left),
            };
            let line = match event {
                Ok(Event::Line(Side::Server, Line::Text(line))) => line,
                Ok(Event::Line(..)) => continue,
                Ok(Event::Ended(_, how)) => {
                    let how = how.unwrap_or_else(|| self.server.how_ended());
                    return Err(errors::server_ended(&how));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(errors::silent(self.deadline));
                }
            };
            let Ok(message) = Message::read(&line) else { continue };
            match &message.kind {
                Kind::Response { id } if id.number() == Some(self.last) => return Ok(message),
                Kind::Request { id, method } => self.server.send(reply(id, method))?,
                Kind::Response { .. } | Kind::Notification { .. } => {}
            }
        }
    }
}

/// Returns the answer to a request of the server.
fn reply(id: &Id, method: &str) -> String {
    match method {
        "ping" => wire::response(id, &json!({})),
        _ => error::line(Some(id), error::UNKNOWN_METHOD, "this client only lists tools"),
    }
}
