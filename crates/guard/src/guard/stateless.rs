//! Version 2026-07-28 of the protocol. Sessions do not begin with `initialize`: each request has an envelope in `_meta`,
//! which names the version, the client and its capabilities, and a client reads about the server with
//! `server/discover`.
//!
//! A session is stateless after the first request with an envelope, but a probe with `server/discover` counts only if
//! the server answers it, because clients fall back to `initialize` otherwise.

use super::Guard;
use super::asking::Way;
use super::identity::CLIENT_INFO;
use crate::guard::Action;
use crate::rules::Values;
use crate::wire::stateless::{VERSION, unsupported_version};
use crate::wire::{self, Id, Message, WITHOUT_SESSIONS};
use serde_json::{Map, Value, json};

/// Members of `_meta` that are an envelope: the version, the client's name and the client's capabilities.
const ENVELOPE: [&str; 3] = [VERSION, CLIENT_INFO, "io.modelcontextprotocol/clientCapabilities"];
/// The extension of calls as tasks. Rules cannot follow a task, because the response to its call does not have the
/// tool's result.
const TASKS: &str = "io.modelcontextprotocol/tasks";

/// What a request says of the version and the client. It has at least the version.
#[derive(Clone, Debug)]
pub(super) struct Envelope(Values);

impl Envelope {
    /// Reads the envelope of a request; `None` if the request names no version.
    pub(super) fn of(message: &Message) -> Option<Envelope> {
        let params = message.value("params")?;
        let meta = params.get("_meta")?;
        meta.get(ENVELOPE[0])?.as_str()?;
        let members = ENVELOPE.iter().filter_map(|name| Some(((*name).to_owned(), meta.get(name)?.clone())));
        Some(Envelope(members.collect()))
    }

    fn version(&self) -> &str {
        self.0.get(ENVELOPE[0]).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the client's capabilities; `None` if the envelope lacks them.
    pub(super) fn capabilities(&self) -> Option<&Value> {
        self.0.get(ENVELOPE[2])
    }

    /// Returns whether the guard knows the version.
    pub(super) fn is_known(&self) -> bool {
        self.version() == WITHOUT_SESSIONS
    }
}

/// Removes the extension of tasks from the capabilities of a client or a server.
fn without_tasks(capabilities: &mut Value) {
    if let Some(extensions) = capabilities.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.shift_remove(TASKS);
    }
}

/// Removes the extension of tasks from the envelope in the parameters of a call, so that the server answers with the
/// tool's result.
pub(super) fn call_without_tasks(params: &mut Values) {
    let capabilities = params.get_mut("_meta").and_then(|meta| meta.get_mut(ENVELOPE[2]));
    if let Some(capabilities) = capabilities {
        without_tasks(capabilities);
    }
}

impl Guard<'_> {
    /// Continues the session with the envelope of a request, whose version is known.
    pub(super) fn enter(&mut self, envelope: Envelope) {
        self.version = wire::known_version(envelope.version());
        self.way = envelope.capabilities().and_then(|capabilities| Way::Result.with(capabilities));
        self.envelope = Some(envelope);
    }

    /// Returns the version that a message of the client belongs to; `None` if it may be any known version.
    pub(super) fn version_of(&self, method: &str, message: &Message) -> Option<&'static str> {
        if method == "initialize" {
            return None;
        }
        let envelope = if self.is_initialized { None } else { Envelope::of(message) };
        let named = envelope.filter(Envelope::is_known);
        named.and_then(|envelope| wire::known_version(envelope.version())).or(self.version)
    }

    /// Returns the parameters of a request of the guard, with the client's envelope if the session is stateless.
    pub(super) fn enveloped(&self, mut params: Values) -> Value {
        if let Some(Envelope(envelope)) = &self.envelope {
            params.insert("_meta".to_owned(), envelope.clone().into());
        }
        params.into()
    }

    /// Returns a result of the guard with the members that a stateless session requires.
    pub(super) fn typed(&self, result: &Value) -> Value {
        let mut result = result.clone();
        if let Some(members) = result.as_object_mut().filter(|_| self.envelope.is_some()) {
            members.entry("resultType").or_insert_with(|| "complete".into());
        }
        result
    }

    /// Returns the result of the client's `tools/list`. The client may not cache it, because it depends on the calls.
    pub(super) fn tool_list(&self, tools: Vec<Value>) -> Value {
        match self.envelope.is_some() {
            true => json!({ "tools": tools, "ttlMs": 0, "cacheScope": "private" }),
            false => json!({ "tools": tools }),
        }
    }

    /// Returns the server's result of `server/discover`, changed for the client: in addition to the changes of
    /// [`described`](Guard::described), versions that the guard does not know are removed, and other clients may not
    /// use the result. The flag is whether a version without `initialize` is left.
    pub(super) fn discovered(&self, result: Map<String, Value>) -> (Value, bool) {
        let mut result = self.described(result);
        if let Some(capabilities) = result.get_mut("capabilities") {
            without_tasks(capabilities);
        }
        result.insert("cacheScope".to_owned(), "private".into());
        let known = |version: &Value| version.as_str().is_some_and(|version| version == WITHOUT_SESSIONS);
        let mut is_stateless = false;
        if let Some(versions) = result.get_mut("supportedVersions").and_then(Value::as_array_mut) {
            // versions that begin with `initialize` are older
            versions.retain(|version| {
                known(version) || version.as_str().is_some_and(|name| name < WITHOUT_SESSIONS)
            });
            is_stateless = versions.iter().any(known);
        }
        (result.into(), is_stateless)
    }

    /// Refuses a request of a version that the guard does not know. Clients then use one of the known versions.
    pub(super) fn refuse_version(&mut self, id: &Id, envelope: &Envelope) {
        self.in_use.remove(id);
        let line = unsupported_version(id, envelope.version(), &[WITHOUT_SESSIONS]);
        self.actions.push(Action::Client(line));
    }
}
