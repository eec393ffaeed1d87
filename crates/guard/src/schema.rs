//! JSON Schemas of arguments: intersections of schemas, and checks of values.

use crate::rules::Values;
use jsonschema::{PatternOptions, Validator};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

/// Maximum number of backtracking steps in the match of a pattern. A value that needs more is not allowed.
const BACKTRACKING: usize = 100_000;

/// Keywords whose assertions do not depend on other keywords. Such keywords of two schemas can be put into one schema,
/// which then asserts both.
const INDEPENDENT: [&str; 17] = [
    "type",
    "const",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];
/// Keywords that assert nothing.
const ANNOTATIONS: [&str; 4] = ["title", "description", "examples", "default"];

/// Creates the validator of a schema. References to other documents are not followed.
///
/// # Errors
/// Text that says why the schema is not valid.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKING);
    let options = jsonschema::options().with_pattern_options(patterns);
    options.build(schema).map_err(|cause| cause.to_string())
}

/// Maximum number of cached validators. When it is reached, the cache is cleared.
const MOST_KEPT: usize = 256;

/// A checker of values, with a cache of validators. Building a validator takes longer than all other work of a call.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    /// Validators by the text of the schema; `None` for an invalid schema, which allows no value.
    validators: FxHashMap<String, Option<Validator>>,
}

impl Checker {
    /// Returns whether a schema allows a value. If the schema has `const`, its other keywords are not checked.
    pub(crate) fn allows(&mut self, schema: &Value, value: &Value) -> bool {
        if let Some(known) = schema.get("const") {
            return are_equal(known, value);
        }
        if let Some(listed) = only_enum(schema) {
            // lists of known values change with each result, so their validators are not kept
            return listed.iter().any(|known| are_equal(known, value));
        }
        if self.validators.len() >= MOST_KEPT {
            self.validators.clear();
        }
        let kept = self.validators.entry(schema.to_string()).or_insert_with(|| validator(schema).ok());
        kept.as_ref().is_some_and(|validator| validator.is_valid(value))
    }

    /// Returns the name and the schema of the first argument that its schema does not allow, in the order of
    /// `properties`; `None` if there is no such argument. Arguments without a schema are allowed.
    pub(crate) fn wrong<'s>(
        &mut self,
        properties: &'s Values,
        arguments: &Values,
    ) -> Option<(&'s str, &'s Value)> {
        let mut properties = properties.iter().map(|(name, schema)| (name.as_str(), schema));
        properties
            .find(|(name, schema)| arguments.get(*name).is_some_and(|value| !self.allows(schema, value)))
    }
}

/// Returns whether two values are equal in the sense of JSON Schema, where 1 equals 1.0. Recurses as deep as the values
/// are nested, which the JSON reader limits.
fn are_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(one), Value::Number(other)) => {
            one == other
                || match (one.as_i128(), other.as_i128()) {
                    (Some(one), Some(other)) => one == other,
                    _ => one.as_f64().is_some_and(|one| other.as_f64() == Some(one)),
                }
        }
        (Value::Array(some), Value::Array(others)) => {
            some.len() == others.len() && some.iter().zip(others).all(|(one, other)| are_equal(one, other))
        }
        (Value::Object(some), Value::Object(others)) => {
            let is_in_others =
                |(name, one): (&String, &Value)| others.get(name).is_some_and(|other| are_equal(one, other));
            some.len() == others.len() && some.iter().all(is_in_others)
        }
        _ => left == right,
    }
}

/// Returns the values of `enum` if it is the only assertion of the schema; otherwise `None`.
fn only_enum(schema: &Value) -> Option<&Vec<Value>> {
    let members = schema.as_object()?;
    let is_other = |key: &String| key != "enum" && !ANNOTATIONS.contains(&key.as_str());
    members.get("enum")?.as_array().filter(|_| !members.keys().any(is_other))
}

