//! Schemas of slots from documents: replaces references, and intersects two schemas of one slot.

use serde_json::{Map, Value};

/// The most JSON values that are copied while references are replaced.
const MOST_VALUES: usize = 10_000;
/// The greatest nesting depth of a schema after references are replaced.
const MOST_DEPTH: usize = 64;

/// Keywords whose value is a map of schemas.
const MAPS: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords whose value is a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords whose value is a schema.
const SINGLE: [&str; 10] = [
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "propertyNames",
    "contains",
    "not",
    "if",
    "then",
    "else",
];

/// The result of replacing the references of a schema.
pub(super) enum Inlined {
    Schema(Value),
    /// A definition refers to itself, directly or not, or a reference is not `#/$defs/NAME` of a known definition.
    Recursive,
    TooLarge,
}

/// Replaces each `$ref` of the form `#/$defs/NAME` by the definition. Keywords next to the reference are kept. If all
/// of them are `description` or `title` and the definition is an object, they replace those of the definition;
/// otherwise the definition becomes a member of `allOf`. The keyword `$defs` is dropped.
pub(super) fn inlined(schema: &Value, definitions: &Map<String, Value>) -> Inlined {
    let mut inliner = Inliner { definitions, open: Vec::new(), left: MOST_VALUES };
    match inliner.schema(schema, 0) {
        Ok(schema) => Inlined::Schema(schema),
        Err(reason) => reason,
    }
}

struct Inliner<'d> {
    definitions: &'d Map<String, Value>,
    /// The names of the definitions that are being replaced, to detect recursion.
    open: Vec<String>,
    left: usize,
}

impl Inliner<'_> {
    /// Replaces the references of a sub-schema. The recursion ends at [`MOST_DEPTH`].
    fn schema(&mut self, schema: &Value, depth: usize) -> Result<Value, Inlined> {
        self.left = self.left.checked_sub(1).ok_or(Inlined::TooLarge)?;
        if depth > MOST_DEPTH {
            return Err(Inlined::TooLarge);
        }
        let Some(object) = schema.as_object() else { return Ok(schema.clone()) };
        let mut made = Map::new();
        for (keyword, value) in object {
            let word = keyword.as_str();
            let value = match value {
                _ if word == "$ref" || word == "$defs" => continue,
                Value::Object(map) if MAPS.contains(&word) => {
                    let mut inner = Map::new();
                    for (name, value) in map {
                        inner.insert(name.clone(), self.schema(value, depth + 1)?);
                    }
                    Value::Object(inner)
                }
                Value::Array(list) if LISTS.contains(&word) => {
                    let inner = list.iter().map(|value| self.schema(value, depth + 1));
                    Value::Array(inner.collect::<Result<_, _>>()?)
                }
                value if SINGLE.contains(&word) => self.schema(value, depth + 1)?,
                value => {
                    self.left = self.left.checked_sub(size(value)).ok_or(Inlined::TooLarge)?;
                    value.clone()
                }
            };
            made.insert(keyword.clone(), value);
        }
        let Some(reference) = object.get("$ref") else { return Ok(Value::Object(made)) };
        let name =
            reference.as_str().and_then(|text| text.strip_prefix("#/$defs/")).ok_or(Inlined::Recursive)?;
        let target = self.definitions.get(name).ok_or(Inlined::Recursive)?;
        if self.open.iter().any(|open| open == name) {
            return Err(Inlined::Recursive);
        }
        self.open.push(name.to_owned());
        let target = self.schema(target, depth + 1)?;
        self.open.pop();
        let asserts = made.keys().any(|keyword| !matches!(keyword.as_str(), "description" | "title"));
        match target {
            Value::Object(mut target) if !asserts => {
                target.extend(made);
                Ok(Value::Object(target))
            }
            // `allOf` keeps the target's keywords together, as some of them depend on each other
            target => {
                match made.entry("allOf").or_insert_with(|| Value::Array(Vec::new())) {
                    Value::Array(all) => all.push(target),
                    other => *other = Value::Array(vec![target]),
                }
                Ok(Value::Object(made))
            }
        }
    }
}

