//! OpenAPI 2.0, 3.0, 3.1 and 3.2: one tool per operation.

mod body;
mod encoding;
mod operation;
mod parameter;
mod response;
mod server;
mod wire;

use super::dialect::Dialect;
use super::pointer::{follow, join};
use super::{Draft, Reading};
use crate::tools::{errors, name};
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use grammata_base::work::Budget;
use operation::Operation;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

/// The methods of a path item.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];
/// Other keys of a path item.
const OTHER: [&str; 6] = ["summary", "description", "servers", "parameters", "$ref", "additionalOperations"];
/// The number of references in a chain at which the chain is an error.
const CHAIN: usize = 100;

/// A document of OpenAPI, with the options for reading it.
struct Api<'d> {
    root: &'d Value,
    /// The pointer of the root in the document.
    base: &'d str,
    /// Whether the document is of version 2.0.
    is_swagger: bool,
    dialect: Dialect,
    is_open: bool,
    /// Whether arguments are grouped by location.
    is_grouped: bool,
    /// Whether the schemas of responses are kept.
    keeps_responses: bool,
    /// Parameters that the host fills in, by name; parameters of a security scheme also by location.
    hidden: FxHashSet<(String, Option<String>)>,
    /// The base against which a missing or relative server address is resolved.
    server: Option<&'d str>,
    budget: &'d Budget,
}

impl<'d> Api<'d> {
    fn place(&self, pointer: &str) -> Place {
        Place::Pointer(format!("{}{pointer}", self.base))
    }

    /// Follows references from a value to their final target, and returns it with its pointer.
    ///
    /// # Errors
    /// `tools/reference` for a reference without a target or to another document, and for a cycle or a chain of 100 or
    /// more references; limits.
    fn resolve(&self, value: &'d Value, pointer: String) -> Result<(&'d Value, String)> {
        let (mut value, mut pointer) = (value, pointer);
        for _ in 0..CHAIN {
            let Some(reference) = value.get("$ref") else { return Ok((value, pointer)) };
            let place = self.place(&join(&pointer, "$ref"));
            self.budget.spend(1)?;
            let found = reference.as_str().unwrap_or_default();
            let allowed = "a place in this document, as `#/…`";
            let target = follow(self.root, found)
                .ok_or_else(|| errors::fatal(errors::reference(place, found, allowed)))?;
            (value, pointer) = target;
        }
        let allowed = "references that end in a description";
        Err(errors::fatal(errors::reference(self.place(&pointer), "references in a circle", allowed)))
    }
}

/// An operation before it is named.
struct Found {
    id: Option<String>,
    made_name: String,
    draft: Draft,
}

/// Adds one tool for each operation of a document.
pub(super) fn read(root: &Value, base: &str, reading: &mut Reading<'_>) -> Result<()> {
    let version = root.get("openapi").or_else(|| root.get("swagger"));
    let version = match version {
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    let is_json_schema = version.starts_with("3.1") || version.starts_with("3.2");
    let mut api = Api {
        root,
        base,
        is_swagger: root.get("swagger").is_some(),
        dialect: if is_json_schema { Dialect::OpenApi31 } else { Dialect::OpenApi30 },
        is_open: reading.options.open_objects,
        is_grouped: reading.options.grouped,
        keeps_responses: reading.options.responses,
        hidden: reading.options.hidden.iter().map(|name| (name.clone(), None)).collect(),
        server: reading.options.server.as_deref(),
        budget: reading.budget,
    };
    api.hide_credentials();
    let mut found = Vec::new();
    let empty = Map::new();
    let paths = root.get("paths").and_then(Value::as_object).unwrap_or(&empty);
    let mut shapes: FxHashMap<String, &str> = FxHashMap::default();
    for (path, item) in paths {
        if path.starts_with("x-") {
            continue;
        }
        let pointer = join("/paths", path);
        if let Some(other) = shapes.insert(shape(path), path) {
            let message = "another path is the same but for the names of its parameters";
            let help = "if calls are written as requests, they are read as the first of these paths";
            reading.note(None, errors::notice(api.place(&pointer), message, other, help));
        }
        match api.resolve(item, pointer.clone()) {
            Ok((item, pointer)) => path_item(&api, path, item, &pointer, &mut found, reading)?,
            Err(error) if crate::tools::set::is_fatal(&error) => return Err(error),
            Err(error) => reading.reject(error.diagnostic().clone()),
        }
    }
    if version.starts_with('3') && paths.is_empty() && root.get("webhooks").is_none() {
        reading.note(
            None,
            errors::notice(api.place("/paths"), "the document has no paths", "no paths", "check the file"),
        );
    }
    named(found, reading)
}

impl Api<'_> {
    /// Hides the parameters that carry credentials of a security scheme of the type `apiKey`.
    fn hide_credentials(&mut self) {
        let schemes = match self.root.pointer("/components/securitySchemes") {
            Some(schemes) => Some(schemes),
            None => self.root.get("securityDefinitions"),
        };
        for scheme in schemes.and_then(Value::as_object).into_iter().flat_map(Map::values) {
            let text = |member: &str| scheme.get(member).and_then(Value::as_str);
            if let (Some("apiKey"), Some(name)) = (text("type"), text("name")) {
                self.hidden.insert((name.to_owned(), text("in").map(str::to_owned)));
            }
        }
    }
}

