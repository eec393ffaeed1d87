//! Policies of a schema, which are chosen by the caller or by the schema itself.

use crate::language::Language;
use grammata::Limits;
use grammata::syntax::json_schema::{
    self, Formats, Numbers, PropertyOrder, Whitespace, compile, compile_value,
};
use serde_json::{Value, json};

fn of_schema(own: Value) -> grammata::Result<json_schema::Options> {
    json_schema::Options::default().with_policies_of(&json!({ "x-grammata": own }).to_string())
}

#[test]
fn a_schema_sets_its_own_options() {
    let none = json_schema::Options::default().with_policies_of(r#"{"type": "null"}"#).unwrap();
    assert_eq!(none, json_schema::Options::default());
    let all = of_schema(json!({
        "propertyOrder": "any", "whitespace": {"max": 2}, "numbers": "plain", "formats": "annotate",
        "maxDigits": 7, "maxBytes": 1000, "maxDepth": 5,
    }));
    let expected = json_schema::Options::default()
        .property_order(PropertyOrder::Any)
        .whitespace(Whitespace::AtMost(2))
        .numbers(Numbers::Plain)
        .max_digits(Some(7))
        .formats(Formats::Annotate)
        .limits(Limits::default().source_bytes(1000).source_depth(5));
    assert_eq!(all.unwrap(), expected);
    let pattern = of_schema(json!({"whitespace": {"pattern": " ?"}})).unwrap();
    assert_eq!(pattern.whitespace, Whitespace::Pattern(" ?".into()));
    let generation = json_schema::Options::generation();
    let own = generation.clone().with_policies_of(r#"{"x-grammata": {"maxDigits": null}}"#).unwrap();
    assert_eq!(own, generation.max_digits(None));
    // limits are lowered, never raised
    let raised = of_schema(json!({"maxBytes": 1u64 << 60, "maxDepth": 1u64 << 60})).unwrap();
    assert_eq!(raised, json_schema::Options::default());
}

#[test]
fn what_a_schema_cannot_set_is_an_error() {
    for (own, message) in [
        (json!("compact"), "invalid value for `x-grammata`"),
        (json!({"propertyOrder": "sorted"}), "invalid value for `propertyOrder`"),
        (json!({"whitespace": 3}), "invalid value for `whitespace`"),
        (json!({"whitespace": {"max": -1}}), "invalid value for `whitespace`"),
        (json!({"whitespace": {"max": 1, "pattern": " "}}), "invalid value for `whitespace`"),
        (json!({"numbers": true}), "invalid value for `numbers`"),
        (json!({"formats": null}), "invalid value for `formats`"),
        (json!({"maxDigits": 0}), "invalid value for `maxDigits`"),
        (json!({"maxDigits": "40"}), "invalid value for `maxDigits`"),
        (json!({"maxDepth": "9"}), "invalid value for `maxDepth`"),
        (json!({"colour": "red"}), "unknown option in `x-grammata`"),
    ] {
        let error = of_schema(own.clone()).expect_err(&own.to_string());
        assert_eq!(error.code(), "json-schema/invalid-policy", "{own}");
        assert_eq!(error.diagnostic().message(), message, "{own}");
    }
    // in a schema's `properties`, `x-grammata` is a name like any other
    let inner = r#"{"properties": {"x-grammata": {"const": {"colour": "red"}}}}"#;
    assert_eq!(
        json_schema::Options::default().with_policies_of(inner).unwrap(),
        json_schema::Options::default()
    );
}

#[test]
fn whitespace_is_bounded_in_every_gap() {
    let schema = json!({"type": "object", "properties": {"a": {"items": {"const": 1}}}, "required": ["a"]});
    for (whitespace, accepted, rejected) in [
        (Whitespace::AtMost(0), &["{\"a\":[1]}"][..], &["{ \"a\":[1]}", "{\"a\":[1 ]}"][..]),
        (
            Whitespace::AtMost(1),
            &["{ \"a\" : [\t1 , 1 ] }", "{\"a\":[1,\n1]}"],
            &["{  \"a\":[1]}", "{\"a\":  [1]}", "{\"a\":[1]  }", " {\"a\":[1]}", "{\"a\":[1]} "],
        ),
        (
            Whitespace::Pattern("( |\\n +)?".into()),
            &["{\n  \"a\": [1,\n     1]}", "{ \"a\" : [ 1 ] }"],
            &["{\t\"a\":[1]}", "{\n\"a\":[1]}", "{\"a\":[1,  1]}"],
        ),
        // characters that are not whitespace of JSON never match
        (Whitespace::Pattern("[^x]?".into()), &["{\t\"a\":[1]}"], &["{y\"a\":[1]}", "{\"a\":[1\"]}"]),
        (Whitespace::Pattern("\\s*".into()), &["{ \t\r\n \"a\":[1]}"], &["{\u{a0}\"a\":[1]}"]),
    ] {
        let options = json_schema::Options::default().whitespace(whitespace.clone());
        let language = Language::new(&compile_value(&schema, &options).unwrap().grammar);
        for text in accepted {
            assert!(language.accepts(text.as_bytes()), "{text} with {whitespace:?}");
        }
        for text in rejected {
            assert!(!language.accepts(text.as_bytes()), "{text} with {whitespace:?}");
        }
    }
    let options = json_schema::Options::default().whitespace(Whitespace::Pattern("(".into()));
    let error = compile("{}", &options).expect_err("no pattern");
    assert_eq!(error.code(), "json-schema/whitespace-pattern");
}

#[test]
fn size_and_depth_are_bounded() {
    let limits = Limits::default().source_bytes(20).source_depth(2);
    let options = json_schema::Options::default().limits(limits);
    assert!(compile(r#"{"items": {}}"#, &options).is_ok());
    for schema in [r#"{"title": "longer than that"}"#, r#"{"items":{"not":{}}}"#] {
        let error = compile(schema, &options).expect_err("too much");
        assert_eq!(error.code(), "limit/exceeded", "{schema}");
    }
    let error = compile_value(&json!({"items": {"not": {}}}), &options).expect_err("too deep");
    assert_eq!(error.code(), "limit/exceeded");
}

#[test]
fn a_summary_counts_what_was_read() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"type": "null"}, "b": {"not": {"type": "null"}}},
        "definitions": {"unused": {"type": "string"}},
        "x": 1,
    });
    let summary = compile_value(&schema, &json_schema::Options::default()).unwrap().summary;
    assert_eq!(summary.draft, Some("draft-07"));
    assert_eq!(summary.keywords["type"], 3);
    assert_eq!(summary.keywords["x"], 1);
    assert_eq!(summary.schemas, 4);
    assert!(summary.made_schemas > 0 && summary.conjunctions > 2);
    let summary = compile("true", &json_schema::Options::default()).unwrap().summary;
    assert_eq!((summary.draft, summary.keywords.len(), summary.schemas), (None, 0, 1));
}

