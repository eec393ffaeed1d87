//! Random schemas with `unevaluatedProperties` and `unevaluatedItems` among all keywords that they depend on: the
//! grammar accepts the documents that a validator calls valid.

use crate::language::Language;
use grammata::syntax::json_schema::{self, PropertyOrder, compile_value};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::cell::Cell;

/// Returns random schemas of a value: assertions, and keywords that apply schemas to the same value.
fn in_place() -> impl Strategy<Value = Value> {
    let value = || prop_oneof![Just(json!({"const": 1})), Just(json!(true)), Just(json!({"type": "string"}))];
    let keyword = prop_oneof![
        3 => ("[abc]", value()).prop_map(|(name, value)| json!({"properties": {name: value}})),
        2 => "[abc]".prop_map(|name| json!({"required": [name]})),
        1 => ("[abc]", value()).prop_map(|(name, value)| json!({"patternProperties": {format!("^{name}"): value}})),
        1 => value().prop_map(|value| json!({"additionalProperties": value})),
        2 => value().prop_map(|value| json!({"prefixItems": [value]})),
        1 => (value(), value()).prop_map(|(one, two)| json!({"prefixItems": [one, two], "minItems": 1})),
        1 => value().prop_map(|value| json!({"items": value})),
        2 => value().prop_map(|value| json!({"contains": value})),
    ];
    keyword.prop_recursive(3, 12, 3, move |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..4);
        let applied = prop_oneof![
            2 => (proptest::sample::select(vec!["anyOf", "oneOf", "allOf"]), list).prop_map(|(k, l)| json!({k: l})),
            1 => inner.clone().prop_map(|not| json!({"not": not})),
            1 => inner.clone().prop_map(|condition| json!({"if": condition})),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"if": a, "then": b})),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"if": a, "else": b})),
            1 => ("[abc]", inner.clone()).prop_map(|(name, s)| json!({"dependentSchemas": {name: s}})),
            1 => value().prop_map(|s| json!({"unevaluatedProperties": s})),
            1 => value().prop_map(|s| json!({"unevaluatedItems": s})),
        ];
        (applied, inner).prop_map(|(one, other)| beside(one, other))
    })
}

/// Returns a schema with the keywords of both. If both have a keyword, that of `other` counts.
fn beside(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            one.extend(other);
            one.into()
        }
        (one, _) => one,
    }
}

fn document() -> impl Strategy<Value = Value> {
    let scalar = || proptest::sample::select(vec![json!(1), json!(2), json!("")]);
    prop_oneof![
        2 => proptest::collection::btree_map("[abcd]", scalar(), 0..4)
            .prop_map(|map| map.into_iter().collect::<Map<String, Value>>().into()),
        1 => proptest::collection::vec(scalar(), 0..4).prop_map(Value::from),
    ]
}

#[test]
fn random_schemas_are_judged_as_a_validator_does() {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let (valid, invalid) = (Cell::new(0), Cell::new(0));
    let rest = proptest::sample::select(vec![json!(false), json!(false), json!({"const": 2})]);
    let judge = |(schema, rest, documents): (Value, Value, Vec<Value>)| {
        let schema = beside(schema, json!({"unevaluatedProperties": rest, "unevaluatedItems": rest}));
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        let options = json_schema::Options::default().property_order(PropertyOrder::Any);
        let compiled = match compile_value(&schema, &options) {
            Ok(compiled) => compiled,
            Err(error) if error.code() == "json-schema/unsatisfiable" => {
                for document in &documents {
                    prop_assert!(!validator.is_valid(document), "{} satisfies {}", document, schema);
                }
                return Ok(());
            }
            Err(error) => {
                prop_assert_eq!(error.code(), "json-schema/unsupported-combination", "{}", schema);
                return Ok(());
            }
        };
        let language = Language::new(&compiled.grammar);
        for document in &documents {
            let expected = validator.is_valid(document);
            let accepted = language.accepts(document.to_string().as_bytes());
            prop_assert_eq!(accepted, expected, "{} under {}", document, schema);
            let count = if expected { &valid } else { &invalid };
            count.set(count.get() + 1);
        }
        Ok(())
    };
    let strategy = (in_place(), rest, proptest::collection::vec(document(), 12));
    let outcome = proptest::test_runner::TestRunner::new(config).run(&strategy, judge);
    outcome.unwrap_or_else(|e| panic!("{e}"));
    assert!(valid.get() > cases && invalid.get() > cases, "{} valid, {} invalid", valid.get(), invalid.get());
}
