//! Merges the entry of an API with the tool that it names, and adds the resulting slots.

use super::errors::{self, Findings};
use super::fields::{Fields, normal};
use super::schemas::intersection;
use super::slot::Slot;
use super::tools::{self, ApiTool, Documents, Part};
use crate::tools::Tool;
use grammata::diagnostic::{Place, did_you_mean};
use rustc_hash::FxHashMap;
use serde_json::json;

/// Maximum number of members of a response that an error lists.
const MOST_LISTED: usize = 20;

/// The request and the response of an API, merged from its entry and its tool.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// The name of the tool in the entry's reference, or `tool` if that is empty; `None` if the entry has no reference.
    pub(super) name: Option<String>,
    pub(super) tool: Option<Box<ApiTool>>,
    pub(super) request: Vec<String>,
    pub(super) optional: Vec<String>,
    pub(super) response: Vec<String>,
    /// Whether calls have an effect, judged by the tool. The member `effect` of the entry takes precedence.
    pub(super) writes: bool,
    /// The parameters of the tool, one per slot of `request`; empty without a tool. They have no schemas if the tool
    /// cannot be used.
    parameters: Vec<Part>,
    /// The members of the tool's response, one per slot of `response`; empty without a tool. They have no schemas if
    /// the tool cannot be used.
    members: Vec<Part>,
}

impl Exchange {
    /// Reads an entry that names no tool.
    pub(super) fn of_entry(fields: &Fields<'_>, findings: &mut Findings) -> Exchange {
        Exchange {
            request: fields.names("request", findings),
            optional: fields.names("optional", findings),
            response: fields.names("response", findings),
            ..Exchange::default()
        }
    }

    /// Returns the description of the tool; empty without a tool.
    pub(super) fn description(&self) -> String {
        self.tool.as_ref().map(|tool| tool.tool.description.clone()).unwrap_or_default()
    }
}

/// Merges an entry with the tool that it names. If the tool does not exist or cannot be used, or the entry contradicts
/// it, the findings have an error, and the result has the name and the slots of the entry without schemas. If the
/// reference is empty or no text, the findings have an error too, and the result has only the name `tool`.
pub(super) fn tool(fields: &Fields<'_>, documents: &mut Documents<'_>, findings: &mut Findings) -> Exchange {
    let errors_before = findings.0.len();
    let reference = fields.text("tool", findings).unwrap_or_default();
    // an entry with an unknown tool still gets a name, so that references to it are not further errors
    let name = reference.split_once('#').map_or(reference.as_str(), |(_, name)| name);
    let name = if name.is_empty() { "tool".to_owned() } else { name.to_owned() };
    if reference.is_empty() {
        if findings.0.len() == errors_before {
            let cause = "it does not name a file and a tool in it";
            findings.error(errors::tool_file(fields.place("tool"), "nothing", cause));
        }
        return Exchange { name: Some(name), ..Exchange::default() };
    }
    if tools::is_of_server(&reference) {
        return Exchange { name: Some(name), ..of_server(fields, reference, findings) };
    }
    let exchange = match documents.tool(&reference, &fields.place("tool")) {
        Ok(tool) => merged(fields, reference, tool, findings),
        Err(wrong) => {
            findings.error(*wrong);
            None
        }
    };
    let exchange = exchange.unwrap_or_else(|| {
        let (request, parameters) = unlinked(fields, "request", findings);
        let (response, members) = unlinked(fields, "response", findings);
        Exchange { request, response, parameters, members, ..Exchange::default() }
    });
    Exchange { name: Some(name), ..exchange }
}

/// Reads an entry that names the tool of a server. The entry alone says which parameters and members the tool has, as
/// lists of names or `SLOT: NAME`.
fn of_server(fields: &Fields<'_>, reference: String, findings: &mut Findings) -> Exchange {
    let pairs = |key: &str, findings: &mut Findings| {
        fields.pairs(key, findings).unwrap_or_else(|| {
            fields.names(key, findings).into_iter().map(|name| (name.clone(), name)).collect()
        })
    };
    let (parameters, members) = (pairs("request", findings), pairs("response", findings));
    for (at, (_, parameter)) in parameters.iter().enumerate() {
        if parameters[..at].iter().any(|(_, other)| other == parameter) {
            let (place, help) = (fields.place("request"), "take one of the two out");
            findings.error(errors::tool_conflict(place, parameter, "each parameter once", help));
        }
    }
    let slots = |pairs: &[(String, String)]| pairs.iter().map(|(slot, _)| slot.clone()).collect();
    let (request, response) = (slots(&parameters), slots(&members));
    let tool = Tool::of_host(&reference, "", json!({ "type": "object" }).into());
    let tool = Some(Box::new(ApiTool { reference, tool, parameters, members }));
    Exchange { tool, request, response, optional: fields.names("optional", findings), ..Exchange::default() }
}

