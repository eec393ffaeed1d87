//! Reads the JSON responses of an operation: the names of their members, which may be arguments of other operations,
//! and the schema.

use super::Api;
use crate::tools::read::pointer::{follow, join};
use crate::tools::read::schema::of_response;
use grammata::error::Result;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

/// The maximum number of names that are stored per operation.
const MOST_NAMES: usize = 200;
/// The maximum nesting of objects and lists that is searched; ids of results are rarely deeper.
const MOST_DEPTH: usize = 5;

/// Returns the schemas of successful JSON responses (2xx), with their pointers. A reference without a target is
/// ignored, because responses are not validated.
fn schemas<'d>(api: &Api<'d>, operation: &'d Value, pointer: &str) -> Vec<(&'d Value, String)> {
    let responses = operation.get("responses").and_then(Value::as_object);
    let succeeds = |(code, _): &(&String, &Value)| code.starts_with('2');
    let mut found = Vec::new();
    for (code, response) in responses.into_iter().flatten().filter(succeeds) {
        let Ok((response, pointer)) = api.resolve(response, join(pointer, code)) else { continue };
        let contents = response.get("content").and_then(Value::as_object);
        let is_json = |(media, _): &(&String, &Value)| media.contains("json") || media.starts_with("*/");
        for (media, value) in contents.into_iter().flatten().filter(is_json) {
            let pointer = join(&join(&join(&pointer, "content"), media), "schema");
            found.extend(value.get("schema").map(|schema| (schema, pointer)));
        }
        found.extend(response.get("schema").map(|schema| (schema, join(&pointer, "schema"))));
    }
    found
}

/// Returns the first schema of the successful JSON responses (2xx); responses without a schema are skipped. Returns
/// `None` if there is no schema, or if the first one cannot be read.
///
/// # Errors
/// The limit `compile_work`.
pub(super) fn schema(api: &Api<'_>, operation: &Value, pointer: &str) -> Result<Option<Value>> {
    let first = schemas(api, operation, pointer).into_iter().next();
    let Some((schema, pointer)) = first else { return Ok(None) };
    of_response(api.root, schema, &pointer, api.dialect, api.budget)
}

/// Returns the names of members in successful JSON responses (2xx), without duplicates, at most [`MOST_NAMES`]. Schemas
/// nested deeper than [`MOST_DEPTH`] are not searched.
///
/// # Errors
/// The limit `compile_work`.
pub(super) fn outputs<'d>(api: &Api<'d>, operation: &'d Value, pointer: &str) -> Result<Vec<String>> {
    let mut open: Vec<(&Value, usize)> =
        schemas(api, operation, pointer).into_iter().map(|(schema, _)| (schema, 0)).collect();
    let mut names: Vec<String> = Vec::new();
    let mut known: FxHashSet<&str> = FxHashSet::default();
    // a second visit at the same depth adds no names; a visit nearer to the root may reach more members
    let mut seen: FxHashSet<(*const Value, usize)> = FxHashSet::default();
    while let Some((schema, depth)) = open.pop() {
        api.budget.spend(1)?;
        if depth > MOST_DEPTH || !seen.insert((schema, depth)) {
            continue;
        }
        let target = schema.get("$ref").and_then(Value::as_str).and_then(|found| follow(api.root, found));
        open.extend(target.map(|(target, _)| (target, depth)));
        for (name, member) in
            schema.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::iter)
        {
            if names.len() >= MOST_NAMES {
                return Ok(names);
            }
            if known.insert(name) {
                names.push(name.clone());
            }
            open.push((member, depth + 1));
        }
        open.extend(schema.get("items").map(|items| (items, depth + 1)));
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let parts = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            open.extend(parts.map(|part| (part, depth)));
        }
    }
    Ok(names)
}
