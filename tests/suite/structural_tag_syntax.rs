//! The field `syntax` of the format `grammar`.

use crate::language::Language;
use grammata::syntax::structural_tag::{Options, compile_value};
use serde_json::{Value, json};

fn tag(format: Value) -> Value {
    json!({"type": "structural_tag", "format": format})
}

#[test]
fn the_syntax_says_how_a_grammar_is_read() {
    let gbnf = "root ::= \"a\"+";
    let lark = "start: \"a\"+";
    for (grammar, syntax) in [
        (gbnf, json!("ebnf")),
        (gbnf, json!(null)),
        (lark, json!("lark")),
        (lark, json!(null)),
        // without the field, this text is taken for GBNF
        ("start: \"::=\" | \"a\"+\n", json!("lark")),
    ] {
        let tag = tag(json!({"type": "grammar", "grammar": grammar, "syntax": syntax}));
        let compiled =
            compile_value(&tag, &Options::default()).unwrap_or_else(|error| panic!("{tag}: {error}"));
        let language = Language::new(&compiled.grammar);
        assert!(language.accepts(b"aa") && !language.accepts(b"b"), "{tag}");
    }
}

#[test]
fn a_grammar_in_the_other_syntax_is_refused() {
    for (grammar, syntax, code, at) in [
        ("root ::= \"a\"", json!("lark"), "lark/", "/format/grammar"),
        ("start: \"a\"", json!("ebnf"), "gbnf/", "/format/grammar"),
        ("start: \"a\"", json!("larc"), "structural-tag/unknown-syntax", "/format/syntax"),
        ("start: \"a\"", json!(1), "structural-tag/wrong-type", "/format/syntax"),
    ] {
        let tag = tag(json!({"type": "grammar", "grammar": grammar, "syntax": syntax}));
        let error = compile_value(&tag, &Options::default()).unwrap_err();
        assert!(error.code().starts_with(code), "{tag}: {error}");
        assert_eq!(error.diagnostic().place().to_string(), format!("#{at}"), "{tag}");
        assert!(error.to_string().contains("help: "), "{error}");
    }
    let tag = tag(json!({"type": "grammar", "grammar": "", "syntax": "larc"}));
    let text = compile_value(&tag, &Options::default()).unwrap_err().to_string();
    assert!(text.contains("allowed: ebnf, lark") && text.contains("did you mean `lark`?"), "{text}");
}
