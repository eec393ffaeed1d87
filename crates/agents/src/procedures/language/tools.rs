//! Tools of documents that APIs name: their parameters, the members of their responses, and their calls.

use super::errors;
use super::schemas::{Inlined, inlined};
use crate::tools::{self, Binding, Call, Document, GrammarOptions, ReadOptions, Request, Tool, ToolSet};
use grammata::diagnostic::{Diagnostic, Place, did_you_mean};
use grammata::error::{Error, ErrorKind, Result};
use grammata::limits::{LimitKind, Limits};
use grammata_base::files;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value};
use std::path::{Component, Path, PathBuf};

/// The maximum number of documents that one procedure names.
const MOST_DOCUMENTS: usize = 32;

/// The tool that an API calls: one of a document, or one that a server is expected to have.
#[derive(Clone, Debug)]
pub struct ApiTool {
    /// The reference as written in the file: `FILE#NAME`, or `NAME` for the tool of a server.
    pub reference: String,
    /// The tool, with the name and the arguments of its document. The tool of a server has only its name, and a schema
    /// that allows any arguments.
    pub tool: Tool,
    /// For each slot of the request, the parameter that it fills.
    pub parameters: Vec<(String, String)>,
    /// For each slot of the response, the member whose value it has: a name, or a JSON Pointer if it begins with `/`.
    pub members: Vec<(String, String)>,
}

impl ApiTool {
    /// Returns the arguments of a call by the parameter names of the document. Slots without a parameter are left out.
    pub fn arguments(&self, slots: &Map<String, Value>) -> Map<String, Value> {
        let named = |slot: &str| self.parameters.iter().find(|(known, _)| known == slot);
        let named = slots.iter().filter_map(|(slot, value)| Some((named(slot)?.1.clone(), value.clone())));
        named.collect()
    }

    /// Returns the parameter that a slot of the request fills; the slot's own name if there is none.
    pub fn parameter<'n>(&'n self, slot: &'n str) -> &'n str {
        self.parameters.iter().find(|(known, _)| known == slot).map_or(slot, |(_, parameter)| parameter)
    }

    /// Returns the slot of the request that a parameter fills; the parameter's own name if there is none.
    pub fn slot<'n>(&'n self, parameter: &'n str) -> &'n str {
        self.parameters.iter().find(|(_, known)| known == parameter).map_or(parameter, |(slot, _)| slot)
    }

    /// Returns arguments by the names of slots, from arguments by the names of parameters.
    pub fn slots(&self, arguments: &Map<String, Value>) -> Map<String, Value> {
        arguments.iter().map(|(name, value)| (self.slot(name).to_owned(), value.clone())).collect()
    }

    /// Returns the HTTP request of a call; `None` if the tool is called by the host.
    ///
    /// # Errors
    /// Those of [`ToolSet::of`] with the default limits, and of [`ToolSet::request`].
    pub fn request(&self, slots: &Map<String, Value>) -> Result<Option<Request>> {
        if self.tool.binding == Binding::Host {
            return Ok(None);
        }
        let call = Call { tool: self.tool.name.clone(), arguments: self.arguments(slots) };
        ToolSet::of([self.tool.clone()], &Limits::default())?.request(&call).map(Some)
    }

    /// Adds to a result the slots whose values are members with other names. A slot that the result already has is
    /// kept.
    pub fn result(&self, mut result: Map<String, Value>) -> Map<String, Value> {
        for (slot, member) in self.members.iter().filter(|(slot, member)| slot != member) {
            if let (Some(value), false) = (member_of(&result, member).cloned(), result.contains_key(slot)) {
                result.insert(slot.clone(), value);
            }
        }
        result
    }

    /// Returns a result of the server's tool by the names of slots: each slot has the value of its member. Other members
    /// are kept, unless they have the name of a slot.
    pub fn slots_of_result(&self, result: &Map<String, Value>) -> Map<String, Value> {
        let value =
            |(slot, member): &(String, String)| Some((slot.clone(), member_of(result, member)?.clone()));
        let is_slot = |name: &String| self.members.iter().any(|(slot, _)| slot == name);
        let others = result.iter().filter(|(name, _)| !is_slot(name));
        let others = others.map(|(name, value)| (name.clone(), value.clone()));
        self.members.iter().filter_map(value).chain(others).collect()
    }
}

/// Returns the value of a member: a name, or a JSON Pointer if it begins with `/`.
fn member_of<'v>(result: &'v Map<String, Value>, member: &str) -> Option<&'v Value> {
    let Some(rest) = member.strip_prefix('/') else { return result.get(member) };
    let (first, rest) = rest.split_once('/').map_or((rest, None), |(first, rest)| (first, Some(rest)));
    let value = result.get(&first.replace("~1", "/").replace("~0", "~"))?;
    rest.map_or(Some(value), |rest| value.pointer(&format!("/{rest}")))
}

