//! Free text with triggers, compared with a naive reader that looks for the strings at each place.

use crate::language::Language;
use grammata::grammar::{ExprId, FreeText, Grammar, GrammarBuilder};
use grammata::syntax::{automaton_spec, gbnf};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{Compiler, Limits, Matcher};
use proptest::prelude::*;
use std::sync::Arc;

/// The strings of a free text. Trigger `i` is followed by the digit `i`. `end` follows a text without triggers; if it
/// is `None`, only a trigger ends a word.
#[derive(Clone, Debug)]
struct Strings {
    triggers: Vec<String>,
    forbidden: Vec<String>,
    end: Option<&'static str>,
}

impl Strings {
    fn grammar(&self, limits: &Limits) -> grammata::Result<Grammar> {
        let mut g = GrammarBuilder::with_limits(limits.clone());
        let end = self.end.map(|end| g.text(end));
        let triggers: Vec<(Box<str>, ExprId)> = (self.triggers.iter().enumerate())
            .map(|(index, trigger)| (trigger.as_str().into(), g.text(index.to_string())))
            .collect();
        let forbidden = self.forbidden.iter().map(|text| text.as_str().into()).collect();
        let root = g.declare("root");
        let body = g.free_text(&FreeText { triggers, forbidden, end });
        g.define(root, body);
        g.build(root)
    }

    /// Returns whether a word belongs to the free text by definition: every way to split it is tried.
    fn accepts(&self, word: &str) -> bool {
        let has_any =
            |text: &str, strings: &[String]| strings.iter().any(|string| text.contains(string.as_str()));
        let by_end = self.end.is_some_and(|end| {
            let text = word.strip_suffix(end);
            text.is_some_and(|text| !has_any(text, &self.triggers) && !has_any(text, &self.forbidden))
        });
        let by_trigger = self.triggers.iter().enumerate().any(|(index, trigger)| {
            let Some(text) = word.strip_suffix(&index.to_string()) else { return false };
            let longest =
                self.triggers.iter().filter(|other| text.ends_with(other.as_str())).map(String::len).max();
            // the text before its last character has no trigger in it
            let mut before = text.chars();
            before.next_back();
            longest == Some(trigger.len())
                && text.ends_with(trigger.as_str())
                && !has_any(before.as_str(), &self.triggers)
                && !has_any(text, &self.forbidden)
        });
        by_end || by_trigger
    }

    /// Returns whether the free text must be refused: a string is empty, a trigger is given twice, or a trigger can
    /// never be read to its end.
    fn is_refused(&self) -> bool {
        let all: Vec<&String> = self.triggers.iter().chain(&self.forbidden).collect();
        let hidden = |trigger: &String| {
            self.forbidden.iter().any(|text| trigger.contains(text.as_str()))
                || self.triggers.iter().any(|other| {
                    trigger.find(other.as_str()).is_some_and(|at| at + other.len() < trigger.len())
                })
        };
        let twice =
            (0..self.triggers.len()).any(|index| self.triggers[..index].contains(&self.triggers[index]));
        all.iter().any(|string| string.is_empty()) || twice || self.triggers.iter().any(hidden)
    }
}

/// Returns random strings of a few characters, which have all lengths in UTF-8, and partly the same first bytes.
fn string(longest: usize) -> impl Strategy<Value = String> {
    let character = prop::sample::select(vec!['a', 'b', 'é', 'è', '€', '₭', '😀', '😁']);
    prop::collection::vec(character, 0..=longest).prop_map(|chars| chars.into_iter().collect())
}

fn strings() -> impl Strategy<Value = Strings> {
    let end = prop::sample::select(vec![None, Some(""), Some(""), Some("!")]);
    (prop::collection::vec(string(4), 0..4), prop::collection::vec(string(3), 0..3), end)
        .prop_map(|(triggers, forbidden, end)| Strings { triggers, forbidden, end })
}

/// Returns random words that are close to the strings: joined beginnings of them, and what may follow.
fn word(strings: &Strings) -> impl Strategy<Value = String> + use<> {
    let pieces: Vec<String> = strings.triggers.iter().chain(&strings.forbidden).cloned().collect();
    let piece = (0..pieces.len() + 1, string(2), 0..4_usize).prop_map(move |(index, random, left_out)| {
        let Some(piece) = pieces.get(index) else { return random };
        let kept = piece.chars().count().saturating_sub(left_out);
        piece.chars().take(kept).chain(random.chars().take(left_out % 2)).collect()
    });
    let follow = prop::sample::select(vec!["", "0", "1", "2", "!"]);
    (prop::collection::vec(piece, 0..4), follow).prop_map(|(pieces, follow)| pieces.concat() + follow)
}

proptest! {
    #![proptest_config(crate::properties::config(256))]

    #[test]
    fn words_are_those_of_the_definition(
        (strings, words) in strings().prop_flat_map(|strings| {
            let words = prop::collection::vec(word(&strings), 1..40);
            (Just(strings), words)
        })
    ) {
        let grammar = strings.grammar(&Limits::default());
        prop_assert_eq!(grammar.is_err(), strings.is_refused(), "{:?}", grammar);
        if let Ok(grammar) = grammar {
            let language = Language::new(&grammar);
            for word in words {
                prop_assert_eq!(language.accepts(word.as_bytes()), strings.accepts(&word), "{}", word);
            }
        }
    }
}