/// Returns the slots that an entry lists under `key`, each with a part that has no schema.
fn unlinked(fields: &Fields<'_>, key: &str, findings: &mut Findings) -> (Vec<String>, Vec<Part>) {
    let slots: Vec<String> = match fields.pairs(key, findings) {
        Some(pairs) => pairs.into_iter().map(|(slot, _)| slot).collect(),
        None => fields.names(key, findings),
    };
    let part = |slot: &String| Part {
        name: slot.clone(),
        description: String::new(),
        schema: None,
        is_required: false,
    };
    let parts = slots.iter().map(part).collect();
    (slots, parts)
}

fn merged(fields: &Fields<'_>, reference: String, tool: Tool, findings: &mut Findings) -> Option<Exchange> {
    let place = fields.place("tool");
    let known = match tools::parameters(&tool) {
        Ok(known) => known,
        Err(cause) => {
            findings.error(errors::tool_arguments(place, &reference, &cause));
            return None;
        }
    };
    let errors_before = findings.0.len();
    let parameters = request(fields, known, findings);
    let pairs = |pairs: &[(String, Part)]| {
        pairs.iter().map(|(slot, part)| (slot.clone(), part.name.clone())).collect()
    };
    let required: Vec<&str> =
        parameters.iter().filter(|(_, part)| part.is_required).map(|(slot, _)| slot.as_str()).collect();
    let optional = match fields.get("optional") {
        None => {
            let optional = parameters.iter().filter(|(_, part)| !part.is_required);
            optional.map(|(slot, _)| slot.clone()).collect()
        }
        Some(_) => fields.names("optional", findings),
    };
    for slot in optional.iter().filter(|slot| required.contains(&slot.as_str())) {
        let allowed = "slots that the tool does not require";
        findings.error(errors::tool_conflict(
            fields.place("optional"),
            slot,
            allowed,
            "take it out of `optional`",
        ));
    }
    let given: Vec<&str> = parameters.iter().map(|(_, part)| part.name.as_str()).collect();
    let always = parameters.iter().filter(|(slot, _)| !optional.contains(slot));
    let always: Vec<&str> = always.map(|(_, part)| part.name.as_str()).collect();
    if let Some(cause) = tools::unmet(&tool, &given, &always) {
        findings.error(errors::tool_arguments(place.clone(), &reference, &cause));
    }
    let members = response(fields, &tool, &parameters, findings);
    for (key, slots) in [("request", &parameters), ("response", &members)] {
        for (at, (slot, _)) in slots.iter().enumerate() {
            if slots[..at].iter().any(|(other, _)| other == slot) {
                let allowed = "each slot once";
                findings.error(errors::tool_conflict(
                    fields.place(key),
                    slot,
                    allowed,
                    "name the slots: `SLOT: NAME`",
                ));
            }
        }
    }
    if findings.0[errors_before..].iter().any(|finding| finding.severity == errors::Severity::Error) {
        return None;
    }
    let writes = tools::writes(&tool).unwrap_or(false);
    let (pairs_of_request, pairs_of_response) = (pairs(&parameters), pairs(&members));
    let (request, parameters) = parameters.into_iter().unzip();
    let (response, members) = members.into_iter().unzip();
    let tool = ApiTool { reference, tool, parameters: pairs_of_request, members: pairs_of_response };
    Some(Exchange {
        name: None,
        tool: Some(Box::new(tool)),
        request,
        optional,
        response,
        writes,
        parameters,
        members,
    })
}

/// Returns the slots of the request with the parameters that they fill: those that the entry lists, or, without
/// `request`, all. Unknown or repeated parameters, and required ones that the entry does not list, are errors.
fn request(fields: &Fields<'_>, mut known: Vec<Part>, findings: &mut Findings) -> Vec<(String, Part)> {
    let listed = |findings: &mut Findings| -> Vec<(String, String)> {
        fields.names("request", findings).into_iter().map(|name| (name.clone(), name)).collect()
    };
    let written =
        fields.get("request").map(|_| fields.pairs("request", findings).unwrap_or_else(|| listed(findings)));
    let Some(written) = written else {
        return known.into_iter().map(|part| (normal(&part.name), part)).collect();
    };
    let mut request = Vec::new();
    for (slot, name) in written {
        // names in lists have no spaces
        let place = known.iter().position(|part| part.name == name || normal(&part.name) == name);
        match place {
            Some(place) => request.push((slot, known.remove(place))),
            None => {
                let names = known.iter().map(|part| part.name.as_str());
                let near =
                    did_you_mean(&name, names, "`grammata tools list FILE` shows the parameters of a tool");
                findings.error(errors::tool_conflict(
                    fields.place("request"),
                    &name,
                    "parameters of the tool, once",
                    near,
                ));
            }
        }
    }
    for part in known.iter().filter(|part| part.is_required) {
        let allowed = "all parameters that the tool requires";
        let help = "add it to `request`, or leave `request` out";
        findings.error(errors::tool_conflict(
            fields.place("request"),
            &format!("no `{}`", part.name),
            allowed,
            help,
        ));
    }
    request
}

