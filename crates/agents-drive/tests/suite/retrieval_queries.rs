//! Queries that a language model writes: reading its raw output, and the language of the grammar.

use crate::retrieval_writer::rejected_at;
use grammata::syntax::regex;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, TokenId};
use grammata_agents_drive::retrieval::{Charset, Lines, Reason, lines_pattern, parse};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

#[derive(serde::Deserialize)]
struct Case {
    name: String,
    output: String,
    queries: Vec<String>,
    dropped: Vec<String>,
}

fn name(reason: Reason) -> &'static str {
    match reason {
        Reason::Dialogue => "dialogue",
        Reason::Fence => "fence",
        Reason::NoMarker => "no_marker",
        Reason::Introduction => "introduction",
        Reason::Closing => "closing",
        Reason::NoLetter => "no_letter",
        Reason::Repeated => "repeated",
        Reason::Surplus => "surplus",
    }
}

#[test]
fn raw_output_is_read_as_the_cases_say() {
    let path = Path::new(crate::ROOT).join("tests/cases/retrieval/outputs.json");
    let cases: Vec<Case> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(cases.len() >= 20);
    for case in cases {
        let parsed = parse(&case.output);
        assert_eq!(parsed.queries, case.queries, "{}", case.name);
        let reasons: Vec<&str> = parsed.dropped.iter().map(|dropped| name(dropped.reason)).collect();
        assert_eq!(reasons, case.dropped, "{}", case.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn whatever_is_written_gives_queries_in_form(
        output in "(Sure, |Answer: ?|Human: ?|[-*•] ?|\\*\\*|[(]?[0-9]{1,3}[.):] ?|[a-c]\\) |`|\"|\\PC{0,9}| |word |\n){0,40}"
    ) {
        let parsed = parse(&output);
        prop_assert!(parsed.queries.len() <= 5);
        for (index, query) in parsed.queries.iter().enumerate() {
            prop_assert!((1..=19).contains(&query.split_whitespace().count()));
            prop_assert!(!query.contains("**") && !query.contains('`') && !query.contains('\n'));
            prop_assert!(query.chars().any(char::is_alphabetic));
            prop_assert!(parsed.queries[..index].iter().all(|q| q.to_lowercase() != query.to_lowercase()));
        }
        // every line that is not blank is a query or is dropped
        let output = output.trim_start();
        let output = output.strip_prefix("Answer:").unwrap_or(output);
        let lines = output.lines().filter(|line| !line.trim().is_empty()).count();
        prop_assert_eq!(parsed.queries.len() + parsed.dropped.len(), lines);
    }
}

/// Compiles the grammar of a form of lines for a vocabulary of single bytes and an end token.
fn compiled(form: &Lines) -> grammata::CompiledGrammar {
    let end = TokenId::new(256);
    let bytes = VocabularyBuilder::from_tokens((0..=255_u8).map(|byte| [byte]));
    let vocabulary = bytes.special(end, "<end>").eos([end]).build().unwrap();
    let grammar = regex::compile(&lines_pattern(form), &regex::Options::default()).unwrap();
    Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap()
}

/// The grammar of lines rejects every other text, at the first wrong byte.
#[test]
fn the_grammar_of_lines_accepts_lines_alone() {
    let plain = compiled(&Lines::default());
    let words = |count: usize| vec!["word"; count].join(" ");
    let lines = |count: usize| vec!["Weather forecasts for cities"; count].join("\n");
    let table = [
        ("Weather forecasts for cities".to_owned(), None),
        (lines(5), None),
        (words(19), None),
        (format!("Weather {} end", "x".repeat(24)), None),
        ("Find (cheap) flights, 24/7: 50-100$ R&D".to_owned(), None),
        ("1. Weather forecasts for cities".to_owned(), Some(0)),
        ("Weather forecasts".to_owned(), Some(17)),
        (words(20), Some(94)),
        (lines(6), Some(5 * 29 - 1)),
        ("Weather forecasts for cities\n".to_owned(), Some(29)),
        (format!("Weather {} end", "x".repeat(25)), Some(8 + 24)),
        ("Weather  forecasts today".to_owned(), Some(8)),
        ("Wetter für Köln".to_owned(), Some(8)),
        (String::new(), Some(0)),
    ];
    for (text, expected) in &table {
        assert_eq!(rejected_at(&plain, text), *expected, "{text:?}");
    }
    let printable = compiled(&Lines { charset: Charset::Printable, ..Lines::default() });
    let table = [
        ("Wetter für Köln", None),
        ("天气 预报 服务", None),
        ("a \"b\" <c>", None),
        ("- a b c", Some(0)),
        ("a b \u{7}c", Some(4)),
        ("a b\u{a0}c d", Some(4)),
    ];
    for (text, expected) in table {
        assert_eq!(rejected_at(&printable, text), expected, "{text:?}");
    }
    let one = compiled(&Lines { lines: 2..=2, words: 1..=2, letters: 3, charset: Charset::Plain });
    let table =
        [("ab\nc d", None), ("ab", Some(2)), ("a b c", Some(3)), ("abcd", Some(3)), ("a\nb\nc", Some(3))];
    for (text, expected) in table {
        assert_eq!(rejected_at(&one, text), expected, "{text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// A word of the grammar is split into queries at line ends alone; it needs no parser.
    #[test]
    fn words_of_the_grammar_split_into_queries(text in prop::string::string_regex(&lines_pattern(&Lines::default())).unwrap()) {
        let queries: Vec<&str> = text.split('\n').collect();
        prop_assert!((1..=5).contains(&queries.len()));
        prop_assert!(queries.iter().all(|query| (3..=19).contains(&query.split(' ').count())));
        prop_assert_eq!(queries.join("\n"), text);
    }
}
