//! A cheap check that a schema certainly has a grammar and a value. The arguments of tools with such schemas are
//! compiled only when a text reaches them, or when a token of a mask may.
//!
//! Schemas not known to be plain are compiled with their set, so that arguments can follow each name that a turn may
//! contain.

use serde_json::{Map, Value};

/// The maximum number of objects and lists examined.
const MOST_PARTS: usize = 1_000;

/// The maximum nesting examined; the check is recursive.
const MOST_DEPTH: usize = 24;

/// The maximum value accepted for a bound on a length or a number of items.
const MOST_BOUND: u64 = 1_000;

/// Returns whether an argument schema certainly has a value and contains nothing that the JSON Schema front end could
/// reject. False means that this is not known.
pub(super) fn is_plain(schema: &Value) -> bool {
    let mut left = MOST_PARTS;
    schema["type"] == "object" && plain(schema, MOST_DEPTH, &mut left)
}

/// Returns an upper bound on the bytes of a shortest value of a plain argument schema, written without spaces. Returns
/// `None` if the schema is not plain or the bound exceeds 1,000.
pub(super) fn least_bytes(schema: &Value) -> Option<usize> {
    let bytes = is_plain(schema).then(|| least(schema))?;
    (bytes <= MOST_BOUND as usize).then_some(bytes)
}

/// Returns the bound of [`least_bytes`] for a part of a schema. The part must be plain, which bounds its nesting by
/// [`MOST_DEPTH`].
fn least(schema: &Value) -> usize {
    let bound = |name: &str| schema[name].as_u64().and_then(|bound| usize::try_from(bound).ok()).unwrap_or(0);
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| value.to_string().len()).min().unwrap_or(0);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let required = schema["required"].as_array().into_iter().flatten();
            let members = required.map(|name| {
                let member = name.as_str().map_or(1, |name| least(&schema["properties"][name]));
                member.saturating_add(name.to_string().len() + 2)
            });
            members.fold(2, usize::saturating_add)
        }
        Some("array") => {
            let item = least(&schema["items"]).saturating_add(1);
            bound("minItems").saturating_mul(item).saturating_add(2)
        }
        Some("string") => bound("minLength").saturating_add(2),
        Some("integer" | "number") => {
            let nearest = |name: &str| schema[name].as_i64().map_or(1, |bound| bound.to_string().len());
            nearest("minimum").max(nearest("maximum"))
        }
        Some("boolean" | "null") => 4,
        // any value is allowed: one digit
        _ => 1,
    }
}

fn plain(schema: &Value, depth: usize, left: &mut usize) -> bool {
    if schema == &Value::Bool(true) {
        return true;
    }
    let Some(members) = schema.as_object() else { return false };
    if depth == 0 || *left == 0 {
        return false;
    }
    *left -= 1;
    let kind = members.get("type").and_then(Value::as_str);
    match kind {
        Some("object") => object(members, depth, left),
        Some("array") => array(members, depth, left),
        Some("string") => string(members),
        Some("integer" | "number") => number(members),
        Some("boolean" | "null") => only(members, &[]),
        Some(_) => false,
        None => !members.contains_key("type") && only(members, &[]),
    }
}

/// Returns whether a schema has no keywords other than these and annotations.
fn only(members: &Map<String, Value>, keywords: &[&str]) -> bool {
    const SILENT: [&str; 11] = [
        "type",
        "title",
        "description",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "xml",
    ];
    let known = |name: &String| keywords.contains(&name.as_str()) || SILENT.contains(&name.as_str());
    members.keys().all(|name| known(name) || name.starts_with("x-"))
}

fn object(members: &Map<String, Value>, depth: usize, left: &mut usize) -> bool {
    if !only(members, &["properties", "required", "additionalProperties"]) {
        return false;
    }
    let empty = Map::new();
    let properties = match members.get("properties") {
        None => &empty,
        Some(Value::Object(properties)) => properties,
        Some(_) => return false,
    };
    let is_open = match members.get("additionalProperties") {
        None | Some(Value::Bool(true)) => true,
        Some(Value::Bool(false)) => false,
        Some(_) => return false,
    };
    let required = match members.get("required") {
        None => &[][..],
        Some(Value::Array(required)) => required,
        Some(_) => return false,
    };
    let different: rustc_hash::FxHashSet<&str> = required.iter().filter_map(Value::as_str).collect();
    different.len() == required.len()
        && different.iter().all(|name| is_open || properties.contains_key(*name))
        && properties.values().all(|property| plain(property, depth - 1, left))
}

fn array(members: &Map<String, Value>, depth: usize, left: &mut usize) -> bool {
    only(members, &["items", "minItems", "maxItems"])
        && bounds(members, "minItems", "maxItems")
        && members.get("items").is_none_or(|items| plain(items, depth - 1, left))
}

fn string(members: &Map<String, Value>) -> bool {
    if members.contains_key("enum") {
        return only(members, &["enum"]) && listed(members, Value::is_string);
    }
    only(members, &["minLength", "maxLength"]) && bounds(members, "minLength", "maxLength")
}

fn number(members: &Map<String, Value>) -> bool {
    if members.contains_key("enum") {
        let is_integer = |value: &Value| value.is_i64() || value.is_u64();
        return only(members, &["enum"]) && listed(members, is_integer);
    }
    let bound = |name: &str| members.get(name).map(Value::as_i64);
    let (least, most) = (bound("minimum"), bound("maximum"));
    only(members, &["minimum", "maximum"])
        && least != Some(None)
        && most != Some(None)
        && least.flatten().zip(most.flatten()).is_none_or(|(least, most)| least <= most)
}

fn listed(members: &Map<String, Value>, is_of_type: impl Fn(&Value) -> bool) -> bool {
    let values = members.get("enum").and_then(Value::as_array);
    values.is_some_and(|values| !values.is_empty() && values.iter().all(is_of_type))
}

fn bounds(members: &Map<String, Value>, least: &str, most: &str) -> bool {
    let bound = |name: &str| members.get(name).map(Value::as_u64);
    let (least, most) = (bound(least), bound(most));
    let fits =
        |bound: Option<Option<u64>>| bound.is_none_or(|bound| bound.is_some_and(|bound| bound <= MOST_BOUND));
    fits(least) && fits(most) && least.flatten().zip(most.flatten()).is_none_or(|(a, b)| a <= b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bounds_are_of_values() {
        let object = |required: &[&str]| {
            json!({"type": "object", "required": required, "properties": {
                "s": {"type": "string", "minLength": 3}, "e": {"type": "string", "enum": ["abc", "x"]},
                "l": {"type": "array", "minItems": 2, "items": {"type": "integer", "minimum": 100}}, "n": {"type": "null"}}})
        };
        for (required, text) in [
            (&[][..], "{}"),
            (&["s"], r#"{"s":"aaa",}"#),
            (&["e", "n"], r#"{"e":"x","n":null,}"#),
            (&["l"], r#"{"l":[100,100,],}"#),
        ] {
            assert_eq!(least_bytes(&object(required)), Some(text.len()), "{text}");
        }
        let long = json!({"type": "array", "minItems": 1000, "items": {"type": "array", "minItems": 1000}});
        let long = json!({"type": "object", "required": ["a"], "properties": {"a": long}});
        assert_eq!(least_bytes(&long), None);
    }
}
