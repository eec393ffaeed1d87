//! Messages of the client.

use super::asking::Way;
use super::call::Call;
use super::stateless::Envelope;
use super::{Asked, Guard, MOST_CALL_BYTES, MOST_WAITING, Sent};
use crate::guard::Action;
use crate::wire::{self, Id, Kind, Message, error};
use serde_json::{Value, json};
use std::time::Instant;

/// Methods that the guard answers itself or changes.
const JUDGED: [&str; 5] =
    ["initialize", "server/discover", "subscriptions/listen", "tools/list", "tools/call"];

impl Guard<'_> {
    pub(super) fn client_message(&mut self, text: &str, now: Instant) {
        let message = match Message::read(text) {
            Ok(message) => message,
            Err(invalid) => {
                let line = error::line(invalid.id.as_ref(), invalid.code, &invalid.text);
                self.actions.push(Action::Client(line));
                return;
            }
        };
        let checked = self.check_message(&message).and_then(|()| match &message.kind {
            Kind::Request { method, .. } | Kind::Notification { method } => {
                self.check_method(method, &message)
            }
            Kind::Response { .. } => Ok(()),
        });
        if let Err((code, text)) = checked {
            return self.unreadable(&message.kind, code, &text, now);
        }
        match &message.kind {
            Kind::Response { id } => match self.asked.take(id) {
                Some((_, Asked::Servers(id))) => self.actions.push(Action::Server(message.line(Some(&id)))),
                Some((number, Asked::Guards)) => self.question_answered(number, Ok(&message), now),
                None => self.note("an answer of the client to no request was dropped"),
            },
            Kind::Notification { method } => match method.as_str() {
                "notifications/cancelled" => self.cancelled_by_client(&message, now),
                // without an id such a message is a notification; the server could carry it out without a check by the
                // guard
                method if JUDGED.contains(&method) => {
                    self.note("a request of the client without an id was dropped")
                }
                method => {
                    self.actions.push(Action::Server(message.line(None)));
                    if method == "notifications/initialized" {
                        self.begin(now);
                    }
                }
            },
            Kind::Request { id, method } => self.request(id, method, &message, now),
        }
    }

    /// Refuses a message of the client whose names the guard does not know. A request gets the error; the server gets it
    /// as the answer to its request; a notification is dropped with a remark.
    fn unreadable(&mut self, kind: &Kind, code: i32, text: &str, now: Instant) {
        match kind {
            Kind::Request { id, .. } => {
                self.actions.push(Action::Client(error::line(Some(id), code, text)));
            }
            Kind::Response { id } => {
                self.note(&format!("an answer of the client was not passed on: {text}"));
                match self.asked.take(id) {
                    Some((_, Asked::Servers(id))) => {
                        let why = "the client's answer cannot be read";
                        self.actions.push(Action::Server(error::line(Some(&id), error::UNAVAILABLE, why)));
                    }
                    Some((number, Asked::Guards)) => self.question_answered(number, Err(text), now),
                    None => {}
                }
            }
            Kind::Notification { .. } => {
                self.note(&format!("a notification of the client was not passed on: {text}"));
            }
        }
    }

    fn request(&mut self, id: &Id, method: &str, message: &Message, now: Instant) {
        if self.in_use.contains(id) {
            let line = error::line(Some(id), error::INVALID_REQUEST, "a request with this id waits already");
            self.actions.push(Action::Client(line));
            return;
        }
        if self.in_use.len() >= MOST_WAITING {
            return self.refuse(id, error::UNAVAILABLE, "too many requests wait for an answer");
        }
        self.in_use.insert(id.clone());
        self.identity.read(message);
        let is_stateless = !self.is_initialized && method != "initialize";
        let envelope = is_stateless.then(|| Envelope::of(message)).flatten();
        match envelope {
            Some(envelope) if !envelope.is_known() => return self.refuse_version(id, &envelope),
            _ if method == "server/discover" => {
                return self.pass(Sent::Discover(id.clone(), envelope), message);
            }
            Some(envelope) => self.enter(envelope),
            None => {}
        }
        match method {
            "initialize" => {
                let params = message.value("params").unwrap_or_default();
                self.way =
                    params.get("capabilities").and_then(|capabilities| Way::Elicitation.with(capabilities));
                self.pass(Sent::Initialize(id.clone()), message);
            }
            "subscriptions/listen" if self.envelope.is_some() => self.subscribe(id, message),
            "tools/list" => {
                let cursor = message.value("params").and_then(|params| params.get("cursor").cloned());
                if cursor.is_some_and(|cursor| !cursor.is_null()) {
                    return self.refuse(id, error::INVALID_PARAMS, "the list has one page, without a cursor");
                }
                match self.catalogue.is_some() {
                    true => self.list(id),
                    false => {
                        self.lists.push(id.clone());
                        self.begin(now);
                    }
                }
            }
            "tools/call" => self.called(id, message, now),
            _ => self.pass(Sent::Passed(id.clone()), message),
        }
    }

    /// Passes a request of the client on to the server, with an id of the guard.
    fn pass(&mut self, sent: Sent, message: &Message) {
        let number = self.sent.add(sent);
        self.actions.push(Action::Server(message.line(Some(&Id::Number(number.to_string())))));
    }

    fn called(&mut self, id: &Id, message: &Message, now: Instant) {
        if message.bytes("params") > MOST_CALL_BYTES {
            return self.refuse(id, error::INVALID_PARAMS, "the parameters of a call have 1 MiB at most");
        }
        let params = message.value("params");
        let Some(Value::Object(mut params)) = params else {
            return self.refuse(
                id,
                error::INVALID_PARAMS,
                "`params` must be an object, nested 128 deep at most, whose texts have no surrogate without its pair",
            );
        };
        let Some(Value::String(name)) = params.remove("name") else {
            return self.refuse(id, error::INVALID_PARAMS, "`name` must be a text");
        };
        if params.contains_key("task") {
            return self.refuse(id, error::INVALID_PARAMS, "calls as tasks are not supported");
        }
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Default::default(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return self.refuse(id, error::INVALID_PARAMS, "`arguments` must be an object"),
        };
        let tool = self.tool(&name);
        let bytes = message.bytes("params");
        self.add_call(Call { id: id.clone(), tool, name, arguments, rest: params, bytes }, now);
    }

    fn cancelled_by_client(&mut self, message: &Message, now: Instant) {
        let Some(Value::Object(mut params)) = message.value("params") else { return };
        let Some(id) = message.cancelled() else { return };
        if !self.in_use.contains(&id) {
            return;
        }
        if self.question_cancelled(&id, now) {
            return;
        }
        let is_passed = |sent: &Sent| match sent {
            Sent::Passed(passed) | Sent::Other(passed, _) | Sent::Subscribed(passed) => *passed == id,
            _ => false,
        };
        let number = match &self.running {
            Some(running) if running.id == id => Some(running.number),
            // requests other than `initialize`, which a client may not cancel
            _ => self.sent.open.iter().find(|(_, sent)| is_passed(sent)).map(|(number, _)| *number),
        };
        let before = self.queue.len() + self.lists.len() + self.streams.len();
        self.queue.retain(|call| call.id != id);
        self.lists.retain(|known| *known != id);
        self.streams.close(&id);
        if number.is_some() || self.queue.len() + self.lists.len() + self.streams.len() < before {
            self.in_use.remove(&id);
        }
        let Some(number) = number else { return };
        params.insert("requestId".to_owned(), json!(number));
        let line = wire::notification("notifications/cancelled", Some(Value::Object(params)));
        self.actions.push(Action::Server(line));
        self.sent.open.remove(&number);
        if self.running.as_ref().is_some_and(|running| running.id == id) {
            self.call_cancelled(now);
        }
    }
}
