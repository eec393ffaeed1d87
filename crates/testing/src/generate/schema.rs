//! Random JSON schemas, and random documents near them.

use super::Choices;
use serde_json::{Map, Value, json};

/// The deepest nesting of schemas and documents.
const DEPTH: usize = 4;

const KEYS: [&str; 5] = ["a", "b", "ab", "é", "x\"y"];
const PATTERNS: [&str; 8] = ["^a*$", "b", "^[a-c]{1,3}$", "^(ab|é)+", "\\d$", "^.b?.$", "^ab", "^b[ac]"];
const TEXTS: [&str; 8] = ["", "a", "ab", "abc", "é", "b1", "\"\\\n", "😀a"];
const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "null", "array", "object"];

/// Draws a schema of the 2020-12 dialect from nearly all keywords that restrict values. It may be recursive, and may
/// have no valid document.
pub fn random_schema(choices: &mut Choices<'_>) -> Value {
    let mut schema = subschema(choices, DEPTH);
    let node = subschema(choices, DEPTH - 1);
    if let Value::Object(map) = &mut schema {
        map.insert("$defs".into(), json!({ "node": node }));
    }
    schema
}

fn subschema(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut schema = Map::new();
    let mut put = |key: &str, value: Value| {
        schema.insert(key.into(), value);
    };
    // kinds without subschemas come first: they are the simplest, and the only ones at depth 0
    match choices.below(if depth == 0 { 6 } else { 17 }) {
        0 | 1 => put("type", json!(*choices.pick(&TYPES[..5]))),
        2 => return text_schema(choices),
        3 | 4 => return number_schema(choices),
        5 => match choices.below(3) {
            0 => put("const", any_value(choices, 1)),
            1 => put("enum", (0..choices.below(4) + 1).map(|_| any_value(choices, 1)).collect()),
            _ => return json!(!choices.chance(20)),
        },
        6 | 7 => return object_schema(choices, depth - 1),
        8 => return array_schema(choices, depth - 1),
        9 => {
            let list: Vec<Value> = (0..choices.below(3) + 1).map(|_| subschema(choices, depth - 1)).collect();
            put("anyOf", Value::Array(list));
        }
        10 => put("$ref", json!(*choices.pick(&["#/$defs/node", "#"]))),
        11 => {
            let keyword = *choices.pick(&["oneOf", "allOf"]);
            let list: Vec<Value> = (0..choices.below(3) + 1).map(|_| subschema(choices, depth - 1)).collect();
            put(keyword, Value::Array(list));
        }
        12 => put("not", subschema(choices, depth - 1)),
        13 => {
            for keyword in ["if", "then", "else"] {
                if choices.chance(75) {
                    put(keyword, subschema(choices, depth - 1));
                }
            }
        }
        14 => {
            // several keywords together, of any families
            let (mut first, second) = (subschema(choices, depth - 1), subschema(choices, depth - 1));
            if let (Value::Object(first), Value::Object(second)) = (&mut first, second) {
                first.extend(second);
            }
            return first;
        }
        _ => {
            let types: Vec<&str> = TYPES.into_iter().filter(|_| choices.chance(40)).collect();
            put("type", if types.is_empty() { json!("object") } else { json!(types) });
        }
    }
    Value::Object(schema)
}

fn text_schema(choices: &mut Choices<'_>) -> Value {
    let mut schema = json!({ "type": "string" });
    let least = choices.below(4);
    if choices.chance(40) {
        schema["minLength"] = json!(least);
    }
    if choices.chance(40) {
        schema["maxLength"] = json!(least + choices.below(4));
    }
    if choices.chance(40) {
        schema["pattern"] = json!(*choices.pick(&PATTERNS));
    }
    schema
}

