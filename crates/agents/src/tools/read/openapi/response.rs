//! The member names in the JSON responses of an operation, which may meet the needs of other operations.

use super::Api;
use crate::tools::read::pointer::{follow, join};
use grammata::error::Result;
use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

/// The maximum number of names stored per operation.
const MOST_NAMES: usize = 200;
/// The maximum nesting of objects and lists that is searched; ids of results are hardly ever deeper.
const MOST_DEPTH: usize = 5;

/// The names of members in successful responses (2xx), without duplicates, at most [`MOST_NAMES`]. A reference without
/// a target is ignored, because responses are not validated.
///
/// # Errors
/// The budget.
pub(super) fn outputs<'d>(api: &Api<'d>, operation: &'d Value, pointer: &str) -> Result<Vec<String>> {
    let responses = operation.get("responses").and_then(Value::as_object);
    let succeeds = |(code, _): &(&String, &Value)| code.starts_with('2');
    let mut open: Vec<(&Value, usize)> = Vec::new();
    for (code, response) in responses.into_iter().flatten().filter(succeeds) {
        let Ok((response, _)) = api.resolve(response, join(pointer, code)) else { continue };
        let contents = response.get("content").and_then(Value::as_object);
        let is_json = |(media, _): &(&String, &Value)| media.contains("json") || media.starts_with("*/");
        let schemas =
            contents.into_iter().flatten().filter(is_json).filter_map(|(_, value)| value.get("schema"));
        open.extend(schemas.chain(response.get("schema")).map(|schema| (schema, 0)));
    }
    let mut names: Vec<String> = Vec::new();
    let mut known: FxHashSet<&str> = FxHashSet::default();
    // a schema that was visited before adds nothing new
    let mut seen: FxHashSet<*const Value> = FxHashSet::default();
    while let Some((schema, depth)) = open.pop() {
        api.budget.spend(1)?;
        if depth > MOST_DEPTH || !seen.insert(schema) {
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
