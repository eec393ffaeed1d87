//! Spellings other than JSON: texts that are excluded from values, and values in percent-encoding.

use crate::language::Language;
use grammata::syntax::json_schema::{Elements, Options, PropertyOrder, Spelling, compile_value};
use serde_json::{Value, json};

fn language(schema: &Value, options: &Options) -> Language {
    let compiled = compile_value(schema, options).unwrap_or_else(|error| panic!("{schema}: {error}"));
    Language::new(&compiled.grammar)
}

/// Excluded texts are compared with strings as these are written, whether they are listed or only of the type `string`.
#[test]
fn listed_strings_are_excluded_as_written() {
    let cases = [
        (Spelling::Json, "a\nb", "\\n", "\"a\\nb\"", false),
        (Spelling::Json, "a\nb", "\n", "\"a\\nb\"", true),
        (Spelling::Text, "a\nb", "\n", "a\nb", false),
        (Spelling::Text, "a\nb", "\\n", "a\nb", true),
        (Spelling::Text, "say \"hi\"", "y \"h", "say \"hi\"", false),
        (Spelling::Line, "a\tb", "\t", "a\tb", false),
        (Spelling::Line, "a\tb", "\\t", "a\tb", true),
        (Spelling::Percent, "a b", "%20", "a%20b", false),
        (Spelling::Percent, "a b", " ", "a%20b", true),
        (Spelling::Percent, "é", "C3%A9", "%C3%A9", false),
    ];
    for (spelling, value, excluded, text, expected) in cases {
        let options = Options::default().spelling(spelling).excludes(vec![excluded.to_owned()]);
        for schema in [json!({"enum": [value, "z"]}), json!({"type": "string"})] {
            let language = language(&schema, &options);
            assert_eq!(language.accepts(text.as_bytes()), expected, "{schema} without {excluded:?}");
            let other = if spelling == Spelling::Json { "\"z\"" } else { "z" };
            assert!(language.accepts(other.as_bytes()), "{schema} without {excluded:?}");
        }
    }
}

/// Arrays and objects are JSON in text, and in elements of most styles.
#[test]
fn listed_values_inside_json_are_excluded_as_json() {
    let element = |text: &str| format!("<parameter=a>{text}</parameter>");
    for (excluded, json, expected) in [
        ("\\n", "[\"a\\nb\"]", false),
        ("\n", "[\"a\\nb\"]", true),
        ("\\n", "{\"a\\nb\":1}", false),
        ("\n", "{\"a\\nb\":1}", true),
    ] {
        let value: Value = serde_json::from_str(json).expect("JSON");
        let options = Options::default().excludes(vec![excluded.to_owned()]);
        let schema = json!({"enum": [value, 1]});
        let text = language(&schema, &options.clone().spelling(Spelling::Text));
        assert_eq!(text.accepts(json.as_bytes()), expected, "{json} without {excluded:?}");
        let schema = json!({"type": "object", "properties": {"a": schema}, "required": ["a"]});
        let elements = language(&schema, &options.spelling(Spelling::Elements(Elements::Qwen)));
        assert_eq!(elements.accepts(element(json).as_bytes()), expected, "{json} without {excluded:?}");
        assert!(elements.accepts(element("1").as_bytes()));
    }
}

#[test]
fn declared_names_are_excluded_as_written() {
    let with = |schema: &Value, style: Elements, excluded: &str| {
        let excludes = vec![excluded.to_owned()];
        let options = Options::default().property_order(PropertyOrder::Any);
        language(schema, &options.spelling(Spelling::Elements(style)).excludes(excludes))
    };
    let schema =
        json!({"type": "object", "properties": {"a&b": {"const": 1}}, "additionalProperties": false});
    let text = "<cofl:value name=\"a&amp;b\" type=\"json\">1</cofl:value>";
    assert!(with(&schema, Elements::Cohere, "x").accepts(text.as_bytes()));
    assert!(!with(&schema, Elements::Cohere, "&amp;b").accepts(text.as_bytes()));
    let inner =
        json!({"type": "object", "properties": {"a\nb": {"const": 1}}, "additionalProperties": false});
    let schema = json!({"type": "object", "properties": {"c": inner}});
    let text = "<parameter=c>{\"a\\nb\":1}</parameter>";
    assert!(with(&schema, Elements::Qwen, "\n").accepts(text.as_bytes()));
    assert!(!with(&schema, Elements::Qwen, "\\n").accepts(text.as_bytes()));
}

