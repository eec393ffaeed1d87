//! The declarations of a procedure: slots, APIs and answers, and the text that calls them.

use super::errors::{self, Findings};
use crate::document::{Content, Document, Entry, NodeId};
use grammata::diagnostic::Place;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

/// Where the values of a slot come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The user's messages.
    User,
    /// The agent makes them up: nobody needs to have said them.
    Agent,
    /// A slot of the response of an API, by the names of both.
    Result {
        /// The API.
        api: String,
        /// The slot of its response.
        slot: String,
    },
}

/// A slot.
#[derive(Clone, Debug)]
pub struct Slot {
    /// The name, with `_` for spaces.
    pub name: String,
    /// What it means; empty if the file says nothing.
    pub description: String,
    /// The JSON Schema of its values.
    pub schema: Option<Value>,
    /// Where its values come from, if the file says so.
    pub source: Option<Source>,
    /// The value if nobody said one.
    pub default: Option<Value>,
    /// Where the file declares it.
    pub place: Place,
}

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A call that the system answers.
    Api,
    /// A message that tells the user something.
    Inform,
    /// A message that asks the user for slots.
    Request,
    /// A greeting or the like.
    Courtesy,
    /// A reply to a message that is outside of the procedure.
    OutOfWorkflow,
}

impl NodeKind {
    const ANSWERS: [(&'static str, NodeKind); 4] = [
        ("inform", NodeKind::Inform),
        ("request", NodeKind::Request),
        ("out_of_workflow", NodeKind::OutOfWorkflow),
        ("courtesy", NodeKind::Courtesy),
    ];

    /// Returns whether it needs no preconditions and conditions: questions and replies out of the workflow.
    pub fn is_free(self) -> bool {
        matches!(self, NodeKind::Request | NodeKind::OutOfWorkflow)
    }
}

/// An API or an answer.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name, with `_` for spaces.
    pub name: String,
    /// What it is.
    pub kind: NodeKind,
    /// What an API does; the reference text of an answer, with `$slot` for values.
    pub description: String,
    /// Names of the nodes that it requires, as written: with `!ok` or `!error` or without.
    pub required: Vec<String>,
    /// Slots of an API's request.
    pub request: Vec<String>,
    /// Slots of the request that may be left out.
    pub optional: Vec<String>,
    /// Slots of the request that need not have the values of the calls that it requires.
    pub rebind: Vec<String>,
    /// Slots of an API's response.
    pub response: Vec<String>,
    /// Whether the call changes something in the world (`effect: write`).
    pub writes: bool,
    /// The most calls of an API in one session.
    pub max_calls: Option<u32>,
    /// Whether it stays done if a node that it requires changes.
    pub keep: bool,
    /// Slots that a request asks for.
    pub asks: Vec<String>,
    /// Patterns that only this answer may say, or `auto`.
    pub claims: Vec<String>,
    /// Where the file declares it.
    pub place: Place,
}

/// The declarations of a file.
#[derive(Debug)]
pub(in crate::procedures) struct Declarations {
    pub(in crate::procedures) name: String,
    pub(in crate::procedures) description: String,
    pub(in crate::procedures) slots: Vec<Slot>,
    /// APIs first, then answers, each in the order of the file.
    pub(in crate::procedures) nodes: Vec<Node>,
    pub(in crate::procedures) procedure: String,
    pub(in crate::procedures) procedure_place: Place,
}

const FILE: [&str; 8] = ["name", "desc", "detailed_desc", "slots", "apis", "answers", "procedure", "pdl"];
const SLOT: [&str; 8] = ["name", "desc", "schema", "source", "default", "type", "enum", "minimum"];
const API: [&str; 11] = [
    "name",
    "desc",
    "request",
    "response",
    "precondition",
    "pre",
    "optional",
    "rebind",
    "effect",
    "max_calls",
    "keep",
];
const ANSWER: [&str; 7] = ["name", "desc", "precondition", "pre", "kind", "asks", "claims"];

/// Returns a name in the form that is compared: without surrounding whitespace, with `_` for whitespace inside.
pub fn normal(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join("_")
}

