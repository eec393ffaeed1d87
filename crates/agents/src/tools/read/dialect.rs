//! Translation of keywords of other dialects to JSON Schema 2020-12.

use super::pointer::join;
use crate::tools::errors;
use grammata::diagnostic::{Diagnostic, Place};
use serde_json::{Map, Number, Value, json};

/// The dialect of a schema, which decides what its keywords mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// JSON Schema since 2019-09.
    Json,
    /// As `Json`, with the formats of OpenAPI's registry: OpenAPI 3.1 and 3.2.
    OpenApi31,
    /// JSON Schema draft 3, where `required` is a keyword of the member.
    Draft3,
    /// JSON Schema up to draft 7: keywords next to `$ref` are ignored.
    Draft7,
    /// The schema objects of OpenAPI 2.0 and 3.0.
    OpenApi30,
    /// JSON Schema with BFCL's names of types.
    Bfcl,
    /// Gemini's subset of OpenAPI 3.0, with types in capitals or in small letters.
    Gemini,
}

impl Dialect {
    /// Returns the dialect that the `$schema` of a schema declares; [`Json`](Dialect::Json) if it declares none of
    /// drafts 3 to 7.
    pub(super) fn of(schema: &Value) -> Dialect {
        match schema.get("$schema").and_then(Value::as_str) {
            Some(uri) if uri.contains("draft-03") => Dialect::Draft3,
            Some(uri) if ["draft-04", "draft-05", "draft-06", "draft-07"].iter().any(|d| uri.contains(d)) => {
                Dialect::Draft7
            }
            _ => Dialect::Json,
        }
    }

    /// Returns whether the dialect ignores keywords next to `$ref`.
    pub(super) fn is_reference_alone(self) -> bool {
        matches!(self, Dialect::Draft3 | Dialect::Draft7 | Dialect::OpenApi30)
    }
}

/// Keywords whose value is a number.
const NUMBERS: [&str; 9] = [
    "minimum",
    "maximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
];
/// Keywords whose value is a boolean.
const BOOLEANS: [&str; 6] =
    ["additionalProperties", "uniqueItems", "nullable", "readOnly", "exclusiveMinimum", "exclusiveMaximum"];
/// Formats of OpenAPI's registry that are annotations and restrict nothing.
const REGISTERED: [&str; 14] = [
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double", "decimal",
    "char", "password", "binary",
];
/// Formats of numbers that code generators write, and that restrict nothing in JSON Schema.
const NUMERIC: [&str; 13] = [
    "int", "int8", "int16", "int32", "int64", "int128", "uint", "uint8", "uint16", "uint32", "uint64",
    "float", "double",
];
/// Annotations that are not shown to models.
const DROPPED: [&str; 9] = [
    "example",
    "examples",
    "xml",
    "externalDocs",
    "propertyOrdering",
    "writeOnly",
    "deprecated",
    "title",
    "$schema",
];

/// Rewrites the keywords of one schema, but not those of its subschemas.
pub(super) fn rewrite(
    object: &mut Map<String, Value>,
    dialect: Dialect,
    pointer: &str,
    notes: &mut Vec<Diagnostic>,
) {
    object.retain(|keyword, _| {
        !DROPPED.contains(&keyword.as_str()) && !keyword.starts_with("x-") || keyword == "x-nullable"
    });
    // the identifiers of a copy would change what its references mean
    for keyword in ["$id", "$anchor", "$dynamicAnchor"] {
        if object.get(keyword).is_some_and(Value::is_string) {
            object.remove(keyword);
        }
    }
    if dialect == Dialect::Gemini {
        super::gemini::rewrite(object);
    }
    repair(object, pointer, notes);
    repair_forms(object, pointer, notes);
    require(object, dialect, pointer, notes);
    if dialect != Dialect::Bfcl {
        repair_types(object, pointer, notes);
    }
    match dialect {
        Dialect::Json | Dialect::Draft3 | Dialect::Draft7 | Dialect::OpenApi31 => {
            // generators of code write the formats of numbers in every dialect
            let is_annotation = |name: &str| match dialect {
                Dialect::OpenApi31 => REGISTERED.contains(&name),
                _ => NUMERIC.contains(&name),
            };
            if object.get("format").and_then(Value::as_str).is_some_and(is_annotation) {
                object.remove("format");
            }
        }
        Dialect::OpenApi30 => {
            note_nullable(object, pointer, notes);
            open_api(object);
        }
        Dialect::Gemini => open_api(object),
        Dialect::Bfcl => map_types(object, |name| bfcl_type(name).map(str::to_owned)),
    }
    base64(object);
}

/// Maps BFCL's type to JSON Schema's; `None` for other names, which allow any value.
fn bfcl_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "dict" | "HashMap" | "Hashtable" | "object" | "map" => "object",
        "float" | "double" | "number" => "number",
        "tuple" | "ArrayList" | "Array" | "array" | "list" | "Queue" | "Stack" | "Set" => "array",
        "long" | "integer" | "int" | "short" | "byte" | "bigint" => "integer",
        "Boolean" | "boolean" | "bool" => "boolean",
        "String" | "char" | "string" | "str" => "string",
        "null" => "null",
        _ => return None,
    })
}

