//! Gemini's schemas, as its SDKs and its converters write them: a subset of OpenAPI 3.0 with words of its own.

use serde_json::{Map, Number, Value, json};

/// Keywords whose value is a number of 64 bits, which Gemini's JSON writes as a text.
const LONG: [&str; 6] = ["minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties"];

/// Rewrites Gemini's own keywords of one schema, and leaves those of OpenAPI 3.0:
/// - `ref` and `defs` are `$ref` and `$defs`;
/// - bounds of 64 bits may be texts;
/// - `enum` lists texts, which are values of the type (`format: enum`);
/// - `nullable` allows null next to every other keyword;
/// - a `type` next to `anyOf` is that of the alternatives only if they have no other.
pub(super) fn rewrite(object: &mut Map<String, Value>) {
    for (from, to) in [("ref", "$ref"), ("defs", "$defs")] {
        let is_keyword = match object.get(from) {
            Some(Value::String(_)) => from == "ref",
            Some(Value::Object(_)) => from == "defs",
            _ => false,
        };
        if is_keyword
            && !object.contains_key(to)
            && let Some(value) = object.remove(from)
        {
            object.insert(to.to_owned(), value);
        }
    }
    for keyword in LONG {
        let number = object.get(keyword).and_then(Value::as_str).and_then(|text| text.parse::<Number>().ok());
        if let Some(number) = number {
            object.insert(keyword.to_owned(), Value::Number(number));
        }
    }
    lower_types(object);
    alternatives(object);
    enumeration(object);
    let is_nullable = object.remove("nullable").is_some_and(|flag| flag == true || flag == "true");
    if is_nullable {
        allow_null(object);
    }
}

fn lower_types(object: &mut Map<String, Value>) {
    let Some(kind) = object.get_mut("type") else { return };
    let lower = |name: &mut Value| {
        if let Value::String(name) = name {
            name.make_ascii_lowercase();
        }
    };
    match kind {
        Value::Array(names) => names.iter_mut().for_each(lower),
        name => lower(name),
    }
    if object.get("type").is_some_and(|kind| kind == "type_unspecified") {
        object.remove("type");
    }
}

/// Reads what google-genai writes for unions: an alternative `{"nullable": true}` is null, and the type next to the
/// alternatives is removed if one contradicts it.
fn alternatives(object: &mut Map<String, Value>) {
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        for branch in branches.iter_mut().filter(|branch| **branch == json!({"nullable": true})) {
            *branch = json!({"type": "null"});
        }
    }
    let Some(Value::String(own)) = object.get("type") else { return };
    let Some(Value::Array(branches)) = object.get("anyOf") else { return };
    let is_stand_in = own == "object" && !object.contains_key("properties");
    let contradicts = |branch: &Value| {
        let kind = branch.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| !kind.eq_ignore_ascii_case(own))
    };
    if is_stand_in || branches.iter().any(contradicts) {
        object.remove("type");
    }
}

/// Replaces the texts of an enumeration by the values of the type that they spell.
fn enumeration(object: &mut Map<String, Value>) {
    let kind = object.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
    let Some(Value::Array(values)) = object.get_mut("enum") else { return };
    for value in values {
        let Value::String(text) = value else { continue };
        let read = match kind.as_str() {
            "integer" | "number" => text.trim().parse::<Number>().ok().map(Value::Number),
            "boolean" => text.trim().to_ascii_lowercase().parse::<bool>().ok().map(Value::Bool),
            _ => None,
        };
        if let Some(read) = read {
            *value = read;
        }
    }
}

/// Makes null a value of a schema.
fn allow_null(object: &mut Map<String, Value>) {
    let null = || json!({"type": "null"});
    let is_union = ["anyOf", "oneOf"].iter().any(|word| object.get(*word).is_some_and(Value::is_array));
    let has_others = ["$ref", "allOf"].iter().any(|word| object.contains_key(*word));
    if has_others || (is_union && object.get("enum").is_some()) {
        // what these keywords say must not hold of null
        let description = object.remove("description");
        let inner = std::mem::take(object);
        object.insert("anyOf".to_owned(), Value::Array(vec![Value::Object(inner), null()]));
        object.extend(description.map(|text| ("description".to_owned(), text)));
        return;
    }
    match object.get("type") {
        Some(Value::String(name)) if name != "null" => {
            let types = json!([name, "null"]);
            object.insert("type".to_owned(), types);
        }
        // without a type, only the other keywords exclude null
        _ => {}
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = object.get_mut(keyword) {
            let has_null = branches.iter().any(|branch| {
                branch
                    .get("type")
                    .and_then(Value::as_str)
                    .is_some_and(|kind| kind.eq_ignore_ascii_case("null"))
            });
            if !has_null {
                branches.push(null());
            }
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}
