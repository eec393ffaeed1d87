//! The JSON Schema front end: cases as data, pinned diagnostics, number ranges and random schemas against
//! an independent validator.

use crate::language::{Language, matches};
use grammata::syntax::json_schema::{
    self, Compiled, Numbers, PropertyOrder, Whitespace, compile, compile_value,
};
use grammata::syntax::lark;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn files(name: &str, extension: &str) -> Vec<PathBuf> {
    let list = std::fs::read_dir(directory(name)).expect("the folder is there");
    let mut files: Vec<PathBuf> = list
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no files in {name}");
    files
}

fn options(value: &Value) -> json_schema::Options {
    let mut options = json_schema::Options::default().grammars(Some(lark::IN_STRINGS));
    if value["whitespace"] == "compact" {
        options.whitespace = Whitespace::Compact;
    }
    if value["order"] == "any" {
        options.property_order = PropertyOrder::Any;
    }
    if value["numbers"] == "plain" {
        options.numbers = Numbers::Plain;
    }
    if let Some(documents) = value["documents"].as_object() {
        for (uri, document) in documents {
            options.documents.insert(uri, document.clone());
        }
    }
    options
}

/// Serves the documents of a case to the validator.
struct Documents(Value);

impl jsonschema::Retrieve for Documents {
    fn retrieve(
        &self,
        uri: &jsonschema::Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        // a document without an identifier is at `json-schema:///`
        let uri = uri.as_str();
        let document = self.0.get(uri).or_else(|| self.0.get(uri.strip_prefix("json-schema:///")?));
        document.cloned().ok_or_else(|| "no such document".into())
    }
}

fn texts<'c>(case: &'c Value, key: &str) -> Vec<&'c str> {
    let list = case[key].as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|text| text.as_str().expect("instances are texts")).collect()
}

/// Runs one case and adds its failures to `failures`.
fn run_case(case: &Value, failures: &mut String) {
    let name = case["name"].as_str().expect("a case has a name");
    let mut fail = |what: String| writeln!(failures, "{name}: {what}").expect("strings take text");
    let source = match case.get("text") {
        Some(text) => text.as_str().expect("a text").to_owned(),
        None => case["schema"].to_string(),
    };
    let compiled = compile(&source, &options(&case["options"]));
    let (code, prefix) = (case["error"].as_str(), case["errorPrefix"].as_str());
    let compiled = match compiled {
        Ok(_) if code.or(prefix).is_some() => return fail("no error".into()),
        Ok(compiled) => compiled,
        Err(e) if code == Some(e.code()) || prefix.is_some_and(|p| e.code().starts_with(p)) => return,
        Err(e) => return fail(e.to_string()),
    };
    let warnings: Vec<&str> = compiled.warnings.iter().map(|warning| warning.code()).collect();
    if warnings != texts(case, "warnings") {
        fail(format!("warnings {warnings:?}"));
    }
    let schema: Value = serde_json::from_str(&source).expect("it was compiled");
    // the validator does not know draft 3, and supports other drafts only in part
    let documents = Documents(case["options"]["documents"].clone());
    let validator = (!source.contains("/draft-03/") && case["validator"] != "none").then(|| {
        jsonschema::options()
            .with_retriever(documents)
            .build(&schema)
            .unwrap_or_else(|e| panic!("{name}: {e}"))
    });
    let valid = |validator: &jsonschema::Validator, text: &str| {
        serde_json::from_str(text).is_ok_and(|value: Value| validator.is_valid(&value))
    };
    let language = Language::new(&compiled.grammar);
    // the texts of a case, whether the grammar accepts them, and whether the validator does. The validator computes
    // with binary floats, so it is not asked about `beyondFloats`.
    for (key, ours, theirs) in [
        ("accept", true, Some(true)),
        ("reject", false, Some(false)),
        ("outside", false, Some(true)),
        ("beyondFloats", false, None),
    ] {
        for text in texts(case, key) {
            if language.accepts(text.as_bytes()) != ours {
                fail(format!("{key} {text}: the grammar says {}", !ours));
            }
            if let (Some(validator), Some(theirs)) = (&validator, theirs)
                && valid(validator, text) != theirs
            {
                fail(format!("{key} {text}: the validator says {}", !theirs));
            }
        }
    }
}

#[test]
fn cases() {
    let mut failures = String::new();
    for file in files("cases/json_schema", "json") {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let cases: Vec<Value> = serde_json::from_str(&text).expect("a list of cases");
        cases.iter().for_each(|case| run_case(case, &mut failures));
    }
    assert!(failures.is_empty(), "{failures}");
}