fn map_types(object: &mut Map<String, Value>, map: impl Fn(&str) -> Option<String>) {
    let mapped = match object.get("type") {
        Some(Value::String(name)) => map(name).map(Value::String),
        Some(Value::Array(names)) => {
            let all: Option<Vec<Value>> =
                names.iter().map(|name| map(name.as_str()?).map(Value::String)).collect();
            all.map(Value::Array)
        }
        _ => return,
    };
    match mapped {
        Some(mapped) => _ = object.insert("type".to_owned(), mapped),
        None => _ = object.remove("type"),
    }
}

/// Replaces texts that spell a boolean or a number by that value if the keyword requires one, with a warning.
fn repair(object: &mut Map<String, Value>, pointer: &str, notes: &mut Vec<Diagnostic>) {
    for (keyword, value) in object.iter_mut() {
        let Value::String(text) = value else { continue };
        let repaired = match text.trim() {
            "true" if BOOLEANS.contains(&keyword.as_str()) || keyword == "required" => {
                Some(Value::Bool(true))
            }
            "false" if BOOLEANS.contains(&keyword.as_str()) || keyword == "required" => {
                Some(Value::Bool(false))
            }
            number if NUMBERS.contains(&keyword.as_str()) => number.parse::<Number>().ok().map(Value::Number),
            _ => None,
        };
        if let Some(repaired) = repaired {
            let place = Place::Pointer(join(pointer, keyword));
            notes.push(errors::repaired(place, &value.to_string(), &repaired.to_string()));
            *value = repaired;
        }
    }
}

/// Keywords whose value is a map. They have no effect if the value is null or an empty list (PHP's empty array).
const MAPS: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"];
/// Other keywords that have no effect if their value is null.
const OTHERS: [&str; 14] = [
    "items",
    "additionalItems",
    "prefixItems",
    "required",
    "enum",
    "pattern",
    "format",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "propertyNames",
    "contains",
    "unevaluatedProperties",
];

/// Removes known keywords whose value is null, and maps written as empty lists, with a warning; they have no effect.
fn repair_forms(object: &mut Map<String, Value>, pointer: &str, notes: &mut Vec<Diagnostic>) {
    object.retain(|keyword, value| {
        let word = keyword.as_str();
        let is_map = MAPS.contains(&word);
        let is_empty = is_map && value.as_array().is_some_and(Vec::is_empty);
        let is_known =
            is_map || NUMBERS.contains(&word) || BOOLEANS.contains(&word) || OTHERS.contains(&word);
        let is_silent = is_empty || (value.is_null() && is_known);
        if is_silent {
            let allowed = if is_map { "an object" } else { "a value of the keyword, or no keyword" };
            notes.push(errors::left_out(Place::Pointer(join(pointer, keyword)), &value.to_string(), allowed));
        }
        !is_silent
    });
}

/// Moves `required` from a member to the object that contains it, as draft 3 defines it; in other dialects with a
/// warning.
fn require(object: &mut Map<String, Value>, dialect: Dialect, pointer: &str, notes: &mut Vec<Diagnostic>) {
    let is_true = |flag: &Value| flag == &Value::Bool(true) || flag == "true";
    let members = object.get("properties").and_then(Value::as_object).into_iter().flatten();
    let names: Vec<String> = members
        .filter(|(_, member)| member.get("required").is_some_and(is_true))
        .map(|(name, _)| name.clone())
        .collect();
    if let Some(own) = object.get("required").filter(|own| !own.is_array()) {
        if dialect != Dialect::Draft3 {
            let allowed = "a list of names, in the object that has the member";
            notes.push(errors::repaired(
                Place::Pointer(join(pointer, "required")),
                &own.to_string(),
                allowed,
            ));
        }
        object.remove("required");
    }
    if names.is_empty() {
        return;
    }
    if let Value::Array(required) = object.entry("required").or_insert_with(|| json!([])) {
        for name in names {
            if !required.iter().any(|other| *other == name) {
                required.push(name.into());
            }
        }
    }
}