/// Every gap is empty, one space, or a line feed and at most 32 blanks.
#[test]
fn short_whitespace() {
    let schema = json!({"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"], "additionalProperties": false});
    let options = json_schema::Options::default().whitespace(Whitespace::Short);
    let language = Language::new(&compile(&schema.to_string(), &options).unwrap().grammar);
    let gaps = |gap: &str| format!("{{{gap}\"a\":{gap}1{gap}}}");
    let blanks = |count: usize| format!("\n{}", " \t".repeat(count / 2));
    for gap in ["", " ", "\n", "\n  ", &blanks(32)] {
        assert!(language.accepts(gaps(gap).as_bytes()), "{gap:?}");
    }
    for gap in ["  ", "\t", "\r\n", "\n\n", " \n", &blanks(34)] {
        assert!(!language.accepts(gaps(gap).as_bytes()), "{gap:?}");
    }
}

/// Runs of digits are bounded wherever nothing else bounds them, and no range of values loses all its spellings.
#[test]
fn digits_are_bounded() {
    let with = |schema: &Value, most| {
        let options = json_schema::Options::default().max_digits(most);
        Language::new(&compile(&schema.to_string(), &options).unwrap().grammar)
    };
    let long = "1".repeat(5);
    let cases = [
        (json!({"type": "integer"}), vec!["1111", "-9999", "0", "1.000"], vec!["11111", "1.00000"]),
        (json!({"type": "number"}), vec!["1111.111e111"], vec!["11111.1", "1.11111", "1e11111"]),
        (json!({"type": "integer", "minimum": 7}), vec!["7", "1111"], vec![&long, "6"]),
        (
            json!({"type": "integer", "maximum": -1_000_000}),
            vec!["-1000000", "-9999999"],
            vec!["-1000000000", "-1"],
        ),
        (json!({"type": "number", "minimum": 0.5}), vec!["0.5", "1111.111"], vec![&long, "0.50000000"]),
        (json!({"type": "number", "not": {"multipleOf": 1}}), vec!["1.5"], vec!["1.0", "11111.5"]),
        (json!({"const": 123_456}), vec!["123456"], vec!["12345"]),
    ];
    for (schema, accepted, rejected) in cases {
        let (bounded, free) = (with(&schema, Some(4)), with(&schema, None));
        for word in accepted {
            assert!(bounded.accepts(word.as_bytes()) && free.accepts(word.as_bytes()), "{schema}: {word}");
        }
        for word in rejected {
            assert!(!bounded.accepts(word.as_bytes()), "{schema}: {word}");
        }
    }
}

/// A bound below 2 acts as 2, and 0 cannot be set in a schema.
#[test]
fn the_least_bound_on_digits_is_two() {
    let words = ["0", "9", "11", "111", "1.1", "1.11", "1e1", "1e11", "-11.1e-1"];
    for schema in
        [json!({"type": "number"}), json!({"type": "integer"}), json!({"type": "number", "minimum": 0.5})]
    {
        let with = |most| {
            let options = json_schema::Options::default().max_digits(Some(most));
            let language = Language::new(&compile_value(&schema, &options).unwrap().grammar);
            words.map(|word| language.accepts(word.as_bytes()))
        };
        assert_eq!(with(1), with(2), "{schema}");
        assert_eq!(with(0), with(2), "{schema}");
        assert_ne!(with(1), with(3), "{schema}");
    }
}

/// The bound holds for each run of digits, not for the number as a whole.
#[test]
fn marked_numbers_have_as_many_digits_as_others() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "number", "not": {"type": "integer"},
    });
    let options = json_schema::Options::default().max_digits(Some(3));
    let language = Language::new(&compile_value(&schema, &options).unwrap().grammar);
    for (word, expected) in [
        ("-111.1", true),
        ("-111.11e-11", true),
        ("1e-11", true),
        ("2.0", true),
        ("-111", false),
        ("1111.1", false),
        ("1e111", false),
    ] {
        assert_eq!(language.accepts(word.as_bytes()), expected, "{word}");
    }
}