/// `tests/diagnostics/json-schema/<case>.in` is a schema; `.out` has its warnings or its error. `UPDATE_DIAGNOSTICS=1`
/// rewrites the `.out` files.
#[test]
fn diagnostics() {
    let update = std::env::var_os("UPDATE_DIAGNOSTICS").is_some();
    for file in files("diagnostics/json-schema", "in") {
        let source = std::fs::read_to_string(&file).expect("a readable file");
        let told = match compile(&source, &options(&Value::Null)) {
            Ok(compiled) => compiled.warnings.iter().map(|w| format!("warning{w}\n")).collect(),
            Err(error) => format!("{error}\n"),
        };
        assert!(!told.is_empty(), "{}: nothing to tell", file.display());
        let pinned = file.with_extension("out");
        if update {
            std::fs::write(&pinned, &told).expect("a writable file");
        }
        let expected = std::fs::read_to_string(&pinned).expect("run with UPDATE_DIAGNOSTICS=1");
        assert_eq!(told, expected, "{}", file.display());
    }
}

fn compact(schema: &Value) -> Compiled {
    let options =
        json_schema::Options::default().whitespace(Whitespace::Compact).property_order(PropertyOrder::Any);
    compile_value(schema, &options).expect("the schema is supported")
}

#[test]
fn counts_are_not_unrolled() {
    let schema = json!({
        "items": {"type": "string", "minLength": 1_000_000_000, "maxLength": 2_000_000_000},
        "minItems": 1_000_000, "maxItems": 4_000_000_000u32,
    });
    assert!(compact(&schema).grammar.expressions().len() < 200);
}

#[test]
fn long_chains_of_references_do_not_recurse() {
    let length = 100_000;
    let link = |to: usize| json!({"$ref": format!("#/$defs/{to}")});
    let mut defs: serde_json::Map<String, Value> =
        (0..length).map(|i| (i.to_string(), link(i + 1))).collect();
    defs.insert(length.to_string(), json!({"type": "null"}));
    let chain = compact(&json!({"$ref": "#/$defs/0", "$defs": defs}));
    assert!(matches(&chain.grammar, b"null"));
    assert!(!matches(&chain.grammar, b"1"));

    // each definition refers to the next one in its items
    let length = 20_000;
    let mut defs: serde_json::Map<String, Value> =
        (0..length).map(|i| (i.to_string(), json!({"type": "array", "items": link(i + 1)}))).collect();
    defs.insert(length.to_string(), json!({"type": "null"}));
    let nested = compact(&json!({"$ref": "#/$defs/0", "$defs": defs.clone()}));
    assert!(nested.grammar.expressions().len() >= length);

    // the last definition refers to the first one, which makes a circle
    defs.insert(length.to_string(), link(0));
    let circle = compact(&json!({"$ref": "#/$defs/0", "$defs": defs}));
    assert!(matches(&circle.grammar, b"[[[]]]"));
    assert!(!matches(&circle.grammar, b"[[[1]]]"));
}

#[test]
fn deep_schemas_end_in_a_limit() {
    let deep = |levels: usize| format!("{}true{}", "{\"items\":".repeat(levels), "}".repeat(levels));
    let compiled = compile(&deep(120), &json_schema::Options::default()).expect("this deep is supported");
    assert!(matches(&compiled.grammar, b"[[[1]]]"));
    for levels in [128, 100_000] {
        let error = compile(&deep(levels), &json_schema::Options::default()).expect_err("too deep");
        assert_eq!(error.code(), "limit/exceeded");
    }
    let mut value = json!(true);
    for _ in 0..150 {
        value = json!({"items": value});
    }
    let error = compile_value(&value, &json_schema::Options::default()).expect_err("too deep");
    assert_eq!(error.code(), "limit/exceeded");
}

#[test]
fn too_many_combinations_are_refused() {
    let any_of: Vec<Value> = (0..10).map(|i| json!({"required": [format!("a{i}")]})).collect();
    let all_of: Vec<Value> = (0..10)
        .map(|k| json!({"anyOf": any_of.iter().map(|one| json!({"allOf": [one, {"minProperties": k}]})).collect::<Vec<_>>()}))
        .collect();
    let error = compile_value(&json!({"type": "object", "allOf": all_of}), &Default::default())
        .expect_err("too many");
    assert_eq!(error.code(), "json-schema/unsupported-combination");
}