/// Returns whether a reference names the tool of a server: it has no `#`, and no ending of a document, whose name was
/// then forgotten.
pub(in crate::procedures) fn is_of_server(reference: &str) -> bool {
    let has = |ending: &&str| reference.to_lowercase().ends_with(ending);
    !reference.contains('#') && ![".json", ".yaml", ".yml", ".py"].iter().any(has)
}

/// A cache of the documents that a procedure names. Each is read once, on first use.
pub(in crate::procedures) struct Documents<'f> {
    folder: Option<&'f Path>,
    limits: &'f Limits,
    read: FxHashMap<String, std::result::Result<ToolSet, String>>,
}

impl<'f> Documents<'f> {
    /// Creates the cache for documents in or below the folder of a procedure. Without a folder each document is an
    /// error.
    pub(in crate::procedures) fn new(folder: Option<&'f Path>, limits: &'f Limits) -> Documents<'f> {
        Documents { folder, limits, read: FxHashMap::default() }
    }

    /// Returns the tool of a reference `FILE#NAME`, or an error at `place`: the reference is malformed, the document
    /// cannot be read or is one too many, or the tool is unknown or cannot be called.
    pub(super) fn tool(
        &mut self,
        reference: &str,
        place: &Place,
    ) -> std::result::Result<Tool, Box<Diagnostic>> {
        let tool_file = |found: &str, cause: &str| Box::new(errors::tool_file(place.clone(), found, cause));
        let (path, name) = reference
            .split_once('#')
            .filter(|(path, name)| !path.is_empty() && !name.is_empty())
            .ok_or_else(|| tool_file(reference, "it does not name a file and a tool in it"))?;
        if !self.read.contains_key(path) && self.read.len() >= MOST_DOCUMENTS {
            let cause = format!("a procedure names at most {MOST_DOCUMENTS} documents");
            return Err(tool_file(path, &cause));
        }
        let (folder, limits) = (self.folder, self.limits);
        let read = self.read.entry(path.to_owned()).or_insert_with(|| document(path, folder, limits));
        let set = read.as_ref().map_err(|cause| tool_file(path, cause))?;
        let Some(tool) = set.tool(name) else {
            let names = set.callable().map(|tool| tool.name.as_str());
            let near =
                did_you_mean(name, names, "`grammata tools list FILE` shows the names of the document");
            return Err(Box::new(errors::unknown_tool(place.clone(), name, path, near)));
        };
        let refusal = tool.refusal.as_deref().cloned();
        let refusal = refusal.or_else(|| {
            let options = GrammarOptions::arguments(limits.clone());
            tool.grammar(&options).err().map(|error| error.diagnostic().clone())
        });
        match refusal {
            Some(reason) => Err(Box::new(errors::tool_refused(place.clone(), reference, &reason))),
            None => Ok(tool.clone()),
        }
    }
}

/// Reads the tools of a document, or returns why it cannot be read.
fn document(path: &str, folder: Option<&Path>, limits: &Limits) -> std::result::Result<ToolSet, String> {
    let folder = folder.ok_or("a procedure that is not from a file has no folder to look in")?;
    let relative = PathBuf::from(path);
    if !relative.components().all(|part| matches!(part, Component::Normal(_))) {
        return Err("the path leads out of the folder of the procedure".to_owned());
    }
    let too_large =
        |found: u64| Limits::exceeded(LimitKind::SourceBytes, limits.source_bytes, format!("{found} bytes"));
    let root = files::resolved(folder).map_err(|error| why(&error))?;
    let bytes = files::read_within(folder, &relative, &root, limits.source_bytes, too_large);
    let bytes = bytes.map_err(|error| why(&error))?.ok_or("there is no such file")?;
    let text = String::from_utf8(bytes).map_err(|_| "it is no text in UTF-8")?;
    let options = ReadOptions::default().responses(true).limits(limits.clone());
    let label = relative.file_stem().and_then(|stem| stem.to_str()).unwrap_or("tools");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    tools::read([Document { label, text }], &options).map_err(|error| why(&error))
}

/// Formats an error as one line: its message, its place if that is known and no limit was exceeded, and what was found.
fn why(error: &Error) -> String {
    let diagnostic = error.diagnostic();
    let mut text = diagnostic.message().to_owned();
    if error.kind() != ErrorKind::Limit && diagnostic.place() != &Place::Whole {
        text.push_str(&format!(" (at {})", diagnostic.place()));
    }
    if let Some(found) = diagnostic.found_text() {
        text.push_str(&format!(": {found}"));
    }
    text
}

/// A value that an API exchanges with its tool: a parameter, or a member of the response.
#[derive(Debug)]
pub(in crate::procedures) struct Part {
    pub(in crate::procedures) name: String,
    pub(in crate::procedures) description: String,
    pub(in crate::procedures) schema: Option<Value>,
    pub(in crate::procedures) is_required: bool,
}

