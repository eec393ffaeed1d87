//! Events of JSON outputs: compared with reading whole texts, with all words of small languages and with masks; after
//! rollbacks and in forks; errors and bounds.

use crate::budget_walks::Random;
use crate::random::each;
use flate2::read::MultiGzDecoder;
use grammata::matcher::EventMatcher;
use grammata::syntax::gbnf;
use grammata::syntax::json_schema::{self, Numbers, PropertyOrder, Whitespace, compile_value};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{CompiledGrammar, Compiler, ErrorKind, TokenId, Vocabulary};
use grammata_testing::generate::{Choices, random_finite_schema, random_tokenisation, random_vocabulary};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// An event as plain data: whether it is an end, the kind, the pointer and the bytes.
type Plain = (bool, &'static str, String, Range<usize>);

/// A reader of whole JSON texts by recursion, which lists the events of a valid text.
struct Oracle<'t> {
    text: &'t [u8],
    at: usize,
    events: Vec<Plain>,
}

impl Oracle<'_> {
    fn events(text: &[u8]) -> Vec<Plain> {
        let mut oracle = Oracle { text, at: 0, events: Vec::new() };
        oracle.value(String::new());
        oracle.space();
        assert_eq!(oracle.at, text.len(), "{}", String::from_utf8_lossy(text));
        oracle.events
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// The bytes of a string with its quotes.
    fn string(&mut self) -> &[u8] {
        let start = self.at;
        self.at += 1;
        while self.text[self.at] != b'"' {
            self.at += if self.text[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        &self.text[start..self.at]
    }

    fn value(&mut self, pointer: String) {
        self.space();
        let start = self.at;
        let kind = match self.text[start] {
            b'{' => "object",
            b'[' => "array",
            b'"' => "string",
            b't' | b'f' => "boolean",
            b'n' => "null",
            _ => "number",
        };
        self.events.push((false, kind, pointer.clone(), start..start));
        match kind {
            "string" => drop(self.string()),
            "object" | "array" => {
                self.at += 1;
                for index in 0.. {
                    self.space();
                    match self.text[self.at] {
                        b'}' | b']' => break,
                        b',' => self.at += 1,
                        _ => {}
                    }
                    self.space();
                    let mut step = index.to_string();
                    if kind == "object" {
                        let name: String = serde_json::from_slice(self.string()).unwrap();
                        step = name.replace('~', "~0").replace('/', "~1");
                        self.space();
                        self.at += 1;
                    }
                    self.value(format!("{pointer}/{step}"));
                }
                self.at += 1;
            }
            _ => {
                let ends = |byte: &u8| b",]} \n\r\t".contains(byte);
                let rest = &self.text[start..];
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
            }
        }
        self.events.push((true, kind, pointer, start..self.at));
    }
}

/// Whether the bytes that an event is about are among the first `read`.
fn is_read(event: &Plain, read: usize) -> bool {
    match event.0 {
        true => event.3.end <= read,
        false => event.3.start < read,
    }
}

fn plain(matcher: &EventMatcher) -> Vec<Plain> {
    let plain = |event: grammata::matcher::Event<'_>| {
        (event.is_end(), event.part().kind(), event.pointer(), event.bytes())
    };
    matcher.events().map(plain).collect()
}

/// The steps that must report the events, given the number of events after each step.
fn steps(counts: &[usize]) -> Vec<usize> {
    let events = 0..counts.last().copied().unwrap_or(0);
    events.map(|event| counts.iter().position(|&count| count > event).unwrap()).collect()
}

fn compiled(schema: &str) -> CompiledGrammar {
    let schema = json_schema::compile(schema, &json_schema::Options::default()).unwrap();
    Compiler::new(smollm()).compile(&schema.grammar).unwrap()
}

fn smollm() -> Arc<Vocabulary> {
    static SHARED: OnceLock<Arc<Vocabulary>> = OnceLock::new();
    let load = || Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &Default::default()).unwrap();
    Arc::clone(SHARED.get_or_init(|| Arc::new(load())))
}