/// Returns a path without the names of its parameters: `{}` for each.
fn shape(path: &str) -> String {
    let mut parts = path.split('{');
    let mut shape = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shape.push_str("{}");
        shape.push_str(part.split_once('}').map_or(part, |(_, rest)| rest));
    }
    shape
}

/// Adds the operations of a path item to `found`.
fn path_item<'d>(
    api: &Api<'d>,
    path: &str,
    item: &'d Value,
    pointer: &str,
    found: &mut Vec<Found>,
    reading: &mut Reading<'_>,
) -> Result<()> {
    let Some(object) = item.as_object() else {
        let found = item.to_string();
        reading.reject(errors::form(api.place(pointer), &found, "an object"));
        return Ok(());
    };
    let mut operations: Vec<(String, &Value, String)> = Vec::new();
    for (key, value) in object {
        reading.budget.spend(1)?;
        let pointer = join(pointer, key);
        if METHODS.contains(&key.as_str()) {
            operations.push((key.to_uppercase(), value, pointer));
        } else if key == "additionalOperations" {
            for (method, value) in value.as_object().into_iter().flatten() {
                operations.push((method.clone(), value, join(&pointer, method)));
            }
        } else if !OTHER.contains(&key.as_str()) && !key.starts_with("x-") {
            reading.note(None, errors::path_item_key(api.place(&pointer), key));
        }
    }
    for (method, value, pointer) in operations {
        let mut notes: Vec<Diagnostic> = Vec::new();
        let made =
            Operation { api, path, item: object, value, method: &method, pointer: &pointer }.make(&mut notes);
        let text = |member: &str| value.get(member).and_then(Value::as_str).filter(|text| !text.is_empty());
        let description = text("description").or(text("summary")).unwrap_or_default();
        let draft = Draft {
            name: String::new(),
            description: description.to_owned(),
            label: None,
            place: api.place(&pointer),
            made,
            notes,
        };
        let id = text("operationId").map(str::to_owned);
        found.push(Found { id, made_name: name::of_operation(&method, path), draft });
    }
    Ok(())
}

/// Names the operations: by `operationId` if it is unique, otherwise by a generated name.
fn named(found: Vec<Found>, reading: &mut Reading<'_>) -> Result<()> {
    let mut count: FxHashMap<String, usize> = FxHashMap::default();
    for id in found.iter().filter_map(|operation| operation.id.clone()) {
        *count.entry(id).or_insert(0) += 1;
    }
    let mut taken: FxHashSet<String> =
        count.iter().filter(|(_, n)| **n == 1).map(|(id, _)| id.clone()).collect();
    let mut next: FxHashMap<String, usize> = FxHashMap::default();
    for operation in found {
        let mut draft = operation.draft;
        draft.name = match operation.id.filter(|id| count[id] == 1) {
            Some(id) => id,
            None => {
                let stem = operation.made_name;
                let number = next.entry(stem.clone()).or_insert(1);
                let mut name = if *number == 1 { stem.clone() } else { format!("{stem}_{number}") };
                *number += 1;
                while !taken.insert(name.clone()) {
                    reading.budget.spend(1)?;
                    name = format!("{stem}_{number}");
                    *number += 1;
                }
                name
            }
        };
        reading.add(draft)?;
    }
    Ok(())
}