/// Dependencies with too many combinations to expand are still enforced, in either order of members.
#[test]
fn thousands_of_combinations_are_conditions() {
    let names: Vec<String> = (0..24).map(|i| format!("n{i}")).collect();
    let required: serde_json::Map<String, Value> =
        (0..12).map(|i| (names[i].clone(), json!([names[i + 12].clone()]))).collect();
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({"type": "integer"}))).collect();
    let schema = json!({"type": "object", "properties": properties, "dependentRequired": required});
    for property_order in [PropertyOrder::Declared, PropertyOrder::Any] {
        let options = json_schema::Options::default().property_order(property_order);
        let language = Language::new(&compile_value(&schema, &options).expect("conditions").grammar);
        for (members, valid) in [
            (vec![], true),
            (vec![3], false),
            (vec![3, 15], true),
            (vec![15], true),
            (vec![0, 1, 2, 12, 13], false),
            (vec![0, 1, 2, 12, 13, 14], true),
            (vec![0, 1, 2, 12, 13, 14, 23], true),
        ] {
            let members: Vec<String> = members.iter().map(|&i: &usize| format!("\"n{i}\":1")).collect();
            let text = format!("{{{}}}", members.join(","));
            assert_eq!(language.accepts(text.as_bytes()), valid, "{text}");
        }
    }
}

#[test]
fn combinations_stay_within_the_limit() {
    // which schemas hold of a member depends on each of the last 40 names on the way to it
    let link = |to: usize| json!({"$ref": format!("#/$defs/{to}")});
    let both = |a: Value, b: Value| json!({"properties": {"a": a, "b": b}});
    let mut defs: serde_json::Map<String, Value> =
        (1..40).map(|i| (i.to_string(), both(link(i + 1), link(i + 1)))).collect();
    defs.insert("0".into(), both(link(0), json!({"allOf": [link(0), link(1)]})));
    defs.insert("40".into(), json!({"type": "object"}));
    let limits = grammata::Limits::default().grammar_nodes(20_000);
    let options = json_schema::Options::default().limits(limits);
    let error = compile_value(&json!({"$ref": "#/$defs/0", "$defs": defs}), &options).expect_err("too many");
    assert_eq!(error.code(), "limit/exceeded");
}

#[test]
fn grammars_stay_within_their_limit() {
    let limits = grammata::Limits::default().grammar_nodes(100);
    let options = json_schema::Options::default().limits(limits);
    let values: Vec<String> = (0..1000).map(|i| format!("value {i}")).collect();
    let error = compile_value(&json!({"enum": values}), &options).expect_err("too big");
    assert_eq!(error.code(), "limit/exceeded");
}

#[test]
fn patterns_stay_within_the_limit() {
    let limits = grammata::Limits::default().pattern_bytes(3);
    let options = json_schema::Options::default().limits(limits);
    for (pattern, names) in [("abcd", false), ("a(?=b)", false), ("abcd", true)] {
        let schema = match names {
            true => json!({"patternProperties": {pattern: {"type": "null"}}}),
            false => json!({"type": "string", "pattern": pattern}),
        };
        let error = compile_value(&schema, &options).expect_err(pattern);
        assert_eq!(error.code(), "limit/exceeded", "{schema}");
    }
    assert!(compile_value(&json!({"pattern": "abc"}), &options).is_ok());
}

/// In a chain of documents each refers to the next. The resolver is called at most 1,000 times.
#[test]
fn the_resolver_is_called_a_thousand_times_at_most() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    for (length, expected) in [(1000, None), (1001, Some("limit/exceeded")), (5000, Some("limit/exceeded"))] {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let mut options = json_schema::Options::default();
        options.documents.set_resolver(move |uri| {
            let number = 1 + counted.fetch_add(1, Ordering::Relaxed);
            assert_eq!(uri, format!("http://a.example/{number}"));
            Ok(if number == length { json!(true) } else { json!({"$ref": (number + 1).to_string()}) })
        });
        let compiled = compile_value(&json!({"$ref": "http://a.example/1"}), &options);
        assert_eq!(compiled.err().map(|error| error.code().to_owned()).as_deref(), expected);
        assert_eq!(calls.load(Ordering::Relaxed), 1000, "{length}");
    }
}