fn shown(matcher: &EventMatcher) -> Vec<String> {
    matcher.events().map(|event| format!("{event:?}")).collect()
}

#[test]
fn events_are_those_that_all_words_have() {
    let mut compared = 0;
    each(300, 300, |choices| compared += words_agree(choices));
    assert!(compared > 3000, "{compared}");
}

/// Walks along a word of a finite language with rollbacks and forks. After each step the events must be those that all
/// words with this beginning have. Returns the number of steps compared.
fn words_agree(choices: &mut Choices<'_>) -> usize {
    let finite = random_finite_schema(choices);
    let alphabet: Vec<u8> = (0x20..0x7F).chain([0xC3, 0xA9]).collect();
    let random = random_vocabulary(choices, &alphabet, &finite.words);
    let options = json_schema::Options::default()
        .property_order(PropertyOrder::Any)
        .whitespace(Whitespace::Compact)
        .numbers(Numbers::Plain);
    let grammar = match compile_value(&finite.schema, &options) {
        Ok(schema) => schema.grammar,
        Err(_) if finite.words.is_empty() => return 0,
        Err(error) => panic!("{error}"),
    };
    let vocabulary = Arc::new(random.build().unwrap());
    let compiled = match Compiler::new(vocabulary).compile(&grammar) {
        Ok(compiled) => compiled,
        Err(_) if finite.words.is_empty() => return 0,
        Err(error) => panic!("{error}"),
    };
    let of_words: Vec<(&[u8], Vec<Plain>)> =
        finite.words.iter().map(|word| (&**word, Oracle::events(word))).collect();
    let expected = |text: &[u8], has_ended: bool| {
        let fits = |word: &[u8]| if has_ended { word == text } else { word.starts_with(text) };
        let mut words = of_words.iter().filter(|(word, _)| fits(word)).map(|(_, events)| events);
        let mut common: Vec<Plain> = words.next().unwrap().clone();
        common.retain(|event| is_read(event, text.len()));
        words.for_each(|events| common.retain(|event| events.contains(event)));
        common
    };
    let mut matcher = compiled.json_events();
    let mut counts: Vec<usize> = Vec::new();
    let mut compared = 0;
    for _ in 0..3 {
        let text = matcher.bytes();
        let ahead: Vec<&[u8]> = of_words.iter().filter_map(|(word, _)| word.strip_prefix(&*text)).collect();
        let rest = ahead[choices.below(ahead.len())];
        let tokens = random_tokenisation(choices, &random.tokens, rest).unwrap();
        for token in tokens.into_iter().chain([random.eos[0]]) {
            if choices.chance(20) {
                let mut fork = matcher.fork();
                fork.accept_token(TokenId::new(token)).unwrap();
                fork.rollback(choices.below(fork.steps() + 1)).unwrap();
            }
            matcher.accept_token(TokenId::new(token)).unwrap();
            let text = matcher.bytes();
            let is_end = random.eos.contains(&token);
            let (found, expected) = (plain(&matcher), expected(&text, is_end));
            let what = || format!("{}\nafter {}", finite.schema, String::from_utf8_lossy(&text));
            assert_eq!(found, expected, "{}", what());
            counts.push(expected.len());
            let reported: Vec<usize> = matcher.events().map(|event| event.step()).collect();
            assert_eq!(reported, steps(&counts), "{}", what());
            compared += 1;
        }
        let back = 1 + choices.below(counts.len());
        matcher.rollback(back).unwrap();
        counts.truncate(counts.len() - back);
        assert_eq!(matcher.events().len(), counts.last().copied().unwrap_or(0));
    }
    compared
}