fn number_schema(choices: &mut Choices<'_>) -> Value {
    let mut schema = json!({ "type": *choices.pick(&["integer", "number"]) });
    let least = choices.below(400) as i64 - 200;
    let bound = |choices: &mut Choices<'_>, whole: i64| match choices.below(4) {
        3 => number_value(whole as f64 + 0.25),
        _ => json!(whole),
    };
    if choices.chance(50) {
        schema[*choices.pick(&["minimum", "exclusiveMinimum"])] = bound(choices, least);
    }
    if choices.chance(50) {
        let most = least + choices.below(300) as i64 - 5;
        schema[*choices.pick(&["maximum", "exclusiveMaximum"])] = bound(choices, most);
    }
    schema
}

fn object_schema(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut schema = json!({ "type": "object" });
    let properties: Map<String, Value> = (0..choices.below(4))
        .map(|_| ((*choices.pick(&KEYS)).to_owned(), subschema(choices, depth)))
        .collect();
    schema["properties"] = Value::Object(properties);
    let required: Vec<&str> = KEYS.into_iter().filter(|_| choices.chance(25)).collect();
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    match choices.below(4) {
        0 => {}
        1 | 2 => schema["additionalProperties"] = json!(false),
        _ => schema["additionalProperties"] = subschema(choices, depth),
    }
    if choices.chance(25) {
        let patterns = (0..choices.below(2) + 1)
            .map(|_| ((*choices.pick(&PATTERNS)).to_owned(), subschema(choices, depth)))
            .collect::<Map<String, Value>>();
        schema["patternProperties"] = Value::Object(patterns);
    }
    if choices.chance(10) {
        schema["propertyNames"] = subschema(choices, depth.min(1));
    }
    let least = choices.below(3);
    if choices.chance(20) {
        schema["minProperties"] = json!(least);
    }
    if choices.chance(20) {
        schema["maxProperties"] = json!(least + choices.below(3));
    }
    if choices.chance(15) {
        let (name, other) = (*choices.pick(&KEYS), *choices.pick(&KEYS));
        schema["dependentRequired"] = json!({ name: [other] });
    }
    if choices.chance(10) {
        schema["dependentSchemas"] = json!({ *choices.pick(&KEYS): subschema(choices, depth) });
    }
    schema
}

fn array_schema(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut schema = json!({ "type": "array" });
    let first: Vec<Value> = (0..choices.below(3)).map(|_| subschema(choices, depth)).collect();
    if !first.is_empty() {
        schema["prefixItems"] = Value::Array(first);
    }
    if choices.chance(70) {
        schema["items"] = subschema(choices, depth);
    }
    let least = choices.below(3);
    if choices.chance(40) {
        schema["minItems"] = json!(least);
    }
    if choices.chance(40) {
        schema["maxItems"] = json!(least + choices.below(4));
    }
    if choices.chance(20) {
        schema["contains"] = subschema(choices, depth);
        let least = choices.below(3);
        if choices.chance(30) {
            schema["minContains"] = json!(least);
        }
        if choices.chance(30) {
            schema["maxContains"] = json!(least + choices.below(2));
        }
    }
    if choices.chance(15) {
        schema["uniqueItems"] = json!(true);
    }
    schema
}

/// Draws a document, often valid under `schema` and often nearly valid.
pub fn random_document(choices: &mut Choices<'_>, schema: &Value) -> Value {
    Documents { root: schema }.near(choices, schema, 2 * DEPTH)
}

struct Documents<'s> {
    root: &'s Value,
}

