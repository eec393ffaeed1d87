//! Alternatives of `oneOf` that exclude each other: what is found agrees with all small objects.

use crate::language::matches;
use grammata::syntax::json_schema::{Options, PropertyOrder, compile};
use grammata_testing::generate::Choices;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

/// Number of pairs of schemas.
const PAIRS: usize = 10_000;

/// Names of members: two plain ones, one with a prefix, one that needs an escape in patterns, and a long one.
const NAMES: [&str; 5] = ["a", "b", "x-a", "$r", "long"];
const PATTERNS: [&str; 6] = ["^x-", "^[ab]$", "^\\$", "a", "^.$", "^(long|b)$"];

fn value_schema(choices: &mut Choices<'_>) -> Value {
    match choices.below(6) {
        0 => json!({"type": "integer"}),
        1 => json!({"type": "string"}),
        2 => json!({"const": 1}),
        3 => json!({"enum": ["s", 1]}),
        4 => json!(false),
        _ => json!(true),
    }
}

/// Returns a random schema of objects, of the keywords that decide which members there may be.
fn object_schema(choices: &mut Choices<'_>) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    let mut properties = Map::new();
    for name in NAMES {
        if choices.chance(30) {
            properties.insert(name.into(), value_schema(choices));
        }
    }
    schema.insert("properties".into(), properties.into());
    let required: Vec<&str> = NAMES.into_iter().filter(|_| choices.chance(20)).collect();
    schema.insert("required".into(), json!(required));
    if choices.chance(50) {
        let pattern = PATTERNS[choices.below(PATTERNS.len())];
        schema.insert("patternProperties".into(), json!({ pattern: value_schema(choices) }));
    }
    match choices.below(4) {
        0 | 1 => _ = schema.insert("additionalProperties".into(), json!(false)),
        2 => _ = schema.insert("additionalProperties".into(), value_schema(choices)),
        _ => {}
    }
    if choices.chance(15) {
        let pattern = PATTERNS[choices.below(PATTERNS.len())];
        schema.insert("propertyNames".into(), json!({ "pattern": pattern }));
    }
    if choices.chance(15) {
        schema.insert("maxProperties".into(), json!(choices.below(3)));
    }
    schema
}

/// All objects with these names and one of two values each, or none.
fn objects() -> Vec<Value> {
    let mut all = vec![Map::new()];
    for name in NAMES {
        let with = |value: Value| {
            move |object: &Map<String, Value>| {
                let mut object = object.clone();
                object.insert(name.into(), value.clone());
                object
            }
        };
        let more: Vec<_> = all.iter().map(with(json!(1))).chain(all.iter().map(with(json!("s")))).collect();
        all.extend(more);
    }
    all.into_iter().map(Value::Object).collect()
}

/// Each of the pairs has an array of different items, whose negation is not supported. So a pair compiles only if it is
/// found that the alternatives exclude each other, or if one of them is empty.
#[test]
fn alternatives_found_to_exclude_each_other_share_no_object() {
    let objects = objects();
    let options = Options::default().property_order(PropertyOrder::Any);
    let (mut found, mut exclusive) = (0, 0);
    for seed in 0..PAIRS {
        let mut bytes = [0; 200];
        ChaCha8Rng::seed_from_u64(seed as u64).fill_bytes(&mut bytes);
        let mut choices = Choices::new(&bytes);
        let [mut one, mut other] = [object_schema(&mut choices), object_schema(&mut choices)];
        for schema in [&mut one, &mut other] {
            let different = json!({"type": "array", "uniqueItems": true});
            schema["properties"].as_object_mut().unwrap().insert("different".into(), different);
        }
        let (one, other) = (Value::Object(one), Value::Object(other));
        let schema = json!({ "oneOf": [one, other] });
        let [one, other] = [&one, &other].map(|schema| jsonschema::draft202012::new(schema).unwrap());
        let shared = objects.iter().find(|object| one.is_valid(object) && other.is_valid(object));
        exclusive += usize::from(shared.is_none());
        match compile(&schema.to_string(), &options) {
            Ok(compiled) => {
                found += usize::from(shared.is_none());
                // the negation may also have been dropped for another reason
                if let Some(object) = shared {
                    assert!(
                        !matches(&compiled.grammar, object.to_string().as_bytes()),
                        "{object} under {schema}"
                    );
                }
            }
            Err(error) if error.code() == "json-schema/unsatisfiable" => {
                let valid = objects.iter().find(|object| one.is_valid(object) != other.is_valid(object));
                assert_eq!(valid, None, "{schema}");
                found += usize::from(shared.is_none());
            }
            Err(error) => assert_eq!(error.code(), "json-schema/unsupported-combination", "{schema}"),
        }
    }
    eprintln!("{found} of {exclusive} exclusive pairs are found, of {PAIRS} pairs");
    // without arrays of different items, the others compile, too
    assert!(exclusive > PAIRS / 10 && found * 10 > exclusive * 8, "{found} of {exclusive}");
}