#[test]
fn bytes_that_are_no_text_do_not_come() {
    let strings = Strings { triggers: vec!["€".into()], forbidden: vec!["é".into()], end: Some("") };
    let language = Language::new(&strings.grammar(&Limits::default()).unwrap());
    let words: [(&[u8], bool); 9] = [
        (b"abc", true),
        ("ê".as_bytes(), true),
        ("é".as_bytes(), false),
        ("€0".as_bytes(), true),
        (b"\xE2\x82", false),
        (b"\xE2\x82a", false),
        (b"\xC3\x28", false),
        (b"\xED\xA0\x80", false),
        (b"\xF4\x90\x80\x80", false),
    ];
    for (word, expected) in words {
        assert_eq!(language.accepts(word), expected, "{word:?}");
    }
}

/// In GBNF, text continues after a call.
#[test]
fn text_goes_on_after_a_call() {
    let source = "root ::= @text($, \"<call>\" [0-9]+ \"</call>\" root, !\"<end>\")\n";
    let grammar = gbnf::compile(source, &gbnf::Options::default()).unwrap().grammar;
    let language = Language::new(&grammar);
    let accepted =
        ["", "a", "a<call>1</call>", "<call>12</call>b<call>3</call><cal", "<<call>1</call>", "</call>"];
    let rejected = ["<call>", "<call>x</call>", "<call>1</call><call>", "a<end>", "<call>1</call><end>"];
    accepted.iter().for_each(|word| assert!(language.accepts(word.as_bytes()), "{word}"));
    rejected.iter().for_each(|word| assert!(!language.accepts(word.as_bytes()), "{word}"));
}

/// A part with unbounded nesting reserves the bytes that close it: each position offers only what fits within the
/// bound.
#[test]
fn a_part_of_bounded_length_closes_what_it_opens() {
    for most in [1, 2, 7, 40, 201] {
        let source = format!(
            "root ::= \"<\" @max_bytes({most}, list) \">\"\nlist ::= \"[\" (list (\",\" list)*)? \"]\" | \"é\" | \"x\"\n"
        );
        let grammar = gbnf::compile(&source, &gbnf::Options::default()).unwrap().grammar;
        let tokens: Vec<&[u8]> = vec![b"<", b"[", b"]", b",", b"x", "é".as_bytes(), b">", b"]]", b",x", b""];
        let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(9)]).build().unwrap();
        let mut matcher = Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap().matcher();
        matcher.accept_bytes(b"<").unwrap();
        let offered =
            |matcher: &mut Matcher| matcher.mask().unwrap().iter().map(TokenId::get).collect::<Vec<u32>>();
        // the tokens that may begin an item inside `depth` lists, if `left` bytes are left: one byte must close each
        // list
        let items = |depth: usize, left: usize| {
            let rooms = [(1, 2), (4, 1), (5, 2)];
            rooms
                .iter()
                .filter(|(_, bytes)| bytes + depth <= left)
                .map(|(token, _)| *token)
                .collect::<Vec<u32>>()
        };
        let mut depth = 0;
        while most >= 2 * depth + 2 {
            let mut expected = items(depth, most - depth);
            if depth > 0 {
                expected.push(2);
                expected.extend((depth > 1).then_some(7));
            }
            expected.sort_unstable();
            assert_eq!(offered(&mut matcher), expected, "{depth} of {most}");
            matcher.accept_bytes(b"[").unwrap();
            depth += 1;
        }
        for depth in (1..=depth).rev() {
            assert!(offered(&mut matcher).contains(&2), "{depth} of {most}");
            matcher.accept_bytes(b"]").unwrap();
        }
        if depth > 0 {
            assert_eq!(offered(&mut matcher), [6]);
        }
    }
}

#[test]
fn symbols_of_specs_are_free_text() {
    let spec = r#"
kind = "nfa"
symbols = { talk = { free_text = { until = ["<call>", "<ask>"], without = ["<end>"] } }, number = "1", rest = { free_text = { max_chars = 3, max_bytes = 4 } } }
start = "talking"
accepting = ["end"]
transitions = [
    { from = "talking", input = "talk", to = "called" },
    { from = "called", input = "number", to = "talking" },
    { from = "called", input = "rest", to = "end" },
]
"#;
    let grammar = automaton_spec::compile(spec, &automaton_spec::Options::default()).unwrap().grammar;
    let language = Language::new(&grammar);
    let accepted = ["<call>", "a<ask>", "<call>1<ask>abc", "é<call>éé", "<call>a€", "<call>1<call>1"];
    let rejected = ["", "<end><call>", "<call>abcd", "<call>ééé", "<call>1<end><call>", "a<call"];
    accepted.iter().for_each(|word| assert!(language.accepts(word.as_bytes()), "{word}"));
    rejected.iter().for_each(|word| assert!(!language.accepts(word.as_bytes()), "{word}"));
}

#[test]
fn ten_thousand_triggers() {
    let triggers = (0..10_000).map(|index| format!("<tool_{index:04}>")).collect();
    let strings = Strings { triggers, forbidden: vec![], end: Some("") };
    let language = Language::new(&strings.grammar(&Limits::default()).unwrap());
    assert!(language.accepts(b"text <tool_1234>1234"));
    assert!(!language.accepts(b"text <tool_1234>1235"));
    assert!(language.accepts(b"text <tool_99999>"));
    let limits = Limits::default().grammar_nodes(5_000);
    assert_eq!(strings.grammar(&limits).unwrap_err().code(), "limit/exceeded");
}
