//! The GBNF front end: tables of cases, sizes, limits.

use crate::language;
use crate::tables;
use grammata::syntax::gbnf::{Options, compile, compile_bytes};
use grammata::{ErrorKind, Limits};
use proptest::prelude::*;
use serde::Deserialize;
use std::fmt::Write;
use std::time::{Duration, Instant};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    grammar: String,
    accept: Vec<String>,
    #[serde(default)]
    reject: Vec<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

#[test]
fn tables() {
    let cases: Vec<Case> = tables::cases("gbnf");
    cases.iter().for_each(check);
    let cases = cases.len();
    assert!(cases >= 20, "only {cases} cases were found");
}

fn check(case: &Case) {
    let source = &case.grammar;
    let compiled = compile(source, &Options::default()).unwrap_or_else(|e| panic!("{source}\n{e}"));
    let warnings: Vec<&str> = compiled.warnings.iter().map(|w| w.code()).collect();
    assert_eq!(warnings, case.warnings, "{source}");
    let grammar = compiled.grammar;
    grammar.verify().expect("the grammar verifies");
    assert!(!case.accept.is_empty(), "{source}: a case needs a text that matches");
    for text in &case.accept {
        assert!(language::matches(&grammar, text.as_bytes()), "{source}\nshould match {text:?}: {grammar}");
    }
    for text in &case.reject {
        assert!(
            !language::matches(&grammar, text.as_bytes()),
            "{source}\nmust not match {text:?}: {grammar}"
        );
    }
}

#[test]
fn another_root() {
    let options = Options::default().root("start".to_owned());
    let compiled = compile("start ::= \"a\"\nroot ::= \"b\"", &options).expect("the grammar is right");
    assert!(language::matches(&compiled.grammar, b"a"));
    assert_eq!(compiled.warnings.len(), 1);
}

