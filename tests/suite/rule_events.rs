//! Events of rules: compared with all readings of all words of small languages; errors and bounds.

use crate::random::each;
use grammata::matcher::{EventMatcher, Part};
use grammata::syntax::gbnf;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, Limits, TokenId};
use grammata_testing::generate::Choices;
use std::cmp::Reverse;
use std::fmt::Write;
use std::sync::Arc;

/// A marker: the number of bytes before it, whether it ends a capture, and the capture.
type Marker = (usize, bool, usize);

/// A word, and the markers of one of its readings.
type Reading = (String, Vec<Marker>);

/// A part of a grammar with a finite language.
enum Node {
    Text(&'static str),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    /// A rule whose texts are reported.
    Rule(usize, Box<Node>),
}

impl Node {
    /// Draws a part without the empty word. Rules are numbered in the order in which the source lists them.
    fn any(choices: &mut Choices<'_>, depth: usize, rules: &mut usize) -> Node {
        match choices.below(if depth == 0 { 2 } else { 7 }) {
            0 | 1 => Node::Text(["a", "b", "ab", "ba", "aa", "c"][choices.below(6)]),
            2 | 3 => Node::Sequence((0..2).map(|_| Node::any(choices, depth - 1, rules)).collect()),
            4 => Node::Choice((0..2).map(|_| Node::any(choices, depth - 1, rules)).collect()),
            _ => {
                *rules += 1;
                Node::Rule(*rules - 1, Box::new(Node::any(choices, depth - 1, rules)))
            }
        }
    }

    /// The source of the part. The sources of its rules are written to `list`.
    fn source(&self, list: &mut Vec<(usize, String)>) -> String {
        let mut joined = |nodes: &[Node], separator: &str| {
            let sources: Vec<String> = nodes.iter().map(|node| node.source(list)).collect();
            format!("({})", sources.join(separator))
        };
        match self {
            Node::Text(text) => format!("{text:?}"),
            Node::Sequence(nodes) => joined(nodes, " "),
            Node::Choice(nodes) => joined(nodes, " | "),
            Node::Rule(rule, body) => {
                let body = body.source(list);
                list.push((*rule, body));
                format!("r{rule}")
            }
        }
    }

    /// All readings of the part, which begins after `at` bytes.
    fn readings(&self, at: usize) -> Vec<Reading> {
        match self {
            Node::Text(text) => vec![((*text).to_owned(), Vec::new())],
            Node::Choice(nodes) => nodes.iter().flat_map(|node| node.readings(at)).collect(),
            Node::Sequence(nodes) => nodes.iter().fold(vec![(String::new(), Vec::new())], |all, node| {
                let longer = |(text, markers): Reading| {
                    node.readings(at + text.len())
                        .into_iter()
                        .map(move |(more, others)| (text.clone() + &more, [&markers[..], &others].concat()))
                };
                all.into_iter().flat_map(longer).collect()
            }),
            Node::Rule(rule, body) => {
                let marked = |(text, markers): Reading| {
                    let end = at + text.len();
                    (text, [&[(at, false, *rule)], &markers[..], &[(end, true, *rule)]].concat())
                };
                body.readings(at).into_iter().map(marked).collect()
            }
        }
    }
}

/// The key by which readings of one word are compared: the smallest is the one that counts.
fn key(markers: &[Marker]) -> Vec<(u8, usize, Reverse<usize>, usize)> {
    let one = |&(at, is_end, rule): &Marker| match is_end {
        false => (0, at, Reverse(0), rule),
        true => (2, 0, Reverse(at), rule),
    };
    markers.iter().map(one).chain([(1, 0, Reverse(0), 0)]).collect()
}

fn found(matcher: &EventMatcher) -> Vec<Marker> {
    let marker = |event: grammata::matcher::Event<'_>| {
        let Part::Rule(name) = event.part() else { panic!("{event:?}") };
        (event.bytes().end, event.is_end(), name[1..].parse().unwrap())
    };
    matcher.events().map(marker).collect()
}

fn letters() -> VocabularyBuilder {
    VocabularyBuilder::from_tokens(["a", "b", "c", "ab", "ba", "abc", "aab", ""]).eos([TokenId::new(7)])
}