/// Reads the declarations of a file. `None`, with a finding, if it has no name or no procedure.
pub(in crate::procedures) fn read(document: &Document, findings: &mut Findings) -> Option<Declarations> {
    let place = document.node(0).place.clone();
    let file = Fields::of(document, 0, &FILE, findings)?;
    let name = file.text("name", findings).filter(|name| !name.is_empty());
    let procedure = file.get("procedure").or_else(|| file.get("pdl"));
    let text = file.text_of(procedure, findings).filter(|text| !text.trim().is_empty());
    for (field, is_there) in [("Name", name.is_some()), ("Procedure", text.is_some())] {
        if !is_there {
            findings.error(errors::missing_field(place.clone(), field, "the file"));
        }
    }
    let slots = slots(&file, findings);
    let nodes = nodes(&file, findings);
    Some(Declarations {
        name: name?,
        description: file.text("desc", findings).unwrap_or_default(),
        slots,
        nodes,
        procedure: text?,
        procedure_place: procedure.map_or(place, |entry| document.node(entry.value).place.clone()),
    })
}

fn slots(file: &Fields<'_>, findings: &mut Findings) -> Vec<Slot> {
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
            // a slot may have the keywords itself
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

fn nodes(file: &Fields<'_>, findings: &mut Findings) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut seen = FxHashSet::default();
    for (list, known) in [("apis", &API[..]), ("answers", &ANSWER[..])] {
        let is_api = list == "apis";
        for fields in file.list(list, known, findings) {
            let Some((name, place)) = fields.name(if is_api { "an API" } else { "an answer" }, findings)
            else {
                continue;
            };
            if !seen.insert(name.clone()) {
                findings.error(errors::duplicate_node(place, &name));
                continue;
            }
            let description = fields.text("desc", findings).unwrap_or_default();
            let kind = if is_api { NodeKind::Api } else { kind(&fields, &name, &description, findings) };
            let required = if fields.get("precondition").is_some() { "precondition" } else { "pre" };
            nodes.push(Node {
                required: fields.names(required, findings),
                request: fields.names("request", findings),
                optional: fields.names("optional", findings),
                rebind: fields.names("rebind", findings),
                response: fields.names("response", findings),
                writes: fields.effect(findings),
                max_calls: fields.max_calls(findings),
                keep: fields.flag("keep", findings),
                asks: fields.names("asks", findings),
                claims: fields.claims(findings),
                name,
                kind,
                description,
                place,
            });
        }
    }
    nodes
}

/// Returns the kind of an answer: the written one, or one by its name.
fn kind(fields: &Fields<'_>, name: &str, description: &str, findings: &mut Findings) -> NodeKind {
    if let Some(written) = fields.text("kind", findings).filter(|kind| !kind.is_empty()) {
        if let Some((_, kind)) = NodeKind::ANSWERS.iter().find(|(name, _)| *name == written) {
            return *kind;
        }
        let known = NodeKind::ANSWERS.map(|(name, _)| name);
        findings.error(errors::kind(fields.place("kind"), &written, &known));
        return NodeKind::Inform;
    }
    let lower = name.to_lowercase();
    let begins = ["request_", "ask_", "collect_", "please_provide_"];
    let inside = ["out_of_workflow", "out_of_scope", "free_response", "other"];
    if begins.iter().any(|prefix| lower.starts_with(prefix)) {
        NodeKind::Request
    } else if description.is_empty() && inside.iter().any(|part| lower.contains(part)) {
        NodeKind::OutOfWorkflow
    } else {
        NodeKind::Inform
    }
}

/// The members of a mapping by normal keys.
struct Fields<'d> {
    document: &'d Document,
    at: Place,
    entries: FxHashMap<String, &'d Entry>,
}

impl<'d> Fields<'d> {
    /// Reads a mapping. `None`, with an error, if the value is not a mapping.
    fn of(document: &'d Document, id: NodeId, known: &[&str], findings: &mut Findings) -> Option<Fields<'d>> {
        let node = document.node(id);
        let Content::Mapping(written) = &node.content else {
            findings.error(errors::form(node.place.clone(), "a value that is not a mapping", "a mapping"));
            return None;
        };
        let mut entries: FxHashMap<String, &Entry> = FxHashMap::default();
        for entry in written {
            let key = normal(&entry.key).to_lowercase();
            if !known.contains(&key.as_str()) {
                findings.warn(errors::unknown_field(entry.place.clone(), &entry.key, known));
            } else if entries.insert(key, entry).is_some() {
                let allowed = "each key once; keys are case-insensitive";
                findings.error(errors::form(entry.place.clone(), &entry.key, allowed));
            }
        }
        Some(Fields { document, at: node.place.clone(), entries })
    }

    fn get(&self, key: &str) -> Option<&'d Entry> {
        self.entries.get(key).copied()
    }

    fn place(&self, key: &str) -> Place {
        self.get(key).map_or_else(|| self.at.clone(), |entry| self.document.node(entry.value).place.clone())
    }

