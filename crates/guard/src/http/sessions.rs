//! The sessions of a listener's clients.

use super::request::Request;
use super::routes::{Routes, SessionClient};
use super::{SESSION, VERSION};
use crate::transport::{Event, Side};
use std::collections::HashMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of HTTP requests of a session that are answered at a time.
const MOST_REQUESTS: usize = 128;

/// The HTTP status and the text of a refusal.
pub(super) type Refusal = (u16, &'static str);

/// When a session was last used, and the number of its HTTP requests that are being answered, including streams of the
/// server's own messages.
#[derive(Debug)]
struct Use {
    last: Instant,
    requests: usize,
}

/// The listener's side of a session.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) routes: Routes,
    to: SyncSender<Event>,
    uses: Arc<Mutex<Use>>,
}

impl Session {
    fn uses(&self) -> MutexGuard<'_, Use> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes an event to the session. Returns whether the session still runs.
    pub(super) fn give(&self, event: Event) -> bool {
        self.to.send(event).is_ok()
    }

    /// Ends the session, as if the client had disconnected.
    fn end(&self) {
        self.give(Event::Ended(Side::Client, None));
    }

    /// Returns the time of the last use; `None` if a request is being answered.
    fn unused_since(&self) -> Option<Instant> {
        let uses = self.uses();
        (uses.requests == 0).then_some(uses.last)
    }
}

/// A session while one of its HTTP requests is answered.
#[derive(Debug)]
pub(super) struct InUse {
    pub(super) name: String,
    pub(super) session: Session,
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut uses = self.session.uses();
        uses.requests -= 1;
        uses.last = Instant::now();
    }
}

/// The open sessions by id.
#[derive(Debug)]
pub(super) struct Sessions {
    open: Mutex<HashMap<String, Session>>,
    /// Maximum number of sessions.
    most: usize,
    /// Time without requests after which a session ends.
    idle: Duration,
}

impl Sessions {
    pub(super) fn new(most: usize, idle: Duration) -> Sessions {
        Sessions { open: Mutex::default(), most, idle }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<String, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends sessions without open requests that were not used for the idle time.
    pub(super) fn sweep(&self) {
        let is_idle =
            |session: &Session| session.unused_since().is_some_and(|last| last.elapsed() > self.idle);
        let idle: Vec<Session> =
            self.open().extract_if(|_, session| is_idle(session)).map(|(_, idle)| idle).collect();
        idle.iter().for_each(Session::end);
    }

    /// Creates a session with a random id, in use by the request that begins it. If there are too many sessions, the
    /// one that was unused for the longest time ends.
    ///
    /// # Errors
    /// 503: all sessions are in use, or there are no random numbers.
    pub(super) fn begin(&self) -> Result<(InUse, SessionClient), Refusal> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|_| (503, "no session can begin: there are no random numbers"))?;
        let name: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let (client, routes, to) = SessionClient::new();
        let session =
            Session { routes, to, uses: Arc::new(Mutex::new(Use { last: Instant::now(), requests: 1 })) };
        let mut open = self.open();
        let mut ended = None;
        if open.len() >= self.most {
            let unused =
                open.iter().filter_map(|(name, session)| Some((session.unused_since()?, name.clone())));
            let (_, oldest) = unused.min().ok_or((503, "all sessions are in use: try again later"))?;
            ended = open.remove(&oldest);
        }
        open.insert(name.clone(), session.clone());
        drop(open);
        ended.iter().for_each(Session::end);
        Ok((InUse { name, session }, client))
    }

    /// Returns the session that a request names, in use by this request.
    ///
    /// # Errors
    /// The request names no session or an unknown one, or another version of the protocol than that of the session; or
    /// too many requests of the session are being answered.
    pub(super) fn find(&self, request: &Request) -> Result<InUse, Refusal> {
        let Some(name) = request.header(SESSION) else {
            return Err((400, "begin with `initialize`, and send the header `Mcp-Session-Id` after it"));
        };
        let open = self.open();
        let session = open.get(name).ok_or((404, "unknown session: begin with `initialize`"))?;
        if request.header(VERSION).is_some_and(|version| !session.routes.has_version(version)) {
            return Err((400, "`MCP-Protocol-Version` is not the version of the session"));
        }
        let mut uses = session.uses();
        if uses.requests >= MOST_REQUESTS {
            return Err((503, "too many requests of the session wait for an answer"));
        }
        uses.requests += 1;
        drop(uses);
        Ok(InUse { name: name.to_owned(), session: session.clone() })
    }

    /// Ends a session at the request of its client.
    pub(super) fn end(&self, used: &InUse) {
        self.remove(&used.name);
        used.session.end();
    }

    /// Removes a session that has ended.
    pub(super) fn remove(&self, name: &str) {
        self.open().remove(name);
    }
}

/// The end of a session. Dropping it removes the session and ends its open requests, also after a panic.
#[derive(Debug)]
pub(super) struct Ending<'s> {
    sessions: &'s Sessions,
    name: String,
    routes: Routes,
    why_failed: Option<String>,
}

impl<'s> Ending<'s> {
    pub(super) fn new(sessions: &'s Sessions, name: String, routes: Routes) -> Ending<'s> {
        Ending { sessions, name, routes, why_failed: None }
    }

    /// Returns the id of the session.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Ends the session, with the reason if it has failed.
    pub(super) fn close(mut self, why_failed: Option<String>) {
        self.why_failed = why_failed;
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.sessions.remove(&self.name);
        self.routes.close(self.why_failed.take());
    }
}
