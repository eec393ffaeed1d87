//! The name and version of the client, for the log.

use super::Guard;
use crate::wire::Message;
use grammata::diagnostic::excerpt;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The parameters of a request that may name the client.
#[derive(Deserialize)]
struct Params {
    /// In `initialize`.
    #[serde(rename = "clientInfo")]
    info: Option<Value>,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
}

/// The member of `_meta` that has the client's name and version, since protocol version 2026-07-28.
pub(super) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// The client of a session, as it names itself.
#[derive(Debug, Default)]
pub(super) struct Identity {
    /// The name and the version. Empty if the client has not named itself.
    known: Map<String, Value>,
    is_logged: bool,
}

impl Identity {
    /// Reads the name and version from a request, if it has them. Long texts are shortened.
    pub(super) fn read(&mut self, message: &Message) {
        let Some(params) = message.parsed::<Params>("params") else { return };
        let info = params.info.or_else(|| params.meta?.get_mut(CLIENT_INFO).map(Value::take));
        let text = |name: &str| {
            let text = info.as_ref()?.get(name)?.as_str()?;
            Some((name.to_owned(), Value::from(excerpt(text))))
        };
        let found: Map<String, Value> = ["name", "version"].into_iter().filter_map(text).collect();
        if !found.is_empty() && found != self.known {
            *self = Identity { known: found, is_logged: false };
        }
    }
}

impl Guard<'_> {
    /// Logs the event `["client", {"name": TEXT, "version": TEXT}]` before the first event after the client has named
    /// itself. Thus a session without an event leaves its log empty: some clients start a server once only to ask for
    /// its version of the protocol.
    pub(super) fn log_client(&mut self) {
        if !self.identity.is_logged && !self.identity.known.is_empty() {
            self.identity.is_logged = true;
            let line = self.rules.line(&json!(["client", self.identity.known]));
            self.actions.extend(line.map(super::Action::Log));
        }
    }
}