/// Returns the intersection of two schemas: it allows the values that both allow. If both have an annotation, that of
/// `server` is kept. Two lists in `enum` are intersected; if they have no common value, the result is `false`. Models
/// may not know `allOf`, so `allOf` is used only for keywords of `own` that cannot be merged: those with another value
/// in `server`, those outside [`INDEPENDENT`], and all new ones if `server` has `$ref`.
pub(crate) fn both(server: &Value, own: &Value) -> Value {
    let (server, own) = match (server, own) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => return Value::Bool(false),
        (Value::Object(server), Value::Object(own)) => (server, own),
        (Value::Object(_), _) => return server.clone(),
        (_, own) => return own.clone(),
    };
    let mut joined = server.clone();
    let mut rest = Map::new();
    for (key, value) in own {
        // next to a reference, older drafts do not read other keywords
        let is_independent = INDEPENDENT.contains(&key.as_str()) && !server.contains_key("$ref");
        match server.get(key) {
            Some(known) if known == value => {}
            _ if ANNOTATIONS.contains(&key.as_str()) => {
                joined.entry(key.as_str()).or_insert_with(|| value.clone());
            }
            None if is_independent => {
                joined.insert(key.clone(), value.clone());
            }
            Some(Value::Array(known)) if key == "enum" && value.is_array() => {
                let has = |value: &&Value| {
                    own["enum"].as_array().is_some_and(|own| own.iter().any(|own| are_equal(own, value)))
                };
                let shared: Vec<&Value> = known.iter().filter(has).collect();
                if shared.is_empty() {
                    return Value::Bool(false);
                }
                joined.insert(key.clone(), json!(shared));
            }
            _ => {
                rest.insert(key.clone(), value.clone());
            }
        }
    }
    if rest.is_empty() {
        return Value::Object(joined);
    }
    match joined.get_mut("allOf").and_then(Value::as_array_mut) {
        Some(all) => all.push(Value::Object(rest)),
        None => {
            joined.insert("allOf".to_owned(), json!([rest]));
        }
    }
    Value::Object(joined)
}

/// Returns a tool's schema of arguments with narrowed properties and more required names. A property that `server` does
/// not list is added if `server` [`takes`] it. The top level gets no keyword that hosts refuse there (`not`, `allOf`).
pub(crate) fn narrowed(server: &Value, properties: &Values, required: &[String]) -> Value {
    let mut schema = server.as_object().cloned().unwrap_or_default();
    schema.entry("type").or_insert_with(|| "object".into());
    let mut all = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, own) in properties {
        match all.get_mut(name) {
            Some(known) => *known = both(known, own),
            None if !takes(server, name) => {}
            None => drop(all.insert(name.clone(), own.clone())),
        }
    }
    let mut names: Vec<Value> = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for name in required {
        if !names.iter().any(|known| known == name) {
            names.push(name.as_str().into());
        }
    }
    schema.insert("properties".to_owned(), Value::Object(all));
    schema.insert("required".to_owned(), Value::Array(names));
    Value::Object(schema)
}

/// Returns whether a tool's schema allows an argument of this name by `properties`, `patternProperties` and
/// `additionalProperties`. Other keywords, and the values that these three allow, are not considered.
pub(crate) fn takes(server: &Value, argument: &str) -> bool {
    let property = server.get("properties").and_then(|properties| properties.get(argument));
    let patterns = server.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    let matching = patterns.filter(|(pattern, _)| matches(pattern, argument)).map(|(_, schema)| schema);
    let mut schemas = property.into_iter().chain(matching).peekable();
    if schemas.peek().is_none() {
        return server.get("additionalProperties") != Some(&Value::Bool(false));
    }
    schemas.all(|schema| schema != &Value::Bool(false))
}

/// Maximum number of subschemas that are searched for the arguments that a tool lists.
const MOST_SEARCHED: usize = 1_000;
/// Keywords whose subschemas describe the same object.
const SAME_OBJECT: [&str; 6] = ["allOf", "anyOf", "oneOf", "if", "then", "else"];

/// The arguments that a tool's schema lists by name or by pattern.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// The names in `properties`, in the order of the schema.
    pub(crate) names: Vec<String>,
    /// The keys of `patternProperties`.
    patterns: Vec<String>,
}

