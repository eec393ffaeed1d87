//! The ends of structural tags whose content ends with a format that may be empty, and such formats for random tags.

use crate::language::Language;
use crate::structural_tags::wrapped;
use grammata::syntax::structural_tag::{Options, compile_value};
use serde_json::{Value, json};

/// Grammars in GBNF and Lark, each with a pattern of the same words.
pub(crate) const GRAMMARS: [(&str, &str); 4] = [
    ("root ::= x | \"b\"\nx ::= \"\" | \"a\" x", "a*|b"),
    ("root ::= \"a\" [ab]?", "a[ab]?"),
    ("start: \"1\"*", "1*"),
    ("root ::= y y\ny ::= \"<\"?", "<?<?"),
];

/// Returns a test of whether a text is a word of a format of a pattern or a grammar.
pub(crate) fn pattern_of(format: &Value) -> impl Fn(&str) -> bool + use<> {
    let grammar = |grammar: &str| GRAMMARS.iter().find(|(known, _)| *known == grammar).unwrap().1;
    regex(format["pattern"].as_str().unwrap_or_else(|| grammar(format["grammar"].as_str().unwrap())))
}

/// Returns a test of whether a text is a word of a pattern.
fn regex(pattern: &str) -> impl Fn(&str) -> bool + use<> {
    let whole = regex_automata::meta::Regex::new(&format!(r"\A(?:{pattern})\z")).unwrap();
    move |text| whole.is_match(text)
}

/// Formats that may be empty may follow a text at the end of a tag, whatever their kind; one that may not be empty
/// allows the end of the tag in the text.
#[test]
fn a_text_before_content_that_may_be_empty_does_not_contain_the_end() {
    let empty = [
        json!({"type": "regex", "pattern": "1*"}),
        json!({"type": "regex", "pattern": "(?:)|1"}),
        json!({"type": "grammar", "grammar": "root ::= x?\nx ::= \"1\" x?"}),
        json!({"type": "grammar", "grammar": "start: (\"1\" | \"2\")*"}),
        json!({"type": "or", "elements": [{"type": "const_string", "value": "1"}, {"type": "regex", "pattern": "2?"}]}),
        json!({"type": "repeat", "min": 2, "max": 3, "content": {"type": "regex", "pattern": "1?"}}),
        json!({"type": "tag", "begin": "", "content": {"type": "regex", "pattern": "1?"}, "end": ["", "2"]}),
    ];
    let not_empty = [
        json!({"type": "regex", "pattern": "1+"}),
        json!({"type": "grammar", "grammar": "root ::= \"1\" root?"}),
        json!({"type": "json_schema", "json_schema": {"type": "integer"}}),
    ];
    for (last, may_be_empty) in empty.iter().zip([true; 7]).chain(not_empty.iter().zip([false; 3])) {
        let content = json!({"type": "sequence", "elements": [{"type": "any_text"}, last]});
        let tag = json!({"type": "tag", "begin": "(", "end": ["!", "}"], "content": content});
        let compiled = compile_value(&wrapped(&tag), &Options::default()).unwrap();
        let language = Language::new(&compiled.grammar);
        // in the first text the content is `a!1`, which has the end in it
        assert_eq!(language.accepts(b"(a!1!"), !may_be_empty, "{last}");
        assert!(!language.accepts(b"(a!!"), "{last}");
        assert!(language.accepts(b"(a1!"), "{last}");
        assert_eq!(language.accepts(b"(a!"), may_be_empty, "{last}");
    }
}
