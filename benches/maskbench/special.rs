//! Schemas that grow: one kind of schema in several sizes, to see what an engine's cost depends on.

use super::data::{Schema, Test};
use serde_json::{Map, Value, json};

/// Returns all schemas, each with one valid instance and most with an invalid one.
pub(crate) fn all() -> Vec<Schema> {
    let mut all = Vec::new();
    for length in [100, 1_000, 10_000, 100_000] {
        all.push(max_length(length));
    }
    for rounds in [10, 100, 1_000, 10_000] {
        all.push(pattern(rounds));
    }
    for values in [100, 1_000, 10_000] {
        all.push(enumeration(values));
    }
    for count in [2, 8, 32, 128] {
        all.push(tools(count));
    }
    // about 1 KB, 11 KB, 170 KB and 2.7 MB
    for count in [10, 160, 2_560, 40_960] {
        all.push(members(count));
    }
    for levels in [4, 12, 36] {
        all.push(depth(levels));
    }
    all
}

fn schema(kind: &str, size: usize, schema: &Value, valid: &Value, invalid: Option<&Value>) -> Schema {
    let test = |valid: bool, value: &Value| Test { valid, text: value.to_string() };
    let tests = std::iter::once(test(true, valid)).chain(invalid.map(|value| test(false, value)));
    Schema { id: format!("{kind}-{size}"), text: schema.to_string(), tests: tests.collect() }
}

/// Returns `length` characters of prose.
fn prose(length: usize) -> String {
    "The quick brown fox jumps over the lazy dog, again. ".chars().cycle().take(length).collect()
}

fn max_length(length: usize) -> Schema {
    let text = prose(length.min(2_000));
    let too_long = (length <= 1_000).then(|| json!(prose(length + 1)));
    schema(
        "maxLength",
        length,
        &json!({"type": "string", "maxLength": length}),
        &json!(text),
        too_long.as_ref(),
    )
}

fn pattern(rounds: usize) -> Schema {
    let pattern = format!("^([A-Za-z]+[ ,.]+){{1,{rounds}}}$");
    let text = prose(52 * rounds.div_ceil(10).min(40));
    schema("pattern", rounds, &json!({"type": "string", "pattern": pattern}), &json!(text), Some(&json!("")))
}

fn enumeration(values: usize) -> Schema {
    let names = ["north", "south-east", "upper", "inner", "old", "left hand", "blue"];
    let value = |n: usize| format!("{}/{}/{n:05}", names[n % 7], names[n / 7 % 7]);
    let all: Vec<String> = (0..values).map(value).collect();
    let last = all.last().cloned().unwrap_or_default();
    schema("enum", values, &json!({"enum": all}), &json!(last), Some(&json!(value(values))))
}

/// Returns the schema of a call of one of `count` tools.
fn tools(count: usize) -> Schema {
    let tool = |n: usize| {
        json!({
            "type": "object",
            "properties": {
                "name": {"const": format!("{}_{n}", ["search", "create", "update", "delete"][n % 4])},
                "arguments": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "integer", "minimum": 0},
                        format!("field_{n}"): {"type": "string", "maxLength": 40 + n},
                        "when": {"type": "string", "format": "date"},
                        "tags": {"type": "array", "items": {"enum": ["red", "green", "blue"]}, "maxItems": 4},
                        "options": {"type": "object", "additionalProperties": {"type": "number"}},
                    },
                    "required": ["id", format!("field_{n}")],
                    "additionalProperties": false,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": false,
        })
    };
    let call = |n: usize| {
        json!({
            "name": format!("{}_{n}", ["search", "create", "update", "delete"][n % 4]),
            "arguments": {"id": 17, format!("field_{n}"): "a short text", "when": "2026-02-28",
                          "tags": ["red", "blue"], "options": {"x": 1.5, "y": -2}},
        })
    };
    let all: Vec<Value> = (0..count).map(tool).collect();
    schema("tools", count, &json!({"anyOf": all}), &call(count - 1), Some(&call(count)))
}

/// Returns the schema of an object of `count` members, some of them required.
fn members(count: usize) -> Schema {
    let kinds = [
        json!({"type": "string", "maxLength": 64}),
        json!({"type": ["integer", "null"], "minimum": -5}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"enum": ["yes", "no", "perhaps"]}),
        json!({"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat"]}),
    ];
    let values =
        [json!("text"), json!(12), json!(["a", "b"]), json!("perhaps"), json!({"lat": 1.5, "lon": 2})];
    let name = |n: usize| format!("member_{n:06}");
    let properties: Map<String, Value> = (0..count).map(|n| (name(n), kinds[n % 5].clone())).collect();
    let required: Vec<String> = (0..count).step_by(count / 10).map(name).collect();
    let instance: Map<String, Value> =
        (0..count).step_by(count / 10).map(|n| (name(n), values[n % 5].clone())).collect();
    let text = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    schema("members", count, &text, &Value::Object(instance), Some(&json!({"member_000000": 1})))
}

/// Returns the schema of objects within arrays within objects, `levels` levels of each.
fn depth(levels: usize) -> Schema {
    let (mut inner, mut instance) = (json!({"type": "integer"}), json!(1));
    for _ in 0..levels {
        inner = json!({"type": "object", "properties": {"items": {"type": "array", "items": inner}},
                       "required": ["items"], "additionalProperties": false});
        instance = json!({"items": [instance.clone()]});
    }
    schema("depth", levels, &inner, &instance, Some(&json!({"items": [{}]})))
}