impl Listed {
    /// Collects the arguments of a schema, and of the subschemas that describe the same object: those of `allOf`,
    /// `anyOf`, `oneOf`, `if`, `then`, `else`, and references within the schema. The first 1,000 subschemas are read.
    pub(crate) fn of(schema: &Value) -> Listed {
        let mut listed = Listed::default();
        let (mut waiting, mut followed) = (vec![schema], Vec::new());
        for _ in 0..MOST_SEARCHED {
            let Some(Value::Object(members)) = waiting.pop() else {
                if waiting.is_empty() { break } else { continue }
            };
            let keys = |key: &str| members.get(key).and_then(Value::as_object).into_iter().flatten();
            for (name, _) in keys("properties") {
                if !listed.names.contains(name) {
                    listed.names.push(name.clone());
                }
            }
            listed.patterns.extend(keys("patternProperties").map(|(pattern, _)| pattern.clone()));
            for value in SAME_OBJECT.iter().filter_map(|key| members.get(*key)) {
                match value {
                    Value::Array(items) => waiting.extend(items),
                    one => waiting.push(one),
                }
            }
            let reference = members.get("$ref").and_then(Value::as_str).filter(|to| !followed.contains(to));
            if let Some(to) = reference {
                followed.push(to);
                waiting.extend(to.strip_prefix('#').and_then(|pointer| schema.pointer(pointer)));
            }
        }
        listed
    }

    /// Returns whether an argument is listed by its name, or matches a listed pattern.
    pub(crate) fn has(&self, argument: &str) -> bool {
        self.names.iter().any(|name| name == argument)
            || self.patterns.iter().any(|pattern| matches(pattern, argument))
    }
}