    fn text_of(&self, entry: Option<&Entry>, findings: &mut Findings) -> Option<String> {
        let node = self.document.node(entry?.value);
        match &node.content {
            Content::Scalar { text, is_plain: true } if matches!(text.as_str(), "" | "~" | "null") => None,
            Content::Scalar { text, .. } => Some(text.clone()),
            _ => {
                findings.error(errors::form(node.place.clone(), "a list or a mapping", "a text"));
                None
            }
        }
    }

    fn text(&self, key: &str, findings: &mut Findings) -> Option<String> {
        self.text_of(self.get(key), findings)
    }

    fn name(&self, of: &str, findings: &mut Findings) -> Option<(String, Place)> {
        match self.text("name", findings).map(|name| normal(&name)).filter(|name| !name.is_empty()) {
            Some(name) => Some((name, self.place("name"))),
            None => {
                findings.error(errors::missing_field(self.at.clone(), "name", of));
                None
            }
        }
    }

    /// Returns the mappings of a list; none if the field is missing.
    fn list(&self, key: &str, known: &[&str], findings: &mut Findings) -> Vec<Fields<'d>> {
        let Some(entry) = self.get(key) else { return Vec::new() };
        let node = self.document.node(entry.value);
        match &node.content {
            Content::List(items) => {
                items.iter().filter_map(|&item| Fields::of(self.document, item, known, findings)).collect()
            }
            Content::Scalar { text, is_plain: true } if text.is_empty() => Vec::new(),
            _ => {
                findings.error(errors::form(
                    node.place.clone(),
                    "a value that is not a list",
                    "a list of mappings",
                ));
                Vec::new()
            }
        }
    }

    /// A list of names, which may be written as one text.
    fn names(&self, key: &str, findings: &mut Findings) -> Vec<String> {
        let Some(entry) = self.get(key) else { return Vec::new() };
        let trim = |name: &str| normal(name.trim_matches(['\'', '"']));
        let node = self.document.node(entry.value);
        let mut names = Vec::new();
        match &node.content {
            Content::Scalar { text, .. } => {
                let inner = text.trim().trim_matches(['[', ']']);
                let parts = inner.split(|c: char| c == ',' || c.is_whitespace());
                names.extend(parts.filter(|part| !part.is_empty()).map(trim));
            }
            Content::List(items) => {
                for &item in items {
                    match &self.document.node(item).content {
                        Content::Scalar { text, .. } => names.push(trim(text)),
                        _ => {
                            let place = self.document.node(item).place.clone();
                            findings.error(errors::form(place, "a list or a mapping", "a name"));
                        }
                    }
                }
            }
            Content::Mapping(_) => {
                findings.error(errors::form(node.place.clone(), "a mapping", "a list of names"));
            }
        }
        names
    }

    fn json(&self, keys: &[&str]) -> Value {
        let fields = keys.iter().filter_map(|key| {
            let value = self.document.json(self.get(key)?.value);
            Some(((*key).to_owned(), value))
        });
        Value::Object(fields.collect())
    }

    fn flag(&self, key: &str, findings: &mut Findings) -> bool {
        let Some(entry) = self.get(key) else { return false };
        match self.document.json(entry.value) {
            Value::Bool(flag) => flag,
            other => {
                findings.error(errors::form(self.place(key), &other.to_string(), "`true` or `false`"));
                false
            }
        }
    }

    fn effect(&self, findings: &mut Findings) -> bool {
        match self.text("effect", findings).as_deref() {
            None | Some("read") => false,
            Some("write") => true,
            Some(other) => {
                findings.error(errors::form(self.place("effect"), other, "`read` or `write`"));
                false
            }
        }
    }

    fn max_calls(&self, findings: &mut Findings) -> Option<u32> {
        let value = self.document.json(self.get("max_calls")?.value);
        let number =
            value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|&number| number > 0);
        if number.is_none() {
            let allowed = "a whole number from 1 to 4294967295";
            findings.error(errors::form(self.place("max_calls"), &value.to_string(), allowed));
        }
        number
    }

    /// Reads the patterns of `claims`: a list, or one text (`auto`).
    fn claims(&self, findings: &mut Findings) -> Vec<String> {
        let Some(entry) = self.get("claims") else { return Vec::new() };
        match self.document.json(entry.value) {
            Value::String(text) => vec![text],
            Value::Array(items) => items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect(),
            other => {
                findings.error(errors::form(
                    self.place("claims"),
                    &other.to_string(),
                    "`auto` or a list of texts",
                ));
                Vec::new()
            }
        }
    }
}
