//! The formats of strings. Cases are data. They are compared with the grammars, with listed values, and with the
//! `jsonschema` crate where it reads the RFCs in the same way.

use crate::language::Language;
use grammata::syntax::json_schema::{self, Formats, compile_value};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Case {
    format: String,
    valid: Vec<String>,
    invalid: Vec<String>,
    /// Values that are valid by some reading but not regular. They are not in the language, but are not known to be
    /// invalid.
    #[serde(default)]
    not_generated: Vec<String>,
    /// Values on which the crate `jsonschema` decides differently; of `not_generated`, the values that it refuses.
    #[serde(default)]
    theirs: Vec<String>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("../cases/formats.json")).expect("a list of cases")
}

#[test]
fn cases_are_as_the_grammar_says() {
    let mut failures = String::new();
    for case in cases() {
        let schema = json!({"type": "string", "format": case.format});
        let compiled = compile_value(&schema, &json_schema::Options::default()).expect("a known format");
        assert!(compiled.warnings.is_empty(), "{}", case.format);
        let language = Language::new(&compiled.grammar);
        let all = [(&case.valid, true), (&case.invalid, false), (&case.not_generated, false)];
        for (text, expected) in all.iter().flat_map(|(list, ok)| list.iter().map(move |text| (text, *ok))) {
            if language.accepts(Value::from(text.as_str()).to_string().as_bytes()) != expected {
                writeln!(failures, "{}: {text:?} should be {expected}", case.format)
                    .expect("strings take text");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// A listed value that has the format stays, one without it is removed, and an undecided one is an error.
#[test]
fn listed_values_are_checked() {
    let (gone, unknown) = (Some("json-schema/unsatisfiable"), Some("json-schema/unsupported-combination"));
    let mut failures = String::new();
    for case in cases() {
        // for international names and patterns, only some values are known to be invalid
        let lax = case.format.starts_with("idn-") || case.format == "regex";
        let gone: &[_] = if lax { &[gone, unknown] } else { &[gone] };
        // a pattern that is not generated may be known to be valid
        let other: &[_] = if case.format == "regex" { &[None, unknown] } else { &[unknown] };
        for (list, expected) in
            [(&case.valid, &[None][..]), (&case.invalid, gone), (&case.not_generated, other)]
        {
            for text in list {
                let schema = json!({"const": text, "format": case.format});
                let error = compile_value(&schema, &json_schema::Options::default()).err();
                let told = error.as_ref().map(|error| error.code());
                if !expected.contains(&told) {
                    writeln!(failures, "{}: {text:?} is {told:?}", case.format).expect("strings take text");
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn another_validator_agrees() {
    let mut failures = String::new();
    // the validator is built without Unicode tables, so international names are skipped
    for case in cases().into_iter().filter(|case| !case.format.starts_with("idn-")) {
        let schema = json!({"format": case.format});
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema");
        for (list, expected) in [(&case.valid, true), (&case.invalid, false), (&case.not_generated, true)] {
            for text in list {
                let expected = expected != case.theirs.contains(text);
                if validator.is_valid(&Value::from(text.as_str())) != expected {
                    writeln!(failures, "{}: {text:?} is not {expected} there", case.format)
                        .expect("strings take text");
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn other_names_are_annotations() {
    let warnings = |schema: Value, formats| {
        let options = json_schema::Options::default().formats(formats);
        let compiled = compile_value(&schema, &options).expect("a schema");
        compiled.warnings.iter().map(|warning| warning.code()).collect::<Vec<_>>()
    };
    let unknown = ["json-schema/unknown-format"];
    assert_eq!(warnings(json!({"format": "colour"}), Formats::Assert), unknown);
    assert_eq!(warnings(json!({"format": "int32"}), Formats::Assert), ["json-schema/number-format"]);
    assert_eq!(warnings(json!({"format": "color"}), Formats::Assert), unknown);
    let of_draft_3 = json!({"$schema": "http://json-schema.org/draft-03/schema#", "format": "color"});
    assert!(warnings(of_draft_3, Formats::Assert).is_empty());
    assert!(warnings(json!({"format": "int32"}), Formats::Annotate).is_empty());
}

#[test]
fn formats_hold_of_strings_only() {
    let language = |formats| {
        let options = json_schema::Options::default().formats(formats);
        Language::new(&compile_value(&json!({"format": "date"}), &options).expect("a schema").grammar)
    };
    for (text, asserted) in
        [("1", true), ("null", true), ("{}", true), ("\"x\"", false), ("\"2024-02-29\"", true)]
    {
        assert_eq!(language(Formats::Assert).accepts(text.as_bytes()), asserted, "{text}");
        assert!(language(Formats::Annotate).accepts(text.as_bytes()), "{text}");
    }
}
