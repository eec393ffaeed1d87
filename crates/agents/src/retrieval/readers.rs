//! Parsers for the files of other tool sets.

use super::catalogue::{Catalogue, numbered_lines};
use super::errors;
use super::requests::Request;
use super::tool::Tool;
use grammata::diagnostic::{Notation, Source};
use grammata::error::Result;
use grammata::limits::Limits;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;

/// Tools and requests for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolSet {
    /// The tools.
    pub catalogue: Catalogue,
    /// The requests.
    pub requests: Vec<Request>,
}

/// An entry of ToolBench's instruction files.
#[derive(Deserialize)]
struct Instruction {
    api_list: Vec<Api>,
    query: String,
    query_id: Value,
    #[serde(rename = "relevant APIs", default)]
    relevant: Vec<Vec<String>>,
}

#[derive(Deserialize)]
struct Api {
    #[serde(default)]
    category_name: String,
    tool_name: String,
    api_name: String,
    #[serde(default)]
    api_description: Option<String>,
}

/// Parses an instruction file of ToolBench (Qin et al. 2023): a JSON list of objects with `query_id`, `query`,
/// `api_list` and `relevant APIs`, which are pairs of the names of a tool and its API. Each API becomes a tool with the
/// id `tool/api`. Among APIs with the same id, the first counts. Requests without relevant APIs are omitted.
///
/// # Errors
/// The text is longer than `limits.catalogue_bytes`, is not a JSON list of such objects, has two requests with the same
/// id among those that are not omitted, or has more APIs than `limits.catalogue_tools`.
pub fn toolbench(text: &str, limits: &Limits) -> Result<ToolSet> {
    errors::check_size(text, limits)?;
    let entries: Vec<Instruction> = serde_json::from_str(text).map_err(|e| {
        let error = errors::line("a list of ToolBench's instructions", TOOLBENCH, e.line().max(1), &e);
        error.in_source(&Source::new(text, Notation::Json))
    })?;
    let (mut tools, mut seen, mut requests): (Vec<Tool>, HashSet<String>, Vec<Request>) = Default::default();
    for (number, entry) in (1..).zip(entries) {
        for api in entry.api_list {
            let id = format!("{}/{}", api.tool_name, api.api_name);
            if seen.insert(id.clone()) {
                tools.push(Tool {
                    id,
                    name: api.api_name,
                    tool: api.tool_name,
                    category: api.category_name,
                    description: api.api_description.unwrap_or_default(),
                    ..Tool::default()
                });
            }
        }
        let id = entry.query_id.as_str().map_or_else(|| entry.query_id.to_string(), str::to_owned);
        let mut relevant: Vec<Vec<String>> = Vec::new();
        for names in entry.relevant.iter().filter(|names| names.len() >= 2) {
            let tool = vec![names.join("/")];
            if !relevant.contains(&tool) {
                relevant.push(tool);
            }
        }
        if !relevant.is_empty() {
            requests.push(Request::new(id, entry.query, relevant, number));
        }
    }
    finish(tools, requests, limits)
}

/// A line of ToolRet's files.
#[derive(Deserialize)]
struct Task {
    id: String,
    query: String,
    labels: Vec<Label>,
}

#[derive(Deserialize)]
struct Label {
    id: String,
    doc: Value,
    relevance: f64,
}

/// Parses JSON lines of ToolRet (Shi et al. 2025): `id`, `query` and `labels`. Each label has the `id` of a tool, its
/// `doc` (a text, an object with `name` and `description`, or the JSON text of such an object) and its `relevance`.
/// Tools with a positive relevance are needed; requests without a needed tool are omitted. Among tools with the same
/// id, the first counts.
///
/// # Errors
/// The text is longer than `limits.catalogue_bytes`, a line is not such an object, two requests that are not omitted
/// have the same id, the id of a tool is empty, or there are more tools than `limits.catalogue_tools`.
pub fn toolret(text: &str, limits: &Limits) -> Result<ToolSet> {
    errors::check_size(text, limits)?;
    let (mut tools, mut seen, mut requests): (Vec<Tool>, HashSet<String>, Vec<Request>) = Default::default();
    for (number, line) in numbered_lines(text) {
        let task: Task = serde_json::from_str(line).map_err(|e| {
            let error = errors::line("a task of ToolRet", TOOLRET, number, &e);
            error.in_source(&Source::new(text, Notation::Text))
        })?;
        let mut relevant: Vec<Vec<String>> = Vec::new();
        for label in task.labels {
            let group = vec![label.id.clone()];
            if label.relevance > 0.0 && !relevant.contains(&group) {
                relevant.push(group);
            }
            if seen.insert(label.id.clone()) {
                tools.push(described(label.id, &label.doc));
            }
        }
        if !relevant.is_empty() {
            requests.push(Request::new(task.id, task.query, relevant, number));
        }
    }
    finish(tools, requests, limits)
}

/// Converts ToolRet's description of a tool. Without a name, the id is the name.
fn described(id: String, doc: &Value) -> Tool {
    let parsed = doc.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let members = parsed.as_ref().unwrap_or(doc).as_object();
    let member = |name: &str| {
        let text = members.and_then(|members| members.get(name)?.as_str());
        text.unwrap_or_default().to_owned()
    };
    let (name, description) = match members {
        Some(_) => (member("name"), member("description")),
        None => (String::new(), doc.as_str().map_or_else(|| doc.to_string(), str::to_owned)),
    };
    let name = if name.is_empty() { id.clone() } else { name };
    Tool { id, name, description, category: member("category"), ..Tool::default() }
}

fn finish(tools: Vec<Tool>, requests: Vec<Request>, limits: &Limits) -> Result<ToolSet> {
    let mut ids = HashSet::new();
    if let Some(twice) = requests.iter().find(|request| !ids.insert(request.id.as_str())) {
        return Err(twice.id_twice());
    }
    Ok(ToolSet { catalogue: Catalogue::new(tools, limits)?, requests })
}

const TOOLBENCH: &str = "a JSON list of objects with `query_id`, `query`, `api_list` (objects with `tool_name`, `api_name`, \
                         `api_description`, `category_name`) and `relevant APIs` (pairs of names)";
const TOOLRET: &str =
    "a JSON object with `id`, `query` and `labels`, a list of objects with `id`, `doc` and `relevance`";