#[test]
fn sub_schemas_are_labelled_and_shared_ones_are_rules() {
    let schema = json!({
        "prefixItems": [{"$ref": "#/$defs/list"}, {"$ref": "#/$defs/list"}],
        "$defs": {"list": {"type": "array", "items": {"type": "null"}}},
    });
    let grammar = compact(&schema).grammar;
    let names: Vec<&str> = grammar.rules().iter().map(|rule| &*rule.name).collect();
    assert!(names.contains(&"#/$defs/list") || names.contains(&"#/prefixItems/0"), "{names:?}");
    let labels: Vec<&str> = grammar
        .expressions()
        .iter()
        .filter_map(|e| match e {
            grammata::grammar::Expression::Label(label, _) => Some(grammar.label(*label)),
            _ => None,
        })
        .collect();
    assert!(labels.contains(&"#/$defs/list/items"), "{labels:?}");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..6i32).prop_map(Value::from),
        prop_oneof![Just(json!(0.5)), Just(json!(2.5)), Just(json!(-1.25))],
        "[ab\"é]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn assertion(
    schema: impl Strategy<Value = Value> + Clone + 'static,
) -> impl Strategy<Value = (&'static str, Value)> {
    let small = 0..4u32;
    let list = proptest::collection::vec(schema.clone(), 1..3).prop_map(Value::from);
    let types = ["null", "boolean", "integer", "number", "string", "array", "object"];
    let types = proptest::sample::subsequence(types.to_vec(), 1..5);
    prop_oneof![
        types.prop_map(|t| ("type", json!(t))),
        small.clone().prop_map(|n| ("minLength", json!(n))),
        small.clone().prop_map(|n| ("maxLength", json!(n))),
        "(\\^)?[ab]{1,2}(\\$)?".prop_map(|p| ("pattern", json!(p))),
        (-3..6i32).prop_map(|n| ("minimum", json!(n))),
        (-2..6i32).prop_map(|n| ("exclusiveMaximum", json!(n))),
        small.clone().prop_map(|n| ("minItems", json!(n))),
        small.prop_map(|n| ("maxItems", json!(n))),
        schema.clone().prop_map(|s| ("items", s)),
        list.clone().prop_map(|l| ("prefixItems", l)),
        proptest::collection::btree_map("[abc]", schema.clone(), 1..3).prop_map(|m| ("properties", json!(m))),
        proptest::sample::subsequence(vec!["a", "b", "c"], 1..3).prop_map(|r| ("required", json!(r))),
        schema.prop_map(|s| ("additionalProperties", s)),
        list.clone().prop_map(|l| ("anyOf", l)),
        list.prop_map(|l| ("allOf", l)),
        proptest::collection::vec(value(), 1..5).prop_map(|l| ("enum", Value::from(l))),
        Just(("$ref", json!("#/$defs/tree"))),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![4 => Just(json!({})), 4 => Just(json!(true)), 1 => Just(json!(false))];
    leaf.prop_recursive(3, 24, 4, |inner| {
        proptest::collection::vec(assertion(inner.boxed()), 0..4)
            .prop_map(|list| Value::Object(list.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()))
    })
}

proptest! {
    #![proptest_config(crate::properties::config(1500))]

    /// The canonical text of a value is in the language exactly if an independent validator admits the value.
    #[test]
    fn random_schemas_agree_with_a_validator(
        schema in schema(),
        values in proptest::collection::vec(value(), 24),
    ) {
        let tree = json!({"type": ["array", "integer"], "items": {"$ref": "#/$defs/tree", "maximum": 3}});
        let schema = json!({"allOf": [schema], "$defs": {"tree": tree}});
        let options = json_schema::Options::default().property_order(PropertyOrder::Any);
        let compiled = compile_value(&schema, &options);
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        let language = compiled.as_ref().ok().map(|compiled| Language::new(&compiled.grammar));
        for value in &values {
            let ours = language.as_ref().is_some_and(|l| l.accepts(value.to_string().as_bytes()));
            prop_assert_eq!(ours, validator.is_valid(value), "{} under {}", value, schema);
        }
        if let Err(error) = compiled {
            prop_assert_eq!(error.code(), "json-schema/unsatisfiable");
        }
    }
}

proptest! {
    #![proptest_config(crate::properties::config(1000))]

    /// Whatever keywords are given, the result is a grammar or an error, never a panic.
    #[test]
    fn arbitrary_keyword_values_do_not_panic(
        keywords in proptest::collection::vec((proptest::sample::select(KEYWORDS.to_vec()), odd_value()), 1..5),
    ) {
        let schema: serde_json::Map<String, Value> =
            keywords.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect();
        let text = Value::Object(schema).to_string();
        if let Ok(compiled) = compile(&text, &json_schema::Options::default()) {
            prop_assert!(compiled.grammar.verify().is_ok());
        }
    }
}

const KEYWORDS: &[&str] = &[
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "$ref",
    "$id",
    "$schema",
    "$defs",
    "other",
];

/// Returns values that may be invalid for a keyword.
fn odd_value() -> impl Strategy<Value = Value> {
    let numbers =
        ["0", "-0.0", "1e999999999999999999999", "-1e-400", "4294967295", "4294967296", "0.5", "1e3"];
    let texts =
        ["", "#", "#/", "#/items", "%", "#%", "#/%e9", "integer", "string", "(", "^a$", "[^\\d]", "~"];
    prop_oneof![
        proptest::sample::select(numbers.to_vec()).prop_map(|n| serde_json::from_str(n).expect("a number")),
        proptest::sample::select(texts.to_vec()).prop_map(Value::from),
        proptest::collection::vec(value(), 0..3).prop_map(Value::from),
        proptest::collection::vec(schema(), 0..3).prop_map(Value::from),
        schema(),
        value(),
    ]
}