/// Returns the slots of the response with the members whose values they get: those that the entry lists, or, without
/// `response`, all that the document declares and whose names are not parameters of the request. A listed name that is
/// neither declared nor a JSON Pointer is an error if the document declares members.
fn response(
    fields: &Fields<'_>,
    tool: &Tool,
    request: &[(String, Part)],
    findings: &mut Findings,
) -> Vec<(String, Part)> {
    let declared = tools::members(tool);
    if fields.get("response").is_none() {
        let in_request = |part: &Part| request.iter().any(|(_, known)| known.name == part.name);
        let slots = declared.into_iter().filter(|part| !in_request(part));
        return slots.map(|part| (normal(&part.name), part)).collect();
    }
    let written = match fields.pairs("response", findings) {
        Some(pairs) => pairs,
        None => fields.names("response", findings).into_iter().map(|name| (name.clone(), name)).collect(),
    };
    let mut response = Vec::new();
    for (slot, name) in written {
        let known = declared.iter().position(|part| part.name == name || normal(&part.name) == name);
        let is_declared = known.is_some() || name.starts_with('/') || declared.is_empty();
        if !is_declared {
            let names = declared.iter().map(|part| part.name.as_str());
            let near =
                did_you_mean(&name, names, "a member within others is named by a JSON Pointer: `/a/b`");
            let names: Vec<&str> = declared.iter().take(MOST_LISTED).map(|part| part.name.as_str()).collect();
            let allowed = format!("members of the response that the document declares: {}", names.join(", "));
            findings.error(errors::tool_conflict(fields.place("response"), &name, &allowed, near));
            continue;
        }
        let part = match known.map(|place| &declared[place]) {
            Some(part) => Part {
                name: part.name.clone(),
                description: part.description.clone(),
                schema: part.schema.clone(),
                is_required: false,
            },
            None => tools::member_at(tool, &name),
        };
        response.push((slot, part));
    }
    response
}

/// The slots of a procedure file, to which slots of tools are added.
pub(super) struct Slots<'s> {
    slots: &'s mut Vec<Slot>,
    by_name: FxHashMap<String, usize>,
    /// By index of a slot that the file does not declare: whether the request of a tool has the slot.
    in_request: FxHashMap<usize, bool>,
}

impl<'s> Slots<'s> {
    pub(super) fn new(slots: &'s mut Vec<Slot>) -> Slots<'s> {
        let by_name = slots.iter().enumerate().map(|(at, slot)| (slot.name.clone(), at)).collect();
        Slots { slots, by_name, in_request: FxHashMap::default() }
    }

    /// Adds the slots that an API takes from its tool. The schemas of a slot in several requests, and in the file, are
    /// intersected; if that is not possible, the finding is an error.
    pub(super) fn add(&mut self, exchange: &Exchange, place: &Place, findings: &mut Findings) {
        for (slot, part) in exchange.request.iter().zip(&exchange.parameters) {
            self.bind(slot, part, true, place, findings);
        }
        for (slot, part) in exchange.response.iter().zip(&exchange.members) {
            self.bind(slot, part, false, place, findings);
        }
    }

    fn bind(&mut self, name: &str, part: &Part, in_request: bool, place: &Place, findings: &mut Findings) {
        let Some(&at) = self.by_name.get(name) else {
            self.by_name.insert(name.to_owned(), self.slots.len());
            self.in_request.insert(self.slots.len(), in_request);
            self.slots.push(Slot {
                name: name.to_owned(),
                description: part.description.clone(),
                schema: part.schema.clone(),
                source: None,
                default: None,
                place: place.clone(),
            });
            return;
        };
        let slot = &mut self.slots[at];
        if slot.description.is_empty() {
            slot.description.clone_from(&part.description);
        }
        let was_in_request = self.in_request.get(&at).copied();
        match (in_request, was_in_request) {
            // the schema of a request replaces those of responses, because no responses are generated
            (true, Some(false)) => {
                slot.schema.clone_from(&part.schema);
                self.in_request.insert(at, true);
            }
            (true, _) => {
                let (known, new) = (slot.schema.as_ref(), part.schema.as_ref());
                let both = match (known, new) {
                    (Some(known), Some(new)) => intersection(known, new).map(Some),
                    (known, new) => Some(known.or(new).cloned()),
                };
                match both {
                    Some(both) => slot.schema = both,
                    None => {
                        let place = if was_in_request.is_some() { place } else { &slot.place };
                        let schema = |schema: Option<&serde_json::Value>| {
                            schema.map(ToString::to_string).unwrap_or_default()
                        };
                        findings.error(errors::slot_conflict(
                            place.clone(),
                            name,
                            &schema(known),
                            &schema(new),
                        ));
                    }
                }
            }
            (false, None) => slot.schema = slot.schema.take().or_else(|| part.schema.clone()),
            (false, Some(true)) => {}
            // a slot whose schema differs between two responses gets no schema
            (false, Some(false)) => {
                slot.schema = slot.schema.take().filter(|known| Some(known) == part.schema.as_ref())
            }
        }
    }
}
