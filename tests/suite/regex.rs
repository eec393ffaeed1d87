//! The regex front end: tables of cases, random patterns compared with regex-automata, limits.

use crate::language;
use crate::tables;
use grammata::grammar::{CharClass, Expression, GrammarBuilder};
use grammata::syntax::regex::{Dialect, Options, compile, lower_into};
use grammata::{ErrorKind, Limits};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    pattern: String,
    #[serde(default)]
    ecma: bool,
    #[serde(default)]
    search: bool,
    #[serde(default)]
    case_insensitive: bool,
    #[serde(default)]
    ascii_classes: bool,
    #[serde(default)]
    dot_matches_newline: bool,
    #[serde(default)]
    accept: Vec<String>,
    #[serde(default)]
    reject: Vec<String>,
    error: Option<String>,
}

#[test]
fn tables() {
    let cases: Vec<Case> = tables::cases("regex");
    cases.iter().for_each(check);
    let cases = cases.len();
    assert!(cases > 50, "only {cases} cases were found");
}

fn check(case: &Case) {
    let options = Options::default()
        .dialect(if case.ecma { Dialect::Ecma262 } else { Dialect::Rust })
        .search(case.search)
        .case_insensitive(case.case_insensitive)
        .ascii_classes(case.ascii_classes)
        .dot_matches_newline(case.dot_matches_newline);
    let pattern = &case.pattern;
    match (compile(pattern, &options), &case.error) {
        (Err(error), Some(code)) => assert_eq!(error.code(), code, "{pattern}"),
        (Err(error), None) => panic!("{pattern}: {error}"),
        (Ok(grammar), Some(code)) => panic!("{pattern}: {code} expected, but it is {grammar}"),
        (Ok(grammar), None) => {
            grammar.verify().expect("the grammar verifies");
            assert!(!case.accept.is_empty(), "{pattern}: a case needs a text that matches");
            for text in &case.accept {
                assert!(
                    language::matches(&grammar, text.as_bytes()),
                    "{pattern} should match {text:?}: {grammar}"
                );
            }
            for text in &case.reject {
                assert!(
                    !language::matches(&grammar, text.as_bytes()),
                    "{pattern} must not match {text:?}: {grammar}"
                );
            }
        }
    }
}

/// Returns a test of whether regex-automata matches the whole of a text.
fn reference(pattern: &str, search: bool) -> impl Fn(&str) -> bool {
    let whole =
        if search { format!(r"\A(?s:.*)(?:{pattern})(?s:.*)\z") } else { format!(r"\A(?:{pattern})\z") };
    let regex = regex_automata::meta::Regex::new(&whole).expect("the pattern is right");
    move |text| regex.is_match(text)
}

fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "ab", ".", "[^a]", "[a-b]", "é", r"\w", r"\S", "[[a-c]--b]", "[é\\d]"]),
        2 => prop::sample::select(vec!["^", "$", r"\A", r"\z", "", "(?i)", "(?s)", "(?-i)"]),
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("({})", parts.join("|"))),
            (
                inner.clone(),
                prop::sample::select(vec!["*", "+", "?", "{2}", "{0,2}", "{1,}", "{2,3}", "*?", "{0}"])
            )
                .prop_map(|(body, times)| format!("(?:{body}){times}")),
            inner.prop_map(|body| format!("(?i:{body})")),
        ]
    })
}

/// Returns all texts of up to four characters of a small alphabet.
fn texts() -> Vec<String> {
    let mut all = vec![String::new()];
    let mut last = all.clone();
    for _ in 0..4 {
        last = last.iter().flat_map(|t| ["a", "B", "é", "\n"].map(|c| format!("{t}{c}"))).collect();
        all.extend_from_slice(&last);
    }
    all
}