/// Returns whether a pattern of JSON Schema matches a name. A pattern that the validator refuses matches nothing.
fn matches(pattern: &str, name: &str) -> bool {
    validator(&json!({"pattern": pattern})).is_ok_and(|validator| validator.is_valid(&name.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_intersected() {
        for (server, own, expected) in [
            (
                json!({"type": "string", "description": "d"}),
                json!({"const": "a"}),
                json!({"type": "string", "description": "d", "const": "a"}),
            ),
            (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "c"]}), json!({"enum": ["b"]})),
            (json!({"enum": ["a"]}), json!({"enum": ["c"]}), json!(false)),
            (json!(true), json!({"const": 1}), json!({"const": 1})),
            (json!({"type": "string"}), json!(true), json!({"type": "string"})),
            (json!(false), json!({"const": 1}), json!(false)),
            (json!({"minimum": 1}), json!({"minimum": 2}), json!({"minimum": 1, "allOf": [{"minimum": 2}]})),
            (
                json!({"$ref": "#/$defs/a"}),
                json!({"const": 1}),
                json!({"$ref": "#/$defs/a", "allOf": [{"const": 1}]}),
            ),
            (
                json!({"allOf": [{"minLength": 1}], "anyOf": [true]}),
                json!({"anyOf": [{"const": 1}], "description": "own"}),
                json!({"allOf": [{"minLength": 1}, {"anyOf": [{"const": 1}]}], "anyOf": [true], "description": "own"}),
            ),
        ] {
            assert_eq!(both(&server, &own), expected, "{server} {own}");
        }
        let properties = |value: Value| value.as_object().cloned().unwrap();
        let server = json!({
            "properties": {"a": {"type": "string"}, "b": true},
            "required": ["b"],
            "additionalProperties": false,
        });
        let own = properties(json!({"a": {"const": "x"}, "c": true}));
        let expected = json!({
            "properties": {"a": {"type": "string", "const": "x"}, "b": true},
            "required": ["b", "a"],
            "additionalProperties": false,
            "type": "object",
        });
        assert_eq!(narrowed(&server, &own, &["a".to_owned(), "b".to_owned()]), expected);
        assert!(takes(&server, "a") && !takes(&server, "c") && takes(&json!({}), "c"));
        let server = json!({
            "properties": {"x-no": true},
            "patternProperties": {"^x-": {"type": "string"}, "no$": false},
            "additionalProperties": false,
        });
        assert!(takes(&server, "x-a") && !takes(&server, "x-no") && !takes(&server, "a"));
        let found = narrowed(&server, &properties(json!({"x-a": {"const": "v"}, "a": true})), &[]);
        assert_eq!(found["properties"], json!({"x-no": true, "x-a": {"const": "v"}}));
    }

    #[test]
    fn arguments_are_listed_through_references_and_combinations() {
        let schema = json!({
            "$ref": "#/$defs/base",
            "properties": {"a": true},
            "patternProperties": {"^x-": true},
            "allOf": [{"properties": {"b": true}}, {"$ref": "#/$defs/base"}],
            "anyOf": [{"oneOf": [{"properties": {"c": true, "a": true}}]}, true, 7],
            "$defs": {"base": {"properties": {"d": {"properties": {"no": true}}}, "$ref": "#"}},
        });
        let listed = Listed::of(&schema);
        let mut names = listed.names.clone();
        names.sort();
        assert_eq!(names, ["a", "b", "c", "d"]);
        assert!(listed.has("x-y") && listed.has("d") && !listed.has("no") && !listed.has("y"));
        for schema in [json!(true), json!(null), json!({}), json!({"allOf": []})] {
            assert!(Listed::of(&schema).names.is_empty(), "{schema}");
        }
    }

    /// The intersection allows exactly the values that both schemas allow.
    #[test]
    fn intersections_allow_what_both_allow() {
        let schemas = [
            json!({"type": "string", "maxLength": 1}),
            json!({"enum": ["a", 1, null]}),
            json!({"const": 1}),
            json!({"type": ["integer", "null"], "minimum": 1}),
            json!({"pattern": "^a"}),
            json!({"anyOf": [{"const": "ab"}, {"type": "integer"}]}),
            json!({"properties": {"a": {"const": 1}}, "additionalProperties": false}),
            json!({"properties": {"b": true}, "additionalProperties": {"type": "integer"}}),
            json!({"allOf": [{"not": {"const": 1}}]}),
            json!(true),
            json!(false),
        ];
        let values = [
            json!("a"),
            json!("ab"),
            json!("b"),
            json!(1),
            json!(0),
            json!(2),
            json!(null),
            json!({}),
            json!({"a": 1}),
            json!({"a": 2}),
            json!({"b": 1}),
            json!([]),
        ];
        let allows = |schema: &Value, value: &Value| validator(schema).unwrap().is_valid(value);
        let mut allowed = 0;
        for (a, b) in schemas.iter().flat_map(|a| schemas.iter().map(move |b| (a, b))) {
            let joined = both(a, b);
            for value in &values {
                let expected = allows(a, value) && allows(b, value);
                allowed += usize::from(expected);
                assert_eq!(allows(&joined, value), expected, "{a} {b} {joined} {value}");
            }
        }
        assert!(allowed > 100, "{allowed}");
    }

    #[test]
    fn arguments_are_checked() {
        let mut checker = Checker::default();
        let properties = json!({
            "a": {"const": "x"}, "b": {"type": "integer"}, "c": {"pattern": "^(a+)+$"}, "e": {"enum": [1, "y"]},
            "f": {"enum": [1, "y"], "type": "string"}, "g": {"type": "no type"},
            "h": {"const": {"n": [1]}},
        });
        let properties = properties.as_object().unwrap();
        for (arguments, expected) in [
            (json!({"a": "x", "b": 1, "d": 1}), None),
            (json!({"a": "X"}), Some("a")),
            (json!({"b": "1"}), Some("b")),
            (json!({"b": 2}), None),
            (json!({"c": format!("{}b", "a".repeat(100))}), Some("c")),
            (json!({"e": 1.0}), None),
            (json!({"e": "z"}), Some("e")),
            (json!({"f": 1}), Some("f")),
            (json!({"g": 1}), Some("g")),
            (json!({"h": {"n": [1.0]}}), None),
            (json!({"h": {"n": [1.5]}}), Some("h")),
            (json!({"h": {"n": [1], "m": 1}}), Some("h")),
        ] {
            let found = checker.wrong(properties, arguments.as_object().unwrap());
            assert_eq!(found.map(|(name, _)| name), expected, "{arguments}");
        }
    }
}