#[test]
fn a_number_ends_with_the_first_step_that_decides_it() {
    let ends = |schema: &str, texts: &[&str]| -> Vec<String> {
        let mut matcher = compiled(schema).json_events();
        let mut reported = Vec::new();
        for text in texts {
            match *text {
                "" => matcher.accept_token(smollm().eos()[0]).unwrap(),
                text => matcher.accept_bytes(text.as_bytes()).unwrap(),
            }
            let new = matcher.new_events().filter(|event| event.part().kind() == "number");
            reported.extend(new.map(|event| format!("{event:?}")));
        }
        reported
    };
    // another digit may follow until the end
    assert_eq!(
        ends(r#"{"type": "integer"}"#, &["1", "2", ""]),
        ["begin number `` bytes 0..0 step 0", "end number `` bytes 0..2 step 2"]
    );
    // not decided before the bracket, although the token after the number is far longer
    assert_eq!(
        ends(r#"{"items": {"type": "integer"}}"#, &["[", "7", "8, ", "9]"]),
        [
            "begin number `/0` bytes 1..1 step 1",
            "end number `/0` bytes 1..3 step 2",
            "begin number `/1` bytes 5..5 step 3",
            "end number `/1` bytes 5..6 step 3",
        ]
    );
    // a point or an exponent may follow
    assert_eq!(ends(r#"{"type": "number", "maximum": 9, "minimum": 0}"#, &["9"]).len(), 1);
    // no byte may continue the number
    let grammar = gbnf::compile(r#"root ::= "1" [0-5] | "7""#, &Default::default()).unwrap();
    let compiled = Compiler::new(smollm()).compile(&grammar.grammar).unwrap();
    for texts in [&["1", "2"][..], &["7"], &["15"]] {
        let mut matcher = compiled.json_events();
        texts.iter().for_each(|text| matcher.accept_bytes(text.as_bytes()).unwrap());
        let end = matcher.events().last().unwrap();
        assert_eq!(
            (end.is_end(), end.bytes().end, end.step()),
            (true, texts.concat().len(), texts.len() - 1)
        );
    }
}

#[test]
fn pointers_have_decoded_names_with_escapes_of_pointers() {
    let mut matcher = compiled("{}").json_events();
    matcher.accept_bytes(br#"{"a/b~\u00e9\"": [null, {"": tr"#).unwrap();
    let pointers: Vec<(String, usize)> =
        matcher.events().map(|event| (event.pointer(), event.depth())).collect();
    let expected =
        [("", 0), ("/a~1b~0é\"", 1), ("/a~1b~0é\"/0", 2), ("/a~1b~0é\"/0", 2), ("/a~1b~0é\"/1", 2)];
    let mut expected: Vec<(String, usize)> = expected.map(|(p, d)| (p.to_owned(), d)).into();
    expected.push(("/a~1b~0é\"/1/".to_owned(), 3));
    assert_eq!(pointers, expected);
}

#[test]
fn rollbacks_resets_and_refusals_take_events_back() {
    let mut matcher = compiled("{}").json_events();
    matcher.accept_bytes(br#"{"a": ["#).unwrap();
    let before = shown(&matcher);
    matcher.accept_bytes(b"1, 2").unwrap();
    matcher.accept_bytes(b"]").unwrap();
    let mut fork = matcher.fork();
    assert_eq!(matcher.new_events().len(), before.len() + 5);
    matcher.rollback(2).unwrap();
    assert_eq!(shown(&matcher), before);
    assert_eq!(matcher.new_events().len(), 0);
    assert_eq!(matcher.accept_bytes(b"1 2").unwrap_err().code(), "matcher/rejected");
    assert!(!matcher.try_accept_bytes(b"}").unwrap());
    assert_eq!(matcher.rollback(2).unwrap_err().code(), "matcher/rollback-too-far");
    assert_eq!((matcher.steps(), shown(&matcher)), (1, before.clone()));
    let draft = smollm().encode_greedy(b"true, null] nothing").unwrap();
    let taken = matcher.accept_tokens(&draft).unwrap();
    assert!(taken > 0 && taken < draft.len());
    assert_eq!(matcher.bytes(), br#"{"a": [true, null]"#);
    // the events of the steps that replace the undone ones are new again
    let new: Vec<String> = matcher.new_events().map(|event| event.to_string()).collect();
    assert_eq!((new.len(), &*new[0], &*new[4]), (5, "begin boolean `/a/0`", "end array `/a`"));
    // the fork has not moved
    assert_eq!(fork.events().len(), before.len() + 5);
    fork.accept_bytes(b"}").unwrap();
    assert_eq!(fork.events().last().unwrap().bytes(), 0..13);
    fork.reset();
    assert_eq!((fork.events().len(), fork.steps()), (0, 0));
    assert!(fork.new_events().next().is_none());
    fork.accept_bytes(b"[").unwrap();
    assert_eq!(shown(&fork), ["begin array `` bytes 0..0 step 0"]);
}

#[test]
fn a_text_that_is_not_json_is_an_error_with_its_place() {
    let grammar = gbnf::compile(r#"root ::= "[1," (" 2" | "x")"#, &Default::default()).unwrap();
    let mut matcher = Compiler::new(smollm()).compile(&grammar.grammar).unwrap().json_events();
    matcher.accept_bytes(b"[1,").unwrap();
    let error = matcher.accept_bytes(b"x").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Grammar);
    assert_eq!(
        error.to_string(),
        "error[events/not-json] the text is not JSON, so its values cannot be reported\n  at: byte 3\n  \
         found: `x`\n  allowed: a JSON value\n  help: ask for events of JSON only with grammars whose words are JSON \
         texts, such as JSON Schemas"
    );
    // the matcher has not moved
    assert_eq!((matcher.steps(), matcher.events().len()), (1, 3));
    matcher.accept_bytes(b" 2").unwrap();
}

#[test]
fn a_matcher_moved_without_its_events_is_an_error() {
    let mut matcher = compiled("{}").json_events();
    matcher.accept_bytes(b"[").unwrap();
    matcher.matcher().accept_bytes(b"1").unwrap();
    for error in [matcher.accept_bytes(b"]").unwrap_err(), matcher.rollback(1).unwrap_err()] {
        assert_eq!((error.code(), error.kind()), ("events/moved", ErrorKind::Usage));
    }
    matcher.matcher().rollback(1).unwrap();
    matcher.accept_bytes(b"]").unwrap();
    assert_eq!(matcher.events().len(), 2);
}

#[test]
fn deep_and_long_texts_are_read_without_recursion() {
    const DEPTH: usize = 100_000;
    let tokens = ["[", "]", "[[[[[[[[", "]]]]]]]]", "1", ""];
    let vocabulary = VocabularyBuilder::from_tokens(tokens).eos([TokenId::new(5)]).build().unwrap();
    let grammar = gbnf::compile(r#"root ::= "[" root "]" | "1""#, &Default::default()).unwrap();
    let mut matcher = Compiler::new(Arc::new(vocabulary)).compile(&grammar.grammar).unwrap().json_events();
    for (token, count) in [(2, DEPTH / 8), (4, 1), (3, DEPTH / 8)] {
        (0..count).for_each(|_| matcher.accept_token(TokenId::new(token)).unwrap());
    }
    assert_eq!(matcher.events().len(), 2 * (DEPTH + 1));
    let deepest = matcher.events().nth(DEPTH).unwrap();
    assert_eq!((deepest.depth(), deepest.pointer().len()), (DEPTH, 2 * DEPTH));
    assert_eq!(matcher.events().last().unwrap().bytes(), 0..2 * DEPTH + 1);
    matcher.rollback(2 * DEPTH / 8).unwrap();
    assert_eq!(matcher.events().len(), 8);
}

/// Follows a document token by token. After each the events must be those of the whole document whose bytes are read,
/// and a number at the end has ended exactly if no allowed token begins with a byte that continues it. Then goes back
/// and forth at random, and in forks. Returns the number of tokens, or `None` if the grammar refuses the document.
fn follows(compiled: &CompiledGrammar, document: &[u8], random: &mut Random) -> Option<usize> {
    let vocabulary = compiled.vocabulary();
    let mut tokens = vocabulary.encode_greedy(document)?;
    tokens.push(vocabulary.eos()[0]);
    let whole = Oracle::events(document);
    let mut matcher = compiled.json_events();
    let mut counts = Vec::new();
    for &token in &tokens {
        if !matcher.try_accept(token).unwrap() {
            return None;
        }
        let read = matcher.byte_count();
        let has_ended = token == vocabulary.eos()[0];
        let is_in_number = !has_ended && document[read - 1].is_ascii_digit();
        let may_grow = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E');
        let grows = is_in_number && {
            let mask = matcher.matcher().mask().unwrap();
            mask.iter().any(|token| vocabulary.bytes(token).and_then(<[u8]>::first).is_some_and(may_grow))
        };
        let is_due = |event: &&Plain| {
            is_read(event, read) && !(grows && event.1 == "number" && event.3.end == read && event.0)
        };
        let expected: Vec<&Plain> = whole.iter().filter(is_due).collect();
        assert!(plain(&matcher).iter().eq(expected.iter().copied()), "{}", String::from_utf8_lossy(document));
        counts.push(expected.len());
    }
    let all = shown(&matcher);
    assert_eq!(matcher.events().map(|event| event.step()).collect::<Vec<_>>(), steps(&counts));
    for _ in 0..4 {
        let back = random.below(matcher.steps() + 1);
        let mut fork = matcher.fork();
        for moved in [&mut matcher, &mut fork] {
            moved.rollback(back).unwrap();
            let left = moved.steps();
            assert_eq!(moved.events().len(), if left == 0 { 0 } else { counts[left - 1] });
            assert_eq!(moved.accept_tokens(&tokens[left..]).unwrap(), back);
            assert_eq!(shown(moved), all);
        }
    }
    Some(tokens.len())
}

#[test]
fn events_of_documents_are_those_of_reading_them_whole() {
    let mut random = Random(65);
    let mut followed = 0;
    for line in std::fs::read_to_string("tests/data/maskbench-sample.jsonl").unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let Ok(schema) = compile_value(&line["schema"], &Default::default()) else { continue };
        let compiled = Compiler::new(smollm()).compile(&schema.grammar).unwrap();
        for test in line["tests"].as_array().unwrap().iter().filter(|test| test["valid"] == true) {
            let document = test["data"].to_string();
            followed += usize::from(follows(&compiled, document.as_bytes(), &mut random).is_some());
        }
    }
    assert!(followed > 10, "{followed}");
}

/// Follows a document of each of 1,000 schemas of a file of MaskBench, evenly spaced. `GRAMMATA_SCHEMAS` names the file
/// (one JSON object per line, compressed with gzip).
#[test]
fn events_of_documents_of_a_file_are_those_of_reading_them_whole() {
    // the test takes long, and the file is not part of the repository
    let Some(path) = std::env::var_os("GRAMMATA_SCHEMAS") else {
        eprintln!("not run: GRAMMATA_SCHEMAS names no file");
        return;
    };
    let file = MultiGzDecoder::new(std::fs::File::open(path).unwrap());
    let lines: Vec<String> = BufReader::new(file).lines().map(|line| line.unwrap()).collect();
    let (count, mut documents, mut tokens, mut place) = (1000, 0, 0, 0);
    let mut random = Random(65);
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    while documents < count && place < lines.len() {
        let line: Value = serde_json::from_str(&lines[place]).unwrap();
        // if this schema cannot be used, the next line is tried
        place = place.max(documents * lines.len() / count) + 1;
        let Ok(schema) = json_schema::compile(line["schema"].as_str().unwrap(), &Default::default()) else {
            continue;
        };
        let Ok(compiled) = Compiler::new(smollm()).compile(&schema.grammar) else { continue };
        let valid = line["tests"].as_array().unwrap().iter().find(|test| test["valid"] == true);
        let Some(text) = valid.and_then(|test| test["text"].as_str()) else { continue };
        if let Some(followed) = follows(&compiled, text.as_bytes(), &mut random) {
            documents += 1;
            tokens += followed;
            kinds.extend(Oracle::events(text.as_bytes()).iter().map(|event| event.1));
        }
    }
    eprintln!("{documents} documents, {tokens} tokens, {kinds:?}");
    assert_eq!((documents, kinds.len()), (count, 6));
}