proptest! {
    #![proptest_config(crate::properties::config(300))]

    #[test]
    fn same_language_as_regex_automata(pattern in patterns(), search: bool) {
        let expected = reference(&pattern, search);
        let compiled = compile(&pattern, &Options::default().search(search));
        match compiled {
            Err(error) => {
                prop_assert_eq!(error.code(), "regex/empty-language");
                for text in texts() {
                    prop_assert!(!expected(&text), "{} matches {:?}", pattern, text);
                }
            }
            Ok(grammar) => {
                for text in texts() {
                    prop_assert_eq!(
                        language::matches(&grammar, text.as_bytes()), expected(&text),
                        "{} on {:?}: {}", pattern, text, grammar
                    );
                }
            }
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_an_error(pattern in r"[\\\[\](){}|^$*+?.,a-cxuUpPkdDwWsSbB0-9<>=!:&~ -]{0,24}", ecma: bool) {
        let dialect = if ecma { Dialect::Ecma262 } else { Dialect::Rust };
        match compile(&pattern, &Options::default().dialect(dialect)) {
            Ok(grammar) => prop_assert!(grammar.verify().is_ok()),
            Err(error) => {
                prop_assert!(error.diagnostic().help_text().is_some());
                prop_assert!(error.code() != "regex/syntax", "{} has no code of its own", error);
            }
        }
    }
}

#[test]
fn bytes_that_are_not_text() {
    let grammar = compile(r"(?-u)\xFF[\x00-\x10]", &Options::default()).expect("bytes are allowed");
    assert!(language::matches(&grammar, b"\xFF\x10"));
    assert!(!language::matches(&grammar, b"\xFF\x11"));
    let grammar = compile("[^a]", &Options::default().unicode(false)).expect("bytes are allowed");
    assert!(language::matches(&grammar, b"\xC3"));
    assert!(!language::matches(&grammar, "é".as_bytes()));
    let ecma = Options::default().dialect(Dialect::Ecma262).unicode(false);
    for pattern in ["(?=a)a", "a(?!b)", "(?<=a)b", "(?<!a)b"] {
        let error = compile(pattern, &ecma).expect_err("look-around is over characters");
        assert_eq!(error.code(), "regex/look-around-over-bytes", "{error}");
    }
    assert!(compile("(?<ahead>a)", &ecma).is_ok());
}

#[test]
fn the_hook_makes_all_classes() {
    let mut builder = GrammarBuilder::new();
    let mut seen = Vec::new();
    let mut hook = |builder: &mut GrammarBuilder, class: &CharClass| {
        seen.push(class.clone());
        // as in a JSON string: a quote is escaped
        if class.contains('"') {
            let others = builder.char_class(class.intersection(&CharClass::from_iter(['"']).complement()));
            let escaped = builder.text("\\\"");
            builder.choice([others, escaped])
        } else {
            builder.char_class(class.clone())
        }
    };
    let options = Options::default().search(true);
    let id = lower_into(&mut builder, r#"^a"."#, &options, &mut hook).expect("the pattern is right");
    let root = builder.declare("root");
    builder.define(root, id);
    let grammar = builder.build(root).expect("the grammar is right");
    assert!(language::matches(&grammar, br#"a\"x"#));
    assert!(language::matches(&grammar, br#"a\"\"\"zz"#));
    assert!(!language::matches(&grammar, br#"a"x"#));
    assert!(!language::matches(&grammar, br#"ba\"x"#));
    assert!(seen.contains(&CharClass::from_iter(['a'])), "literals go through the hook");
    assert!(seen.contains(&CharClass::any()), "the text around a search goes through the hook");

    let mut builder = GrammarBuilder::new();
    let error = lower_into(&mut builder, r"(?-u)\xFF", &options, &mut |b, c| b.char_class(c.clone()));
    assert_eq!(error.expect_err("bytes are no characters").code(), "regex/not-utf8");
}

#[test]
fn repeats_are_not_unrolled() {
    let grammar = compile("(a{1000}){1000}", &Options::default()).expect("the pattern is right");
    assert!(grammar.expressions().len() < 10);
    let bounds: Vec<_> = grammar
        .expressions()
        .iter()
        .filter_map(|e| if let Expression::Repeat { min, max, .. } = e { Some((*min, *max)) } else { None })
        .collect();
    assert_eq!(bounds, [(1000, Some(1000)); 2]);
}

#[test]
fn anchors_cost_a_bounded_number_of_expressions() {
    let size = |n: usize| {
        let pattern = "(^|,)(a|$)".repeat(n);
        compile(&pattern, &Options::default()).expect("the pattern is right").expressions().len()
    };
    assert!(size(2000) < size(1000) * 21 / 10);
}

/// Runs a function on a stack that is too small for recursion as deep as the pattern.
fn on_a_small_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(run).expect("threads can be made");
    thread.join().expect("the thread ends well");
}

#[test]
fn depth_takes_no_stack() {
    for (open, close, depth) in [
        ("(", ")", 99_000),
        ("(?:", ")+", 99_000),
        ("(a|", ")", 60_000),
        ("(^a|", "b)?", 49_000),
        ("(?:a", "b{2}){3}", 49_000),
    ] {
        for ecma in [false, true] {
            on_a_small_stack(move || {
                let pattern = open.repeat(depth) + "x" + &close.repeat(depth);
                let dialect = if ecma { Dialect::Ecma262 } else { Dialect::Rust };
                let grammar =
                    compile(&pattern, &Options::default().dialect(dialect)).expect("within the limit");
                assert!(grammar.verify().is_ok());
            });
        }
    }
    for inside in ["a", "^a", "a-c&&b", "\\d--"] {
        on_a_small_stack(move || {
            let classes = |depth: usize| format!("[{inside}").repeat(depth) + "a" + &"]".repeat(depth);
            for ascii_classes in [false, true] {
                let options = Options::default().ascii_classes(ascii_classes);
                match compile(&classes(1500), &options) {
                    Ok(grammar) => assert!(grammar.verify().is_ok()),
                    Err(error) => assert_eq!(error.code(), "regex/empty-language"),
                }
                let error = compile(&classes(60_000), &options).expect_err("past the limit");
                assert_eq!(error.kind(), ErrorKind::Limit);
            }
        });
    }
}

#[test]
fn deep_nesting() {
    let limits = Limits::default().source_depth(100);
    let pattern = "(".repeat(200) + &")".repeat(200);
    for dialect in [Dialect::Rust, Dialect::Ecma262] {
        let error = compile(&pattern, &Options::default().limits(limits.clone()).dialect(dialect));
        assert_eq!(error.expect_err("past the limit").kind(), ErrorKind::Limit);
    }
    let classes = "[".repeat(4000) + "a" + &"]".repeat(4000);
    let grammar = compile(&classes, &Options::default()).expect("within the limit");
    assert!(language::matches(&grammar, b"a"));
    let classes = "[".repeat(40_000) + "a" + &"]".repeat(40_000);
    let error = compile(&classes, &Options::default()).expect_err("past the limit");
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn big_patterns() {
    let words: Vec<String> = (0..50_000).map(|i| format!("word{i}")).collect();
    assert!(compile(&words.join("|"), &Options::default()).is_ok());
    // distinct characters that are not adjacent: sorting the class for each of them would take quadratic time
    let class: String = (0..20_000).filter_map(|i| char::from_u32(0x4E00 + 2 * i)).collect();
    for options in [Options::default(), Options::default().case_insensitive(true)] {
        assert!(compile(&format!("[{class}]+"), &options).is_ok());
    }
    assert!(compile(&r"\w".repeat(100_000), &Options::default()).is_ok());
    let error = compile(&"a".repeat(2 << 20), &Options::default()).expect_err("past the limit");
    assert_eq!(error.kind(), ErrorKind::Limit);
    let names: String = (0..20_000).rev().map(|i| format!("(?<n{i}>)")).collect();
    assert_eq!(compile(&names, &Options::default()).expect_err("past the limit").kind(), ErrorKind::Limit);
    let limits = Limits::default().grammar_nodes(10);
    let error = compile("a*b*c*d*e*f*g*h*", &Options::default().limits(limits));
    assert_eq!(error.expect_err("past the limit").kind(), ErrorKind::Limit);
}
