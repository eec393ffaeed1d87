//! The name and version of the client, for the log.

use super::Guard;
use crate::wire::Message;
use grammata::diagnostic::excerpt;
use serde_json::{Map, Value, json};

/// The member of `_meta` that has the client's name and version, since protocol version 2026-07-28.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

impl Guard<'_> {
    /// Logs the event `["client", {"name": TEXT, "version": TEXT}]` for the first request that names the client, and
    /// for each `initialize`. Long texts are shortened.
    pub(super) fn log_client(&mut self, method: &str, message: &Message) {
        if self.is_client_known && method != "initialize" {
            return;
        }
        let Some(params) = message.value("params") else { return };
        let info = params.get("clientInfo").or_else(|| params.get("_meta")?.get(CLIENT_INFO));
        let text = |name: &str| {
            let text = info?.get(name)?.as_str()?;
            Some((name.to_owned(), Value::from(excerpt(text))))
        };
        let known: Map<String, Value> = ["name", "version"].into_iter().filter_map(text).collect();
        if !known.is_empty() {
            self.is_client_known = true;
            self.log(&json!(["client", known]));
        }
    }
}
