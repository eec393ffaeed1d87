//! Counted repeats of ambiguous groups: a text may have many numbers of rounds.

use crate::language::Language;
use crate::masks::check;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::grammar::Grammar;
use grammata::syntax::{json_schema, regex};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, Limits, TokenId};
use grammata_testing::agreement::{operations_agree, words_are_accepted};
use grammata_testing::generate::{Choices, GrammarShape};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::fmt;

fn pattern(source: &str) -> Grammar {
    regex::compile(source, &Default::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn schema(source: &str) -> Grammar {
    json_schema::compile(source, &Default::default()).unwrap_or_else(|e| panic!("{e}")).grammar
}

/// The parts of a text, each with the number of its repetitions.
type Text<'a> = &'a [(&'a str, usize)];

/// Patterns, texts of many rounds, and the most bytes that the tables may have after the text.
const LONG: [(&str, Text<'_>, usize); 12] = [
    ("([a-z]+ ?){1,1000}", &[("wordy ", 1000)], 1 << 20),
    ("([a-z]+ ?){500}", &[("wordy ", 500)], 1 << 20),
    ("(a?b?c?){2000}", &[("abc", 2000)], 2 << 20),
    ("([A-Za-z0-9_.-]{1,64}/?){1,256}", &[("abcdefgh/", 256)], 2 << 20),
    ("(a|ab|abc|abcd|bcd|cd|d){1000,2000}", &[("abcd", 2000)], 4 << 20),
    ("(a|ab|abc|abcd|bcd|cd|d){2000}", &[("abcd", 2000)], 4 << 20),
    ("(a{0,1000}){0,1000}", &[("a", 4000)], 8 << 20),
    ("(a{1,1000}){1000}", &[("a", 4000)], 8 << 20),
    ("(((((a{0,9}){0,9}){0,9}){0,9}){0,9})", &[("a", 4000)], 8 << 20),
    ("((((((a|b){1,9}){9}c?){1,9}){9}){3,9})", &[("ab", 1500)], 16 << 20),
    ("(a|aaa){4000}", &[("a", 6000)], 8 << 20),
    ("(a{5}|a{7}|a{11}){300}", &[("a", 300 * 11)], 32 << 20),
];

#[test]
fn tables_stay_small_while_many_numbers_of_rounds_fit() {
    for (source, text, most) in LONG {
        let automaton = Automaton::new(&pattern(source), &Limits::default()).unwrap();
        let mut tables = Cache::new();
        let mut at = Lazy::new(&automaton, &mut tables).start().unwrap();
        let text: String = text.iter().map(|(part, times)| part.repeat(*times)).collect();
        for (place, byte) in text.bytes().enumerate() {
            at = Lazy::new(&automaton, &mut tables)
                .step(at, byte)
                .unwrap_or_else(|e| panic!("{source} at byte {place}: {e}"));
            assert_ne!(at, ConfigurationId::DEAD, "{source} at byte {place}");
        }
        let used = tables.memory_usage();
        assert!(tables.is_accepting(at), "{source}");
        assert!(used <= most, "{source}: {used} bytes of tables");
    }
}

/// A node of a random regular expression with nested counted repeats over a few letters.
#[derive(Debug)]
enum Node {
    Letter(char),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
}

impl Node {
    fn random(choices: &mut Choices<'_>, depth: usize, most: usize) -> Node {
        match choices.below(if depth == 0 { 1 } else { 8 }) {
            0 => Node::Letter(if choices.chance(15) { 'b' } else { 'a' }),
            1 | 2 => Node::Sequence(Node::list(choices, depth, most)),
            3 | 4 => Node::Choice(Node::list(choices, depth, most)),
            _ => {
                let min = choices.below(most + 1) as u32;
                let more = choices.below(most + 1) as u32;
                let max = match choices.below(5) {
                    0 => None,
                    1 | 2 => Some(min.max(1)),
                    _ => Some((min + more).max(1)),
                };
                Node::Repeat(Box::new(Node::random(choices, depth - 1, most)), min, max)
            }
        }
    }

    fn list(choices: &mut Choices<'_>, depth: usize, most: usize) -> Vec<Node> {
        (0..2 + choices.below(2)).map(|_| Node::random(choices, depth - 1, most)).collect()
    }

    /// Returns the places at which words of the node end that begin at one of `starts`. Repeats are computed round by
    /// round, with one flag for each place.
    fn ends(&self, text: &[u8], starts: &[bool]) -> Vec<bool> {
        let nowhere = || vec![false; starts.len()];
        match self {
            Node::Letter(letter) => {
                let ends = |place: usize| starts[place] && text[place] == *letter as u8;
                let mut after = nowhere();
                (0..text.len()).for_each(|place| after[place + 1] = ends(place));
                after
            }
            Node::Sequence(parts) => parts.iter().fold(starts.to_vec(), |at, part| part.ends(text, &at)),
            Node::Choice(parts) => {
                parts.iter().fold(nowhere(), |all, part| either(&all, &part.ends(text, starts)))
            }
            Node::Repeat(body, min, max) => {
                let (mut all, mut at) = (nowhere(), starts.to_vec());
                // the minimum number of rounds, and then at most one round for each place, reach every place that can
                // be reached
                for round in 0..=max.unwrap_or(min + text.len() as u32 + 1) {
                    if round >= *min {
                        all = either(&all, &at);
                    }
                    let next = body.ends(text, &at);
                    if next == at {
                        return either(&all, &at);
                    }
                    at = next;
                }
                all
            }
        }
    }
}

fn either(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| *a || *b).collect()
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Node], between: &str| {
            let parts: Vec<String> = parts.iter().map(Node::to_string).collect();
            write!(f, "({})", parts.join(between))
        };
        match self {
            Node::Letter(letter) => write!(f, "{letter}"),
            Node::Sequence(parts) => list(f, parts, ""),
            Node::Choice(parts) => list(f, parts, "|"),
            Node::Repeat(body, min, Some(max)) => write!(f, "({body}){{{min},{max}}}"),
            Node::Repeat(body, min, None) => write!(f, "({body}){{{min},}}"),
        }
    }
}

fn runner(cases: u32) -> TestRunner {
    let cases = std::env::var("GRAMMATA_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() })
}

#[test]
fn nested_counted_repeats_count_round_by_round() {
    let bytes = prop::collection::vec(any::<u8>(), 0..300);
    let outcome = runner(300).run(&bytes, |bytes| {
        let mut choices = Choices::new(&bytes);
        let most = 2 + choices.below(30);
        let node = Node::random(&mut choices, 4, most);
        let length = 20 + choices.below(60);
        let text: String = (0..length).map(|_| if choices.chance(8) { 'b' } else { 'a' }).collect();
        let mut starts = vec![false; text.len() + 1];
        starts[0] = true;
        let expected = node.ends(text.as_bytes(), &starts);
        let language = Language::new(&pattern(&node.to_string()));
        for (end, expected) in expected.into_iter().enumerate() {
            let found = language.accepts(&text.as_bytes()[..end]);
            prop_assert_eq!(found, expected, "{} on {}", &node, &text[..end]);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn operations_agree_with_the_oracle_on_counted_repeats() {
    let shape = GrammarShape {
        letters: vec!["a", "b"],
        literal: 2,
        rules: 2,
        count: 24,
        members: false,
        bytes: false,
        ..GrammarShape::default()
    };
    let bytes = prop::collection::vec(any::<u8>(), 0..400);
    let outcome = runner(150).run(&bytes, |bytes| {
        operations_agree(&bytes, &shape).map_err(TestCaseError::fail)?;
        words_are_accepted(&bytes, &shape).map_err(TestCaseError::fail)?;
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn masks_near_the_bounds_are_those_of_each_token() {
    let words = "some words that are read ".repeat(8);
    let cases: [(&str, &[usize]); 7] = [
        ("([a-z]+ ?){1,30}", &[0, 130, 150]),
        ("([a-z]+ ?){20,30}", &[1, 90, 130]),
        ("(s|so|some|o|m|e| |[a-z ]{2}){60}", &[0, 50, 70, 115]),
        ("([a-z ]|[a-z ]{3}){100}", &[1, 50, 90, 99, 120]),
        ("(([a-z]{1,6} ?){1,5}){1,6}!", &[5, 90]),
        ("([a-z ]{0,40}){0,4}", &[39, 120, 159]),
        ("([a-z ]{3,20}[a-z]?){4,9}", &[10, 100, 185]),
    ];
    for (source, prefixes) in cases {
        let prefixes: Vec<&[u8]> = prefixes.iter().map(|&end| &words.as_bytes()[..end]).collect();
        check(&pattern(source), &prefixes, source);
    }
    // a pattern and a length are two operands of an intersection
    let cases: [(&str, &[usize]); 3] = [
        (r#"{"type": "string", "pattern": "^([a-z]+ ?){1,30}$", "maxLength": 161}"#, &[10, 130, 148]),
        (r#"{"type": "string", "pattern": "^([a-z ]|[a-z ]{3}){60}$", "minLength": 100}"#, &[1, 70, 98, 120]),
        (
            r#"{"type": "string", "pattern": "^([a-z]{1,8} ?){2,40}$", "minLength": 40, "maxLength": 99}"#,
            &[38, 90],
        ),
    ];
    for (source, prefixes) in cases {
        let prefixes: Vec<String> = prefixes.iter().map(|&end| format!("\"{}", &words[..end])).collect();
        let prefixes: Vec<&[u8]> = prefixes.iter().map(String::as_bytes).collect();
        check(&schema(source), &prefixes, source);
    }
}

/// The tables also stay small if a mask is computed after each round.
#[test]
fn masks_are_few_while_many_numbers_of_rounds_fit() {
    let tokens = ["wordy ", "wordy", " ", "w", "ordy w", "or", "dy", "a", "aaa", "\"", ""];
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(10)]).build().unwrap();
    let compiler = Compiler::new(vocabulary.into());
    for (source, unit, rounds) in [
        ("([a-z]+ ?){1,1000}", "wordy ", 1000),
        ("([a-z]+ ?){300,1000}", "wordy ", 1000),
        ("(a|aaa){3000}", "a", 3000),
    ] {
        let compiled = compiler.compile(&pattern(source)).unwrap();
        let mut matcher = compiled.matcher();
        for round in 0..rounds {
            assert!(!matcher.mask().unwrap().is_empty(), "{source}: no token after {round} rounds");
            matcher.accept_bytes(unit.as_bytes()).unwrap_or_else(|e| panic!("{source}: {e}"));
        }
        assert!(matcher.is_accepting(), "{source}");
        let used = compiled.statistics();
        assert_eq!(used.resets, 0, "{source}: {used:?}");
        assert!(used.cache_bytes < 48 << 20, "{source}: {used:?}");
    }
}