/// Returns the number of JSON values in a value, including the value itself.
fn size(value: &Value) -> usize {
    let (mut open, mut count) = (vec![value], 0);
    while let Some(value) = open.pop() {
        count += 1;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    count
}

/// Returns a schema of the values that both schemas allow; `None` if it cannot be written without `allOf`, or is found
/// to be empty. Keywords in `INDEPENDENT` are intersected, annotations of `one` are preferred, and other keywords must
/// be equal.
pub(super) fn intersection(one: &Value, other: &Value) -> Option<Value> {
    if one == other {
        return Some(one.clone());
    }
    let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else {
        return match (one, other) {
            (Value::Bool(true), schema) | (schema, Value::Bool(true)) => Some(schema.clone()),
            _ => None,
        };
    };
    const INDEPENDENT: [&str; 14] = [
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "pattern",
        "format",
    ];
    const ANNOTATIONS: [&str; 4] = ["description", "title", "default", "examples"];
    let mut made = one.clone();
    for keyword in one.keys().filter(|keyword| !other.contains_key(*keyword)) {
        if !INDEPENDENT.contains(&keyword.as_str()) && !ANNOTATIONS.contains(&keyword.as_str()) {
            return None;
        }
    }
    for (keyword, value) in other {
        let word = keyword.as_str();
        let Some(known) = one.get(keyword) else {
            if !INDEPENDENT.contains(&word) && !ANNOTATIONS.contains(&word) {
                return None;
            }
            made.insert(keyword.clone(), value.clone());
            continue;
        };
        if known == value || ANNOTATIONS.contains(&word) {
            continue;
        }
        made.insert(keyword.clone(), intersected(word, known, value)?);
    }
    let is_allowed = |made: &Map<String, Value>, value: &Value| {
        made.get("type").and_then(Value::as_str).is_none_or(|kind| has_type(value, kind))
    };
    if let Some(values) = made.get("enum").and_then(Value::as_array) {
        let left: Vec<Value> = values.iter().filter(|value| is_allowed(&made, value)).cloned().collect();
        if left.is_empty() {
            return None;
        }
        made.insert("enum".to_owned(), left.into());
    }
    Some(Value::Object(made))
}

/// Returns the value of a keyword that asserts what both of its values assert; `None` if there is no such value or none
/// can be computed.
fn intersected(keyword: &str, one: &Value, other: &Value) -> Option<Value> {
    match keyword {
        "type" => match (one.as_str(), other.as_str()) {
            (Some("integer"), Some("number")) | (Some("number"), Some("integer")) => Some("integer".into()),
            _ => {
                let names = |value: &Value| -> Vec<Value> {
                    value.as_array().cloned().unwrap_or_else(|| vec![value.clone()])
                };
                let others = names(other);
                let shared: Vec<Value> =
                    names(one).into_iter().filter(|name| others.contains(name)).collect();
                match shared.as_slice() {
                    [] => None,
                    [name] => Some(name.clone()),
                    _ => Some(shared.into()),
                }
            }
        },
        "enum" => {
            let (one, other) = (one.as_array()?, other.as_array()?);
            let shared: Vec<Value> = one.iter().filter(|value| other.contains(value)).cloned().collect();
            (!shared.is_empty()).then(|| shared.into())
        }
        "minimum" | "exclusiveMinimum" | "minLength" | "minItems" => {
            Some(if one.as_f64()? >= other.as_f64()? { one.clone() } else { other.clone() })
        }
        "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" => {
            Some(if one.as_f64()? <= other.as_f64()? { one.clone() } else { other.clone() })
        }
        _ => None,
    }
}

fn has_type(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_replaced() {
        let definitions = json!({
            "day": {"enum": ["Monday"], "description": "d"},
            "week": {"type": "array", "items": {"$ref": "#/$defs/day"}},
            "tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}},
        });
        let of = |schema: Value| match inlined(&schema, definitions.as_object().unwrap()) {
            Inlined::Schema(schema) => schema.to_string(),
            Inlined::Recursive => "recursive".to_owned(),
            Inlined::TooLarge => "too large".to_owned(),
        };
        for (schema, expected) in [
            (
                json!({"$ref": "#/$defs/day", "description": "own"}),
                json!({"enum": ["Monday"], "description": "own"}),
            ),
            (
                json!({"properties": {"$ref": {"$ref": "#/$defs/week"}, "enum": {"const": {"$ref": "x"}}}}),
                json!({"properties": {
                    "$ref": {"type": "array", "items": {"enum": ["Monday"], "description": "d"}},
                    "enum": {"const": {"$ref": "x"}},
                }}),
            ),
            (
                json!({"$ref": "#/$defs/week", "minItems": 1}),
                json!({"minItems": 1, "allOf": [{"type": "array", "items": {"enum": ["Monday"], "description": "d"}}]}),
            ),
        ] {
            assert_eq!(serde_json::from_str::<Value>(&of(schema)).unwrap(), expected);
        }
        assert_eq!(of(json!({"$ref": "#/$defs/tree"})), "recursive");
        assert_eq!(of(json!({"$ref": "#/$defs/none"})), "recursive");
        let wide: Map<String, Value> = (0..30)
            .map(|at| {
                let next = json!({"$ref": format!("#/$defs/{}", at + 1)});
                (at.to_string(), json!({"anyOf": [next, next]}))
            })
            .chain([("30".to_owned(), json!(true))])
            .collect();
        assert!(matches!(inlined(&json!({"$ref": "#/$defs/0"}), &wide), Inlined::TooLarge));
    }

    #[test]
    fn intersections_allow_what_both_allow() {
        for (one, other, expected) in [
            (
                json!({"type": "number", "minimum": 1}),
                json!({"type": "integer", "minimum": 0, "maximum": 9}),
                Some(json!({"type": "integer", "minimum": 1, "maximum": 9})),
            ),
            (
                json!({"type": "string"}),
                json!({"enum": ["a", 1]}),
                Some(json!({"type": "string", "enum": ["a"]})),
            ),
            (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "c"]}), Some(json!({"enum": ["b"]}))),
            (json!({"type": ["string", "null"]}), json!({"type": "string"}), Some(json!({"type": "string"}))),
            (json!(true), json!({"type": "string"}), Some(json!({"type": "string"}))),
            (json!({"type": "string"}), json!({"type": "integer"}), None),
            (json!({"enum": ["a"]}), json!({"enum": ["b"]}), None),
            (json!({"type": "string"}), json!({"enum": [1]}), None),
            (json!({"pattern": "a"}), json!({"pattern": "b"}), None),
            (json!({"properties": {}}), json!({"additionalProperties": false}), None),
        ] {
            assert_eq!(intersection(&one, &other), expected, "{one} {other}");
            assert_eq!(intersection(&other, &one).is_some(), expected.is_some());
        }
    }
}