impl Documents<'_> {
    fn near(&self, choices: &mut Choices<'_>, schema: &Value, depth: usize) -> Value {
        let Value::Object(map) = schema else { return any_value(choices, depth.min(2)) };
        if depth == 0 || choices.chance(8) {
            return any_value(choices, depth.min(2));
        }
        if let Some(value) = map.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = map.get("enum").filter(|v| v.get(0).is_some()) {
            return choices.pick(values).clone();
        }
        if let Some(Value::Array(list)) = map.get("anyOf").filter(|v| v.get(0).is_some()) {
            let one = choices.pick(list);
            return self.near(choices, one, depth - 1);
        }
        if let Some(Value::String(reference)) = map.get("$ref") {
            let target = self.root.pointer(reference.trim_start_matches('#'));
            return self.near(choices, target.unwrap_or(&Value::Bool(true)), depth - 1);
        }
        let kind = match map.get("type") {
            Some(Value::String(kind)) => kind.as_str(),
            Some(Value::Array(kinds)) if !kinds.is_empty() => choices.pick(kinds).as_str().unwrap_or("null"),
            _ => return any_value(choices, depth.min(2)),
        };
        match kind {
            "object" => self.object(choices, map, depth - 1),
            "array" => self.array(choices, map, depth - 1),
            "integer" | "number" => number(choices, map),
            kind => value_of(choices, kind),
        }
    }

    fn object(&self, choices: &mut Choices<'_>, schema: &Map<String, Value>, depth: usize) -> Value {
        let mut object = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map_or(Vec::new(), |list| list.iter().filter_map(Value::as_str).collect());
        for key in KEYS {
            let declared = properties.and_then(|p| p.get(key)).or(schema.get("additionalProperties"));
            let wanted = required.contains(&key) || (properties.is_some_and(|p| p.contains_key(key)));
            let chance = if required.contains(&key) { 97 } else { 60 };
            if choices.chance(if wanted { chance } else { 10 }) {
                let value = self.near(choices, declared.unwrap_or(&Value::Bool(true)), depth);
                object.insert(key.to_owned(), value);
            }
        }
        Value::Object(object)
    }

    fn array(&self, choices: &mut Choices<'_>, schema: &Map<String, Value>, depth: usize) -> Value {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64).map(|n| n as usize);
        let least = bound("minItems").unwrap_or(0);
        let count = (least + choices.below(3)).min(bound("maxItems").unwrap_or(5) + choices.below(10) / 9);
        let item = |i: usize| {
            let first = schema.get("prefixItems").and_then(|list| list.get(i));
            first.or(schema.get("items")).unwrap_or(&Value::Bool(true))
        };
        (0..count).map(|i| self.near(choices, item(i), depth)).collect()
    }
}

fn number(choices: &mut Choices<'_>, schema: &Map<String, Value>) -> Value {
    // on a bound, next to it, or anywhere
    let bounds: Vec<f64> = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
        .into_iter()
        .filter_map(|key| schema.get(key).and_then(Value::as_f64))
        .collect();
    if bounds.is_empty() {
        return value_of(choices, "number");
    }
    let near = *choices.pick(&bounds);
    let off = *choices.pick(&[0.0, 1.0, -1.0, 0.5, -0.25, 7.0, -11.0, 100.0]);
    number_value(near + off)
}

/// Writes integers without a fraction: `2.0` counts as an integer to a validator, but few would generate this spelling.
fn number_value(number: f64) -> Value {
    if number.fract() == 0.0 { json!(number as i64) } else { json!(number) }
}

fn any_value(choices: &mut Choices<'_>, depth: usize) -> Value {
    let kind = *choices.pick(&TYPES[..if depth == 0 { 5 } else { 7 }]);
    match kind {
        "array" => (0..choices.below(3)).map(|_| any_value(choices, depth - 1)).collect(),
        "object" => {
            let mut object = Map::new();
            for _ in 0..choices.below(3) {
                object.insert((*choices.pick(&KEYS)).to_owned(), any_value(choices, depth - 1));
            }
            Value::Object(object)
        }
        kind => value_of(choices, kind),
    }
}

fn value_of(choices: &mut Choices<'_>, kind: &str) -> Value {
    match kind {
        "string" => json!([*choices.pick(&TEXTS), *choices.pick(&TEXTS)].concat()),
        "integer" => json!(choices.below(300) as i64 - 100),
        "number" => match choices.below(3) {
            0 => json!(choices.below(300) as i64 - 100),
            1 => number_value(f64::from(choices.byte()) / 8.0 - 10.0),
            _ => number_value(f64::from(choices.byte()) / 1e6),
        },
        "boolean" => json!(choices.chance(50)),
        _ => Value::Null,
    }
}