#[test]
fn rules_begin_and_end_where_all_readings_agree() {
    let (mut exact, mut ambiguous) = (0, 0);
    each(600, 60, |choices| {
        let (mut rules, mut list) = (0, Vec::new());
        let tree = Node::any(choices, 4, &mut rules);
        if rules == 0 {
            return;
        }
        let mut readings = tree.readings(0);
        if readings.len() > 300 {
            return;
        }
        let mut source = format!("root ::= {}\n", tree.source(&mut list));
        list.sort_unstable();
        list.iter().for_each(|(rule, body)| writeln!(source, "r{rule} ::= {body}").unwrap());
        readings.sort_by(|(one, a), (other, b)| (one, key(a)).cmp(&(other, key(b))));
        let all = readings.len();
        readings.dedup_by(|next, first| next.0 == first.0);
        let is_ambiguous = readings.len() < all;
        let grammar = gbnf::compile(&source, &Default::default()).unwrap().grammar;
        let compiled = Compiler::new(Arc::new(letters().build().unwrap())).compile(&grammar).unwrap();
        let names: Vec<String> = (0..rules).map(|rule| format!("r{rule}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let events = compiled.rule_events(&names).unwrap();
        let mut matcher = events.matcher().unwrap();
        let mut history: Vec<Vec<Marker>> = Vec::new();
        while !matcher.is_finished() {
            let allowed: Vec<TokenId> = matcher.matcher().mask().unwrap().iter().collect();
            let token = *choices.pick(&allowed);
            matcher.accept_token(token).unwrap();
            let text = String::from_utf8(matcher.bytes()).unwrap();
            let has_ended = token.get() == 7;
            let fits = |word: &str| if has_ended { word == text } else { word.starts_with(&text) };
            let mut words = readings.iter().filter(|(word, _)| fits(word)).map(|(_, markers)| markers);
            let mut certain = words.next().unwrap().clone();
            for markers in words {
                let common = certain.iter().zip(markers).take_while(|(one, other)| one == other).count();
                certain.truncate(common);
            }
            certain.truncate(certain.iter().take_while(|marker| marker.0 <= text.len()).count());
            let found = found(&matcher);
            let what = || format!("{source}\nafter {text}\n{readings:?}");
            match is_ambiguous && !has_ended {
                // whether one reading has all continuations of another is not decided
                true => assert!(certain.starts_with(&found), "{found:?}\n{certain:?}\n{}", what()),
                false => assert_eq!(found, certain, "{}", what()),
            }
            (if is_ambiguous { ambiguous += 1 } else { exact += 1 });
            history.push(found);
            if choices.chance(15) {
                let mut fork = matcher.fork();
                let back = choices.below(history.len() + 1);
                fork.rollback(back).unwrap();
                let left = history.len() - back;
                assert!(left == 0 || self::found(&fork) == history[left - 1], "{}", what());
                history.truncate(left);
                matcher = fork;
            }
        }
    });
    assert!(exact > 300 && ambiguous > 100, "{exact}, {ambiguous}");
}

fn events(source: &str, rules: &[&str], texts: &[&str]) -> Vec<String> {
    let grammar = gbnf::compile(source, &Default::default()).unwrap().grammar;
    let bytes = (0..=255u8).map(|byte| vec![byte]).chain([Vec::new()]);
    let vocabulary = VocabularyBuilder::from_tokens(bytes).eos([TokenId::new(256)]).build().unwrap();
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap();
    let mut matcher = compiled.rule_events(rules).unwrap().matcher().unwrap();
    for text in texts {
        match *text {
            "" => matcher.accept_token(TokenId::new(256)).unwrap(),
            text => matcher.accept_bytes(text.as_bytes()).unwrap(),
        }
    }
    matcher.events().map(|event| format!("{event:?} depth {}", event.depth())).collect()
}

#[test]
fn rules_are_nested_and_end_when_nothing_can_continue_them() {
    let source =
        "root ::= call (\";\" call)*\ncall ::= name \"(\" (call (\",\" call)*)? \")\"\nname ::= [a-z]+";
    assert_eq!(
        events(source, &["name", "call"], &["f", "o(", "g()", ")"]),
        [
            "begin rule `call` bytes 0..0 step 0 depth 0",
            "begin rule `name` bytes 0..0 step 0 depth 1",
            "end rule `name` bytes 0..2 step 1 depth 1",
            "begin rule `call` bytes 3..3 step 2 depth 1",
            "begin rule `name` bytes 3..3 step 2 depth 2",
            "end rule `name` bytes 3..4 step 2 depth 2",
            "end rule `call` bytes 3..6 step 2 depth 1",
            "end rule `call` bytes 0..7 step 3 depth 0",
        ]
    );
    // the end of the text decides
    assert_eq!(
        events("root ::= word\nword ::= [a-z]+", &["word"], &["ab", "c", ""])[1],
        "end rule `word` bytes 0..3 step 2 depth 0"
    );
}

#[test]
fn of_an_ambiguous_text_the_longest_leftmost_reading_counts() {
    let source = "root ::= x? [a-z]*\nx ::= [a-z]+";
    assert_eq!(
        events(source, &["x"], &["abc", ""]),
        ["begin rule `x` bytes 0..0 step 0 depth 0", "end rule `x` bytes 0..3 step 1 depth 0"]
    );
}

#[test]
fn rules_that_cannot_be_followed_are_errors() {
    let compiled = |source: &str| {
        let grammar = gbnf::compile(source, &Default::default()).unwrap().grammar;
        Compiler::new(Arc::new(letters().special(TokenId::new(7), "<end>").build().unwrap()))
            .limits(Limits::default())
            .compile(&grammar)
            .unwrap()
    };
    let error = compiled("root ::= \"a\"").rule_events(&["other"]).unwrap_err();
    assert_eq!(error.code(), "events/unknown-rule");
    let error = compiled("root ::= <end> \"a\"").rule_events(&["root"]).unwrap_err();
    assert_eq!(error.code(), "events/token-terminals");
    let left = compiled("root ::= sum\nsum ::= sum \"b\" | \"a\"");
    let error = left.rule_events(&["sum"]).and_then(|events| events.matcher()).unwrap_err();
    assert_eq!(error.code(), "events/too-many-readings");
}

#[test]
fn deep_rules_are_followed_without_recursion() {
    const DEPTH: usize = 20_000;
    let source = "root ::= list\nlist ::= \"a\" list \"b\" | \"c\"";
    let grammar = gbnf::compile(source, &Default::default()).unwrap().grammar;
    let compiled = Compiler::new(Arc::new(letters().build().unwrap())).compile(&grammar).unwrap();
    let mut matcher = compiled.rule_events(&["list"]).unwrap().matcher().unwrap();
    for (token, count) in [(0, DEPTH), (2, 1), (1, DEPTH)] {
        (0..count).for_each(|_| matcher.accept_token(TokenId::new(token)).unwrap());
    }
    assert_eq!(matcher.events().len(), 2 * DEPTH + 2);
    assert_eq!(matcher.events().last().unwrap().bytes(), 0..2 * DEPTH + 1);
}