#[test]
fn deep_nesting() {
    let depth = 100_000;
    let source = format!("root ::= {}\"x\"{}\n", "(".repeat(depth), ")*".repeat(depth));
    let compiled = compile(&source, &Options::default()).expect("within the limit");
    assert!(compiled.grammar.verify().is_ok());
    let source = format!("root ::= {}", "(\n\"a\" | ".repeat(300_000));
    assert_eq!(compile(&source, &Options::default()).expect_err("past the limit").kind(), ErrorKind::Limit);
    let source = format!("root ::= {}", "(".repeat(1000));
    let limits = Limits::default().source_depth(999);
    let error = compile(&source, &Options::default().limits(limits)).expect_err("past the limit");
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn big_grammars_take_linear_time() {
    let grammar = |rules: usize| {
        let mut source = String::from("root ::= rule-0\n");
        for i in 0..rules {
            let next = (i + 1) % rules;
            writeln!(
                source,
                "rule-{i} ::= \"text {i}\" [a-z{i}]* rule-{next} | (\"a\" | \"b\"){{2,{}}}",
                i + 2
            )
            .expect("strings can be written to");
        }
        source
    };
    let source = grammar(150_000);
    assert!(source.len() > 8_000_000, "{}", source.len());
    let begin = Instant::now();
    let compiled = compile(&source, &Options::default()).expect("within the limits");
    assert!(compiled.warnings.is_empty());
    // a few seconds at most, also on a slow and busy machine; quadratic time would take hours
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
}

#[test]
fn many_warnings_are_summed_up() {
    let mut source = String::from("root ::= \"a\"\n");
    for i in 0..100_000 {
        writeln!(source, "unused-{i} ::= \"a\"").expect("strings can be written to");
    }
    let warnings = compile(&source, &Options::default()).expect("only warnings").warnings;
    assert_eq!(warnings.len(), 21);
    assert_eq!(warnings[20].message(), "99980 more rules are not used");
}

#[test]
fn limits_hold() {
    let limits = Limits::default().grammar_nodes(20);
    let source = "root ::= a b c d e f g h\n";
    let error = compile(source, &Options::default().limits(limits));
    assert!(error.is_err());
    let mut source = String::from("root ::= \"\"");
    (0..100).for_each(|i| write!(source, " | \"{i}\"").expect("strings can be written to"));
    let limits = Limits::default().grammar_nodes(20);
    let error = compile(&source, &Options::default().limits(limits)).expect_err("past the limit");
    assert_eq!(error.kind(), ErrorKind::Limit);
    let limits = Limits::default().source_bytes(10);
    let error = compile_bytes(source.as_bytes(), &Options::default().limits(limits));
    assert_eq!(error.expect_err("past the limit").kind(), ErrorKind::Limit);
    for nodes in 0..12 {
        let limits = Limits::default().grammar_nodes(nodes);
        let error = compile("root ::= x y\nx ::= y?\ny ::= [a-b] \"c\"+", &Options::default().limits(limits));
        assert!(error.is_err() || nodes > 8, "{nodes}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_grammar_or_an_error(body in r#"[a-c"\\\[\](){}|^*+?.,xuU0-9<>!:=#\n -]{0,32}"#) {
        let source = format!("root ::= {body}\na ::= \"a\"\nb ::= b | \"\"\n");
        match compile(&source, &Options::default()) {
            Ok(compiled) => prop_assert!(compiled.grammar.verify().is_ok()),
            Err(error) => {
                prop_assert!(error.diagnostic().help_text().is_some());
                prop_assert!(error.code().starts_with("gbnf/"), "{}", error);
            }
        }
    }

    #[test]
    fn any_bytes_are_a_grammar_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Err(error) = compile_bytes(&bytes, &Options::default()) {
            prop_assert!(error.code().starts_with("gbnf/"), "{}", error);
        }
    }
}

#[test]
fn errors_are_reported_up_to_a_bound() {
    let source = |count: usize| {
        (0..count)
            .fold("root ::= \"a\"\n".to_owned(), |source, i| source + &format!("r{i} ::= 'x' missing{i}\n"))
    };
    let few = compile(&source(7), &Options::default()).unwrap_err();
    assert_eq!((few.diagnostics().count(), few.is_cut()), (7, false), "{few}");
    let lines: Vec<usize> = few.diagnostics().map(|d| d.snippet().unwrap().line()).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 8]);
    let many = compile(&source(100_000), &Options::default()).unwrap_err();
    assert_eq!((many.diagnostics().count(), many.is_cut()), (20, true));
    assert!(many.to_string().ends_with("there may be more errors: reading stopped here"), "{many}");
    // the text that an unclosed literal consumes is read again, line by line
    let unclosed = "root ::= \"a\nb ::= [z-a]\nc ::= \"x\" d\n";
    let error = compile(unclosed, &Options::default()).unwrap_err();
    let codes: Vec<&str> = error.diagnostics().map(|d| d.code()).collect();
    assert!(codes.contains(&"gbnf/crossed-range"), "{error}");
}

proptest! {
    /// The literal that the help about other quotes proposes is a literal, and means the quoted text.
    #[test]
    fn proposed_literals_mean_what_was_quoted(
        text in proptest::collection::vec(
            proptest::sample::select(vec!["a", "\"", "\\", "é", " ", "]", "n", "x4", "\u{1b}", "`", "|", "“"]), 0..8,
        ),
        quotes in proptest::sample::select(vec![("'", "'"), ("“", "”"), ("‘", "’"), ("`", "`")]),
    ) {
        let text = text.concat();
        prop_assume!(!text.contains(quotes.1));
        let error = compile(&format!("root ::= {}{text}{}", quotes.0, quotes.1), &Options::default()).unwrap_err();
        let help = error.diagnostic().help_text().unwrap();
        let start = "write text in double quotes: `";
        // without a closing quote, since the last character escapes it, there is no proposal
        let Some(literal) = help.strip_prefix(start).and_then(|rest| rest.strip_suffix('`')) else {
            prop_assert!(text.ends_with('\\'), "{text:?}: {help}");
            return Ok(());
        };
        let compiled = compile(&format!("root ::= {literal}"), &Options::default());
        // a control character is shown as an escape of Rust, which GBNF does not have
        if !text.contains('\u{1b}') {
            let compiled = compiled.unwrap_or_else(|error| panic!("{text:?} {literal}: {error}"));
            if !text.contains('\\') {
                prop_assert!(language::matches(&compiled.grammar, text.as_bytes()), "{text:?} {literal}");
            }
        }
    }
}