/// Repairs names of types from other languages, and names in the wrong case, with a warning. `any` removes the type. If
/// a name is unknown, nothing changes.
fn repair_types(object: &mut Map<String, Value>, pointer: &str, notes: &mut Vec<Diagnostic>) {
    const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
    let Some(kind) = object.get("type") else { return };
    let names: Vec<&str> = match kind {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    let is_any = |name: &str| name.eq_ignore_ascii_case("any");
    let type_of = |name: &str| {
        let lower = name.to_ascii_lowercase();
        if TYPES.contains(&name) { Some(name.to_owned()) } else { bfcl_type(&lower).map(str::to_owned) }
    };
    if names.iter().all(|name| TYPES.contains(name))
        || !names.iter().all(|name| is_any(name) || type_of(name).is_some())
    {
        return;
    }
    let found = kind.to_string();
    let repaired = if names.iter().any(|name| is_any(name)) {
        None
    } else {
        let mut types: Vec<String> = names.iter().filter_map(|name| type_of(name)).collect();
        types.dedup();
        Some(if kind.is_array() { json!(types) } else { json!(types.first()) })
    };
    let place = Place::Pointer(join(pointer, "type"));
    match repaired {
        Some(repaired) => {
            notes.push(errors::repaired(place, &found, &repaired.to_string()));
            object.insert("type".to_owned(), repaired);
        }
        None => {
            notes.push(errors::left_out(place, &found, &TYPES.join(", ")));
            object.remove("type");
        }
    }
}

/// Warns of `nullable` without `type`, which OpenAPI 3.0.3 gives no meaning, though many writers mean null.
fn note_nullable(object: &Map<String, Value>, pointer: &str, notes: &mut Vec<Diagnostic>) {
    let is_nullable = object.get("nullable") == Some(&Value::Bool(true));
    let excludes = ["allOf", "anyOf", "oneOf", "$ref", "enum"].iter().any(|word| object.contains_key(*word));
    if is_nullable && excludes && !object.contains_key("type") {
        let place = Place::Pointer(join(pointer, "nullable"));
        let message = "`nullable` without `type` does not allow null";
        let help = "add `type`, or the alternative `{\"enum\": [null]}`";
        notes.push(errors::notice(place, message, "true", help));
    }
}

/// Translates keywords that have a different meaning in OpenAPI 3.0 and 2.0, such as `nullable` and boolean exclusive
/// bounds, and removes properties that are read-only.
fn open_api(object: &mut Map<String, Value>) {
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        match object.get(exclusive) {
            Some(Value::Bool(true)) => {
                object.remove(exclusive);
                if let Some(value) = object.remove(bound) {
                    object.insert(exclusive.to_owned(), value);
                }
            }
            Some(Value::Bool(false)) => _ = object.remove(exclusive),
            _ => {}
        }
    }
    let is_nullable =
        ["nullable", "x-nullable"].iter().any(|word| object.get(*word) == Some(&Value::Bool(true)));
    object.remove("nullable");
    object.remove("x-nullable");
    object.remove("collectionFormat");
    if is_nullable && let Some(Value::String(name)) = object.get("type") {
        let types = json!([name, "null"]);
        object.insert("type".to_owned(), types);
    }
    let is_integer =
        object.get("type").is_some_and(|kind| kind == "integer" || kind == &json!(["integer", "null"]));
    if is_integer {
        let bounds = match object.get("format").and_then(Value::as_str) {
            Some("int32") => Some((json!(i32::MIN), json!(i32::MAX))),
            Some("int64") => Some((json!(i64::MIN), json!(i64::MAX))),
            _ => None,
        };
        if let Some((low, high)) = bounds {
            // the schema's own bound applies in addition to that of the format
            let has_own = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"]
                .iter()
                .any(|word| object.contains_key(*word));
            if has_own {
                let both = json!({"minimum": low, "maximum": high});
                let parts = object.entry("allOf").or_insert_with(|| json!([]));
                if let Value::Array(parts) = parts {
                    parts.push(both);
                }
            } else {
                object.insert("minimum".to_owned(), low);
                object.insert("maximum".to_owned(), high);
            }
            object.remove("format");
        }
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        let read_only: Vec<String> = properties
            .iter()
            .filter(|(_, property)| {
                property.get("readOnly").is_some_and(|flag| flag == &Value::Bool(true) || flag == "true")
            })
            .map(|(name, _)| name.clone())
            .collect();
        properties.retain(|name, _| !read_only.contains(name));
        if let Some(Value::Array(required)) = object.get_mut("required") {
            required.retain(|name| !name.as_str().is_some_and(|name| read_only.iter().any(|r| r == name)));
        }
    }
    // formats unknown to JSON Schema restrict nothing
    const KNOWN: [&str; 17] = [
        "date",
        "date-time",
        "time",
        "duration",
        "email",
        "idn-email",
        "hostname",
        "idn-hostname",
        "ipv4",
        "ipv6",
        "uri",
        "uri-reference",
        "iri",
        "uuid",
        "regex",
        "byte",
        "json-pointer",
    ];
    if object.get("format").is_some_and(|format| !format.as_str().is_some_and(|name| KNOWN.contains(&name))) {
        object.remove("format");
    }
}

/// Replaces `format: byte`, which is base64 (RFC 4648, section 4), by a pattern, unless there is one already.
fn base64(object: &mut Map<String, Value>) {
    if object.get("format").is_some_and(|format| format == "byte") && !object.contains_key("pattern") {
        object.remove("format");
        let pattern = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$";
        object.insert("pattern".to_owned(), pattern.into());
    }
}
