//! The slots that a procedure file declares.

use super::errors::{self, Findings};
use super::fields::{Fields, normal};
use grammata::diagnostic::Place;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// The origin of a slot's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The user's messages.
    User,
    /// The agent chooses them freely: they need not occur in the conversation.
    Agent,
    /// A slot of the response of an API.
    Result {
        /// The name of the API.
        api: String,
        /// The name of the slot in its response.
        slot: String,
    },
}

/// A slot: a named value that calls, responses and conditions share.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The name, with `_` for spaces.
    pub name: String,
    /// The description; empty if the file has none.
    pub description: String,
    /// The JSON Schema of the values, if the file or a tool has one.
    pub schema: Option<Value>,
    /// The origin of the values, if the file declares it.
    pub source: Option<Source>,
    /// A value that counts as said even if nobody said it, if the file declares such a value.
    pub default: Option<Value>,
    /// The place of the declaration.
    pub place: Place,
}

const SLOT: [&str; 8] = ["name", "desc", "schema", "source", "default", "type", "enum", "minimum"];

/// Reads the slots that a file declares. A slot without a name, and a second slot of a name, are errors and left out.
pub(super) fn slots(file: &Fields<'_>, findings: &mut Findings) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::new();
    let mut seen = FxHashSet::default();
    for fields in file.list("slots", &SLOT, findings) {
        let Some((name, place)) = fields.name("a slot", findings) else { continue };
        if !seen.insert(name.clone()) {
            findings.error(errors::duplicate_slot(place, &name));
            continue;
        }
        let schema = match fields.get("schema") {
            Some(entry) => Some(fields.document.json(entry.value)),
            // without `schema`, these keywords may be members of the slot itself
            None => Some(fields.json(&["type", "enum", "minimum"]))
                .filter(|schema| schema != &Value::Object(Default::default())),
        };
        let description = fields.text("desc", findings).unwrap_or_default();
        let default = fields.get("default").map(|entry| fields.document.json(entry.value));
        slots.push(Slot { source: source(&fields, findings), default, name, description, schema, place });
    }
    slots
}

fn source(fields: &Fields<'_>, findings: &mut Findings) -> Option<Source> {
    let text = fields.text("source", findings)?;
    match text.as_str() {
        "user" => return Some(Source::User),
        "agent" => return Some(Source::Agent),
        _ => {}
    }
    match text.strip_prefix("result:").and_then(|rest| rest.rsplit_once('.')) {
        Some((api, slot)) => Some(Source::Result { api: normal(api), slot: normal(slot) }),
        None => {
            findings.error(errors::form(
                fields.place("source"),
                &text,
                "`user`, `agent` or `result:API.slot`",
            ));
            None
        }
    }
}
