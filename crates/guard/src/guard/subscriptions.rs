//! Streams of notifications that a client opens with `subscriptions/listen`, in sessions without `initialize`.
//!
//! The guard itself tells the client of changes of the list of tools, and the server of the other changes: it gets the
//! client's request without the tools. The guard has a stream of its own to hear when the server's tools change.

use super::{Guard, Sent};
use crate::guard::Action;
use crate::wire::{self, Id, Message, error};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// Maximum number of streams of a client.
const MOST_STREAMS: usize = 16;
/// The guard's own stream is opened again only if it lasted at least this long.
const LEAST: Duration = Duration::from_secs(1);

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
pub(super) const LIST_CHANGED: &str = "notifications/tools/list_changed";
/// The member of a filter that requests changes of the list of tools.
const TOOLS: &str = "toolsListChanged";
/// The member of `_meta` with the id of the request that opened the stream.
const STREAM: &str = "io.modelcontextprotocol/subscriptionId";

/// A stream of the client.
#[derive(Debug)]
pub(super) struct Stream {
    id: Id,
    /// Whether the client wants to hear of changes of the list of tools.
    has_tools: bool,
    /// A stream begins with its acknowledgement.
    is_acknowledged: bool,
}

/// The streams of a session.
#[derive(Debug, Default)]
pub(super) struct Streams {
    clients: Vec<Stream>,
    /// When the guard's own stream was opened; `None` if it is not open.
    own: Option<Instant>,
}

impl Streams {
    pub(super) fn len(&self) -> usize {
        self.clients.len()
    }

    pub(super) fn close(&mut self, id: &Id) {
        self.clients.retain(|stream| stream.id != *id);
    }

    pub(super) fn clear(&mut self) {
        self.clients.clear();
        self.own = None;
    }
}

/// Writes the id of a stream into the parameters of a notification, or into a result.
fn mark(members: &mut Value, id: &Id) {
    if let (Value::Object(members), Ok(id)) = (members, serde_json::from_str::<Value>(&id.to_string())) {
        let meta = members.entry("_meta").or_insert_with(|| json!({}));
        if !meta.is_object() {
            *meta = json!({});
        }
        meta[STREAM] = id;
    }
}

impl Guard<'_> {
    /// Opens a stream for the client. The server gets the request if it asks for more than changes of the tools.
    pub(super) fn subscribe(&mut self, id: &Id, message: &Message) {
        let params = message.value("params");
        let mut params = params.unwrap_or_default();
        let Some(filter) = params.get_mut("notifications").and_then(Value::as_object_mut) else {
            return self.refuse(id, error::INVALID_PARAMS, "`notifications` must be an object");
        };
        if self.streams.len() >= MOST_STREAMS {
            return self.refuse(id, error::UNAVAILABLE, "too many subscriptions are open");
        }
        let has_tools = filter.shift_remove(TOOLS) == Some(Value::Bool(true));
        let is_wanted = |value: &Value| !matches!(value, Value::Null | Value::Bool(false));
        let is_passed = filter.values().any(is_wanted);
        self.streams.clients.push(Stream { id: id.clone(), has_tools, is_acknowledged: !is_passed });
        if is_passed {
            let number = self.sent.add(Sent::Subscribed(id.clone()));
            self.actions.push(Action::Server(wire::request(number, "subscriptions/listen", &params)));
        } else {
            let filter = if has_tools { json!({ TOOLS: true }) } else { json!({}) };
            self.tell(id, ACKNOWLEDGED, json!({ "notifications": filter }));
        }
    }

    /// Sends a notification on a stream of the client.
    fn tell(&mut self, id: &Id, method: &str, mut params: Value) {
        mark(&mut params, id);
        self.actions.push(Action::Client(wire::notification(method, Some(params))));
    }

    /// Tells the client that its list of tools has changed.
    pub(super) fn tell_list_changed(&mut self) {
        if self.envelope.is_none() {
            return self.actions.push(Action::Client(wire::notification(LIST_CHANGED, None)));
        }
        let streams = self.streams.clients.iter().filter(|stream| stream.has_tools && stream.is_acknowledged);
        for id in streams.map(|stream| stream.id.clone()).collect::<Vec<Id>>() {
            self.tell(&id, LIST_CHANGED, json!({}));
        }
    }

    /// Opens the guard's own stream, if the session is stateless.
    pub(super) fn listen(&mut self, now: Instant) {
        if self.envelope.is_some() && self.streams.own.is_none() {
            self.streams.own = Some(now);
            let number = self.sent.add(Sent::Listening);
            let filter = Map::from_iter([("notifications".to_owned(), json!({ TOOLS: true }))]);
            let line = wire::request(number, "subscriptions/listen", &self.enveloped(filter));
            self.actions.push(Action::Server(line));
        }
    }

    /// Handles the end of the guard's own stream. A server without such streams ends it immediately with an error. A
    /// stream that has lasted is opened again, and the list is read again, because it may have changed in between.
    pub(super) fn listening_ended(&mut self, now: Instant) {
        if self.streams.own.take().is_some_and(|begin| now.duration_since(begin) >= LEAST) {
            self.listen(now);
            self.servers_list_changed(now);
        }
    }

    /// Handles the server's answer to a client's request for a stream, which ends the stream.
    pub(super) fn subscription_ended(&mut self, id: &Id, message: &Message) {
        self.streams.close(id);
        match message.value("result") {
            Some(mut result) => {
                mark(&mut result, id);
                self.answer(id, &result);
            }
            None => {
                self.in_use.remove(id);
                self.actions.push(Action::Client(message.line(Some(id))));
            }
        }
    }

    /// Handles a notification of the server if it is one of a stream. Returns whether it was.
    pub(super) fn is_of_stream(&mut self, method: &str, message: &Message, now: Instant) -> bool {
        if self.envelope.is_none() {
            return false;
        }
        let Some(mut params) = message.value("params") else { return false };
        let Some(number) = params.get("_meta").and_then(|meta| meta.get(STREAM)) else { return false };
        match number.as_u64().and_then(|number| self.sent.open.get(&number)) {
            Some(Sent::Listening) if method == LIST_CHANGED => self.servers_list_changed(now),
            Some(Sent::Subscribed(id)) if method != LIST_CHANGED => {
                let id = id.clone();
                if method == ACKNOWLEDGED {
                    self.acknowledged(&id, &mut params);
                }
                self.tell(&id, method, params);
            }
            // the guard's stream needs no acknowledgement, and a stream may be closed already
            _ => {}
        }
        true
    }

    /// Records that the server has acknowledged a stream, and adds the tools to what the stream will tell.
    fn acknowledged(&mut self, id: &Id, params: &mut Value) {
        let Some(stream) = self.streams.clients.iter_mut().find(|stream| stream.id == *id) else { return };
        stream.is_acknowledged = true;
        if let Some(filter) = params.get_mut("notifications").and_then(Value::as_object_mut) {
            filter.shift_remove(TOOLS);
            if stream.has_tools {
                filter.insert(TOOLS.to_owned(), true.into());
            }
        }
    }
}
