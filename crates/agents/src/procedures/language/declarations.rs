//! The declarations of a procedure: slots, APIs and answers, and the text that calls them.

use super::errors::{self, Findings};
use super::fields::Fields;
use super::merge::{self, Exchange};
use super::slot::slots;
use super::tools::{ApiTool, Documents};
use crate::document::Document;
use grammata::diagnostic::Place;
use rustc_hash::FxHashSet;

pub use super::fields::normal;
pub use super::slot::{Slot, Source};

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

    /// Returns whether nodes of the kind are open whatever their preconditions and conditions: questions and replies
    /// out of the workflow.
    pub fn is_free(self) -> bool {
        matches!(self, NodeKind::Request | NodeKind::OutOfWorkflow)
    }
}

/// An API or an answer.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name, with `_` for spaces.
    pub name: String,
    /// The kind of the node.
    pub kind: NodeKind,
    /// For an API, what it does. For an answer, its reference text, with `$slot` for values. Empty if there is none.
    pub description: String,
    /// Names of the nodes that must be done before, with `_` for spaces. `!ok` or `!error` after a name requires that
    /// outcome.
    pub required: Vec<String>,
    /// Slots of an API's request.
    pub request: Vec<String>,
    /// Slots of the request that may be left out.
    pub optional: Vec<String>,
    /// The tool that an API calls, of a document or of a server, if the file names one.
    pub tool: Option<Box<ApiTool>>,
    /// Slots of the request that may have other values than in the earlier calls that the node requires.
    pub rebind: Vec<String>,
    /// Slots of an API's response.
    pub response: Vec<String>,
    /// Whether the call changes something in the world: the file says `effect: write`, or says nothing and the HTTP
    /// method of the tool changes something.
    pub writes: bool,
    /// The maximum number of calls of an API in one session; `None` for no bound.
    pub max_calls: Option<u32>,
    /// Whether the node stays done if an API that it requires, directly or not, gives another answer.
    pub keep: bool,
    /// Whether a call of an API may be repeated with the same arguments, because its answer may change by itself.
    pub repeat: bool,
    /// Slots that a request asks for.
    pub asks: Vec<String>,
    /// Patterns of texts that only this answer may contain. `auto` means the words of its description that no other
    /// node's description has.
    pub claims: Vec<String>,
    /// Where the file declares the node.
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
const API: [&str; 13] = [
    "name",
    "tool",
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
    "repeat",
];
const ANSWER: [&str; 7] = ["name", "desc", "precondition", "pre", "kind", "asks", "claims"];

/// Reads the declarations of a file, merged with the tools that its APIs name. `None`, with an error among the
/// findings, if the file is not a mapping, or has no name or no text of a procedure.
pub(in crate::procedures) fn read(
    document: &Document,
    documents: &mut Documents<'_>,
    findings: &mut Findings,
) -> Option<Declarations> {
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
    let mut slots = slots(&file, findings);
    let nodes = nodes(&file, documents, &mut slots, findings);
    Some(Declarations {
        name: name?,
        description: file.text("desc", findings).unwrap_or_default(),
        slots,
        nodes,
        procedure: text?,
        procedure_place: procedure.map_or(place, |entry| document.node(entry.value).place.clone()),
    })
}

fn nodes(
    file: &Fields<'_>,
    documents: &mut Documents<'_>,
    slots: &mut Vec<Slot>,
    findings: &mut Findings,
) -> Vec<Node> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut made = merge::Slots::new(slots);
    let mut seen = FxHashSet::default();
    for (list, known) in [("apis", &API[..]), ("answers", &ANSWER[..])] {
        let is_api = list == "apis";
        for fields in file.list(list, known, findings) {
            let exchange = fields.get("tool").map(|_| merge::tool(&fields, documents, findings));
            let of_tool = exchange.as_ref().and_then(|exchange| exchange.name.as_deref());
            let named = match of_tool.filter(|_| fields.get("name").is_none()) {
                Some(name) => Some((normal(name), fields.place("tool"))),
                None => fields.name(if is_api { "an API" } else { "an answer" }, findings),
            };
            let Some((name, place)) = named else { continue };
            if !seen.insert(name.clone()) {
                findings.error(errors::duplicate_node(place, &name));
                continue;
            }
            let exchange = exchange.unwrap_or_else(|| Exchange::of_entry(&fields, findings));
            made.add(&exchange, &place, findings);
            let description = fields.text("desc", findings).unwrap_or_else(|| exchange.description());
            let kind = if is_api { NodeKind::Api } else { kind(&fields, &name, &description, findings) };
            let required = if fields.get("precondition").is_some() { "precondition" } else { "pre" };
            nodes.push(Node {
                required: fields.names(required, findings),
                request: exchange.request,
                optional: exchange.optional,
                rebind: fields.names("rebind", findings),
                response: exchange.response,
                writes: fields.effect(findings).unwrap_or(exchange.writes),
                tool: exchange.tool,
                max_calls: fields.max_calls(findings),
                keep: fields.flag("keep", findings),
                repeat: fields.flag("repeat", findings),
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

/// Returns the kind of an answer: the written one, or otherwise one by its name. A name alone makes a reply out of the
/// workflow only if the description is empty. An unknown written kind is an error and read as an inform.
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