/// Returns the parameters of a tool, with schemas without references.
///
/// # Errors
/// The name of a parameter, in a sentence: its schema is recursive, has a reference that is not `#/$defs/NAME` of a
/// known definition, or is too large.
pub(in crate::procedures) fn parameters(tool: &Tool) -> std::result::Result<Vec<Part>, String> {
    let schema = tool.arguments.value();
    let empty = Map::new();
    let field = |name: &str| schema.get(name).and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = list(schema.get("required")).collect();
    let definitions = field("$defs");
    let mut parts = Vec::new();
    for (name, member) in field("properties") {
        let schema = match inlined(member, definitions) {
            Inlined::Schema(schema) => schema,
            Inlined::Recursive => return Err(format!("the schema of `{name}` refers to itself")),
            Inlined::TooLarge => {
                return Err(format!("the schema of `{name}` is too large once it has no references"));
            }
        };
        parts.push(part(name, schema, required.contains(&name.as_str())));
    }
    Ok(parts)
}

/// Returns the members that the document declares at the root of a tool's response; empty if there are none, or if the
/// references of the schema cannot be replaced ([`inlined`]).
pub(in crate::procedures) fn members(tool: &Tool) -> Vec<Part> {
    let Some(schema) = tool.response.as_ref().map(tools::Schema::value) else { return Vec::new() };
    let empty = Map::new();
    let definitions = schema.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
    let Inlined::Schema(root) = inlined(&schema, definitions) else { return Vec::new() };
    let properties = root.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    properties.iter().map(|(name, schema)| part(name, schema.clone(), false)).collect()
}

/// Returns the member at a JSON Pointer into a tool's response. It has no schema if the document does not declare it,
/// or if the references of the response's schema cannot be replaced ([`inlined`]).
pub(super) fn member_at(tool: &Tool, pointer: &str) -> Part {
    let found = || {
        let schema = tool.response.as_ref()?.value();
        let empty = Map::new();
        let definitions = schema.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
        let Inlined::Schema(mut at) = inlined(&schema, definitions) else { return None };
        for step in pointer.split('/').skip(1) {
            let name = step.replace("~1", "/").replace("~0", "~");
            let is_index = name.bytes().all(|byte| byte.is_ascii_digit());
            let next = at.get("properties").and_then(|members| members.get(&name));
            at = next.or_else(|| at.get("items").filter(|_| is_index))?.clone();
        }
        Some(at)
    };
    let schema = found();
    Part { schema: schema.clone(), ..part(pointer, schema.unwrap_or(Value::Bool(true)), false) }
}

fn part(name: &str, mut schema: Value, is_required: bool) -> Part {
    let mut description = String::new();
    if let Some(object) = schema.as_object_mut() {
        if let Some(Value::String(text)) = object.remove("description") {
            description = text;
        }
        for annotation in ["$defs", "title", "default", "examples", "readOnly", "writeOnly"] {
            object.remove(annotation);
        }
    }
    let is_empty = schema.as_object().is_some_and(Map::is_empty) || schema == Value::Bool(true);
    Part { name: name.to_owned(), description, schema: (!is_empty).then_some(schema), is_required }
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns why calls may break a keyword that concerns several arguments, such as `minProperties`, or why that is
/// unknown; `None` if they cannot. `given` are the parameters that calls may have, `always` those that each call has.
pub(super) fn unmet(tool: &Tool, given: &[&str], always: &[&str]) -> Option<String> {
    const KNOWN: [&str; 13] = [
        "type",
        "properties",
        "required",
        "additionalProperties",
        "unevaluatedProperties",
        "$defs",
        "$schema",
        "title",
        "description",
        "default",
        "dependentRequired",
        "minProperties",
        "maxProperties",
    ];
    let schema = tool.arguments.value();
    let object = schema.as_object()?;
    if let Some(keyword) = object.keys().find(|keyword| !KNOWN.contains(&keyword.as_str())) {
        return Some(format!("`{keyword}` says something of several arguments together"));
    }
    for (name, needed) in object.get("dependentRequired").and_then(Value::as_object).into_iter().flatten() {
        let lacking = list(Some(needed)).find(|needed| !always.contains(needed));
        if let (true, Some(lacking)) = (given.contains(&name.as_str()), lacking) {
            return Some(format!("a call with `{name}` needs `{lacking}`, which calls may leave out"));
        }
    }
    let number = |keyword: &str| object.get(keyword).and_then(Value::as_u64);
    if number("minProperties").is_some_and(|least| least > always.len() as u64) {
        return Some("`minProperties` needs more arguments than each call has".to_owned());
    }
    if number("maxProperties").is_some_and(|most| most < given.len() as u64) {
        return Some("`maxProperties` allows fewer arguments than a call may have".to_owned());
    }
    None
}

/// Returns whether calls of a tool have an effect, judged by the HTTP method; `None` if the tool is called by the host.
pub(super) fn writes(tool: &Tool) -> Option<bool> {
    match &tool.binding {
        Binding::Host => None,
        Binding::Http(http) => {
            Some(!matches!(http.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY"))
        }
    }
}
