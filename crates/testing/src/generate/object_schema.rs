//! Random schemas of objects in which names, dependencies, conditions and bounds interact.

use super::Choices;
use serde_json::{Map, Value, json};

/// How deep schemas may apply others to the same value.
const DEPTH: usize = 2;

const NAMES: [&str; 9] = ["a", "b", "ab", "x", "xa", "xb", "c", "", "ba"];

/// Patterns with the same meaning in ECMA-262 and in the engine of the reference. `.` differs: in ECMA-262 it excludes
/// U+2028.
const PATTERNS: [&str; 14] = [
    "^[ab]$",
    "^x",
    "^(a|b)$",
    r"^[^\n]$",
    "b$",
    "^a",
    "^[ab]{1,2}$",
    "a",
    "^(ab|xa)$",
    "^$",
    "^[^a]",
    "^x[ab]$",
    "",
    "^(a|xa)$",
];

/// Draws a schema, mostly of objects.
pub fn random_object_schema(choices: &mut Choices<'_>) -> Value {
    let mut schema = keywords(choices, DEPTH);
    match choices.below(4) {
        0 => schema.insert("type".into(), json!("object")),
        1 => schema.insert("type".into(), json!(["object", "null"])),
        _ => None,
    };
    match choices.below(12) {
        11 => json!({"type": "array", "items": schema, "maxItems": 2}),
        10 => json!({"properties": {"a": schema}, "type": "object"}),
        _ => Value::Object(schema),
    }
}

/// Draws a value, mostly an object with some of the names in such schemas.
pub fn random_object(choices: &mut Choices<'_>) -> Value {
    let object = |choices: &mut Choices<'_>| {
        let mut object = Map::new();
        for _ in 0..choices.below(5) {
            let value = match choices.below(12) {
                11 => json!({"a": 1}),
                10 => json!({}),
                _ => scalar(choices),
            };
            object.insert((*choices.pick(&NAMES)).into(), value);
        }
        Value::Object(object)
    };
    match choices.below(16) {
        15 => scalar(choices),
        14 => json!([object(choices)]),
        13 => json!({"a": object(choices)}),
        _ => object(choices),
    }
}

fn scalar(choices: &mut Choices<'_>) -> Value {
    choices.pick(&[json!(1), json!("s"), json!(2), json!(null), json!(1)]).clone()
}

/// Draws a schema for the value of a member.
fn value(choices: &mut Choices<'_>) -> Value {
    let simple = [
        json!({}),
        json!({"type": "integer"}),
        json!({"const": 1}),
        json!({"type": "string"}),
        json!(false),
        json!({"enum": [1, "s"]}),
        json!({"not": {"type": "integer"}}),
        json!({"minimum": 2}),
        json!(true),
        json!({"type": ["integer", "object"]}),
    ];
    choices.pick(&simple).clone()
}

fn names(choices: &mut Choices<'_>) -> Value {
    let simple = [
        json!({"minLength": 1}),
        json!({"maxLength": 1}),
        json!({"enum": ["a", "b", "xa"]}),
        json!({"not": {"const": "a"}}),
    ];
    match choices.below(6) {
        place @ 0..4 => simple[place].clone(),
        4 => json!({"not": {"pattern": choices.pick(&PATTERNS)}}),
        _ => json!({"pattern": choices.pick(&PATTERNS)}),
    }
}

fn some_names(choices: &mut Choices<'_>) -> Value {
    let count = 1 + choices.below(2);
    let mut list: Vec<&str> = (0..count).map(|_| *choices.pick(&NAMES)).collect();
    list.dedup();
    json!(list)
}

fn schemas(choices: &mut Choices<'_>, depth: usize) -> Value {
    let count = 1 + choices.below(2);
    Value::Array((0..count).map(|_| schema(choices, depth)).collect())
}

/// Draws a schema that applies to the same object as the schema around it, as under `if`, `not` or `anyOf`.
fn schema(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.below(3) {
        0 => json!({"required": some_names(choices)}),
        1 => json!({"properties": {*choices.pick(&NAMES): value(choices)}}),
        _ => Value::Object(keywords(choices, depth)),
    }
}

fn keywords(choices: &mut Choices<'_>, depth: usize) -> Map<String, Value> {
    let mut all = Map::new();
    let mut count = 1 + choices.below(if depth == DEPTH { 5 } else { 2 });
    while count > 0 {
        count -= 1;
        let (keyword, said) = match choices.below(if depth == 0 { 10 } else { 16 }) {
            0 | 1 => {
                let patterns =
                    (0..1 + choices.below(3)).map(|_| ((*choices.pick(&PATTERNS)).into(), value(choices)));
                ("patternProperties", Value::Object(patterns.collect()))
            }
            2 => ("required", some_names(choices)),
            3 => {
                let dependencies =
                    (0..1 + choices.below(2)).map(|_| ((*choices.pick(&NAMES)).into(), some_names(choices)));
                ("dependentRequired", Value::Object(dependencies.collect()))
            }
            4 => ("additionalProperties", value(choices)),
            5 => ("additionalProperties", json!(false)),
            6 => ("minProperties", json!(choices.below(4))),
            7 => ("maxProperties", json!(choices.below(4))),
            8 => ("propertyNames", names(choices)),
            9 => {
                let properties =
                    (0..1 + choices.below(2)).map(|_| ((*choices.pick(&NAMES)).into(), value(choices)));
                ("properties", Value::Object(properties.collect()))
            }
            10 | 11 => {
                all.insert("if".into(), schema(choices, depth - 1));
                if choices.chance(50) {
                    all.insert("else".into(), schema(choices, depth - 1));
                }
                ("then", schema(choices, depth - 1))
            }
            12 => ("not", schema(choices, depth - 1)),
            13 => ("anyOf", schemas(choices, depth - 1)),
            14 => ("oneOf", schemas(choices, depth - 1)),
            _ => ("dependentSchemas", json!({*choices.pick(&NAMES): schema(choices, depth - 1)})),
        };
        all.insert(keyword.into(), said);
    }
    all
}