/// A value that contains the end of its element is left out, because a reader would end the element there.
#[test]
fn listed_values_do_not_contain_the_end_of_their_element() {
    let options = Options::default().spelling(Spelling::Elements(Elements::Qwen));
    for json in ["[\"</parameter>\"]", "{\"</parameter>\":1}"] {
        let value: Value = serde_json::from_str(json).expect("JSON");
        let schema = json!({"type": "object", "properties": {"a": {"enum": [value, ["b"]]}}});
        let language = language(&schema, &options);
        assert!(!language.accepts(format!("<parameter=a>{json}</parameter>").as_bytes()), "{json}");
        assert!(language.accepts(b"<parameter=a>[\"b\"]</parameter>"));
    }
}

#[test]
fn names_of_listed_objects_are_excluded() {
    for (style, before) in [(Elements::Qwen, "<parameter="), (Elements::MiniMax, "<parameter name=\"")] {
        let after = if style == Elements::Qwen { ">" } else { "\">" };
        let options = Options::default().spelling(Spelling::Elements(style)).excludes(vec!["bad".to_owned()]);
        let language = language(&json!({"enum": [{"a bad name": 1}, {"good": 1}, {"z": "bad"}]}), &options);
        for (name, value, expected) in [("good", "1", true), ("a bad name", "1", false), ("z", "bad", false)]
        {
            let text = format!("{before}{name}{after}{value}</parameter>");
            assert_eq!(language.accepts(text.as_bytes()), expected, "{text}");
        }
    }
}

/// In values of every type, exactly the bytes outside the set `unencoded` are percent-encoded.
#[test]
fn scalars_are_percent_encoded() {
    let cases = [
        (json!({"type": "number"}), None, ["1e%2B5", "-2.5E-3"], ["1e+5", "1%2E5"]),
        (json!({"type": "integer", "minimum": 3}), None, ["3e%2B5", "30.0"], ["3e+5", "2e%2B0"]),
        (json!({"const": 1e300}), None, ["1e%2B300", "1e300"], ["1e+300", "1e%2b300"]),
        (json!({"type": "number"}), Some("0123456789+"), ["1%65+5", "%2D2%2E5"], ["1e+5", "-2"]),
        (json!({"type": "number", "multipleOf": 0.5}), Some("012345"), ["1%2E5", "0%2E50"], ["1.5", "1%2E4"]),
        (
            json!({"type": "integer", "multipleOf": 7, "maximum": 80}),
            Some(""),
            ["%37%37", "%37"],
            ["77", "%37%38"],
        ),
        (json!({"type": "integer", "not": {"const": 55}}), Some("5"), ["5", "5%36"], ["55", "%35"]),
        (json!({"type": "integer", "not": {"multipleOf": 5}}), Some(""), ["%36", "%35%36"], ["%35", "6"]),
        (json!({"type": "boolean"}), Some("tue"), ["t%72ue", "%66%61%6C%73e"], ["true", "false"]),
        (json!({"enum": [true, 5]}), Some("5"), ["%74%72%75%65", "5"], ["true", "%35"]),
    ];
    for (schema, unencoded, accepted, rejected) in cases {
        let options = Options::default().spelling(Spelling::Percent).unencoded(unencoded.map(str::to_owned));
        let language = language(&schema, &options);
        for text in accepted {
            assert!(language.accepts(text.as_bytes()), "{schema}: {text}");
        }
        for text in rejected {
            assert!(!language.accepts(text.as_bytes()), "{schema}: {text}");
        }
    }
}
