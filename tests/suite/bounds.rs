//! Work and memory for hostile input other than JSON Schema: grammars, patterns, specs, tokenizers and lists of words
//! that are designed to be slow or large. Each is processed, or refused by a limit, in far less time than quadratic in
//! its size.

use crate::language::bytes_of;
use crate::language::{Language, matches};
use grammata::automaton::Automaton;
use grammata::automaton::words::{Count, count, enumerate};
use grammata::diagnostic::Place;
use grammata::grammar::Grammar;
use grammata::syntax::{automaton_spec, gbnf, json_schema, regex};
use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary, VocabularyBuilder};
use grammata::{Compiler, Error, ErrorKind, Limits};
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Far more than any of these tests takes unoptimised on a busy machine; far less than quadratic algorithms would take.
const PATIENCE: Duration = Duration::from_secs(60);

fn in_time<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    assert!(start.elapsed() < PATIENCE, "{what} took {:?}", start.elapsed());
    result
}

fn grammar(source: &str) -> Grammar {
    gbnf::compile(source, &gbnf::Options::default()).unwrap_or_else(|e| panic!("{e}")).grammar
}

fn pattern(source: &str) -> Grammar {
    regex::compile(source, &regex::Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Compiles a schema with a work budget that is used up in about a second.
fn schema(source: &str) -> Result<Grammar, Error> {
    let limits = Limits::default().compile_work(3_000_000);
    let options = json_schema::Options::default().limits(limits);
    json_schema::compile(source, &options).map(|compiled| compiled.grammar)
}

fn automaton(grammar: &Grammar) -> Result<Automaton, Error> {
    Automaton::new(grammar, &Limits::default())
}

fn assert_limit(error: &Error, name: &str) {
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert!(error.to_string().contains(name), "{error}");
}

/// Returns a grammar whose root has `count` other rules as its alternatives.
fn alternatives(count: usize) -> String {
    let mut source = String::from("root ::= r0");
    (1..count).for_each(|i| write!(source, " | r{i}").unwrap());
    (0..count).for_each(|i| write!(source, "\nr{i} ::= \"w{i}\"").unwrap());
    source + "\n"
}

/// Returns a grammar of `count` rules that each begin with the next one, and the last one with the first. `N` in `rest`
/// becomes the number of the next rule.
fn left_recursion(count: usize, rest: &str) -> String {
    let mut source = String::from("root ::= r0\n");
    for i in 0..count - 1 {
        writeln!(source, "r{i} ::= r{} {} | r{}", i + 1, rest.replace('N', &(i + 1).to_string()), i + 1)
            .unwrap();
    }
    writeln!(source, "r{} ::= r0 \"a\" | \"b\"", count - 1).unwrap();
    source
}

#[test]
fn alternatives_that_are_rules_cost_linear_time() {
    in_time("60,000 alternatives", || {
        let language = Language::new(&grammar(&alternatives(60_000)));
        assert!(language.accepts(b"w59999") && !language.accepts(b"w60000"));
    });
}

#[test]
fn callers_of_one_rule_cost_linear_memory() {
    // each alternative has its own stack below the same call
    let mut source = String::from("root ::= x \"0\"");
    (1..30_000).for_each(|i| write!(source, " | x \"{i}\"").unwrap());
    in_time("30,000 callers", || {
        let language = Language::new(&grammar(&(source + "\nx ::= \"ab\" | \"a\" x\n")));
        assert!(language.accepts(b"aab29999") && !language.accepts(b"ab30000"));
    });
}

#[test]
fn left_recursion_costs_what_is_entered() {
    let long = grammar(&left_recursion(24_000, "\"a\""));
    in_time("24,000 rules", || {
        let language = Language::new(&long);
        assert!(language.accepts(b"b") && language.accepts(b"baaa") && !language.accepts(b"bab"));
    });
    let short = left_recursion(7, "\"a\" rN");
    let language = Language::new(&grammar(&short));
    assert!(language.accepts(b"b") && language.accepts(b"bab") && language.accepts(b"baab"));
    assert!(!language.accepts(b"bb") && !language.accepts(b"ab"));
}

#[test]
fn left_recursion_is_refused_before_it_is_built() {
    let grammar = grammar(&left_recursion(20_000, "\"a\" rN"));
    let error = in_time("20,000 goals", || automaton(&grammar).unwrap_err());
    assert_limit(&error, "automaton_states");
    assert!(matches!(error.diagnostic().place(), Place::Rule(_)), "{error}");
    assert!(error.diagnostic().found_text().is_some_and(|found| found.contains("20000 rules")), "{error}");
}

#[test]
fn words_that_are_far_away_are_refused() {
    let limits = Limits::default().words_work(300_000);
    let nested = Automaton::new(&pattern("((a{1000}){1000}){1000}"), &limits).unwrap();
    in_time("a word of 10^9 bytes", || {
        assert_limit(&enumerate(&nested).unwrap().next().unwrap().unwrap_err(), "words_work");
        assert_eq!(count(&nested).unwrap_err().code(), "automaton/words-undecided");
    });
    let late = automaton(&pattern("a{10000}b*")).unwrap();
    in_time("words of 10,000 bytes", || {
        let words: Vec<Vec<u8>> =
            enumerate(&late).unwrap().take(3).map(|word| bytes_of(&word.unwrap())).collect();
        assert_eq!(words.iter().map(Vec::len).collect::<Vec<_>>(), [10_000, 10_001, 10_002]);
    });
    assert_eq!(
        count(&automaton(&pattern("[ab]{64}")).unwrap()).unwrap(),
        Count::Finite((1u128 << 64).into())
    );
}

#[test]
fn words_keep_to_their_limits() {
    let language = pattern("[a-z]{1,5000}");
    let error = |limits: Limits| count(&Automaton::new(&language, &limits).unwrap()).unwrap_err();
    for limits in [Limits::default().words_work(1_000), Limits::default().cache_bytes(60_000)] {
        let name = if limits.words_work == 1_000 { "words_work" } else { "cache_bytes" };
        let error = error(limits);
        assert_eq!(error.code(), "automaton/words-undecided");
        assert!(error.diagnostic().found_text().is_some_and(|found| found.contains(name)), "{error}");
    }
    // the budget is for each word, not for the enumeration
    let limits = Limits::default().words_work(10_000);
    let automaton = Automaton::new(&pattern("[a-z]+"), &limits).unwrap();
    assert_eq!(enumerate(&automaton).unwrap().take(5_000).filter_map(Result::ok).count(), 5_000);
}

/// Returns a builder with `count` pseudo-random tokens of `length` bytes, which share few prefixes.
fn tokens(count: usize, length: usize) -> VocabularyBuilder {
    let mut seed = 1u64;
    VocabularyBuilder::from_tokens((0..count).map(|_| {
        (0..length)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (seed >> 56) as u8
            })
            .collect::<Vec<u8>>()
    }))
}

#[test]
fn tries_are_bounded_before_they_are_made() {
    assert!(tokens(1_000, 100).build().is_ok());
    let error = in_time("7 million nodes", || tokens(70_000, 100).build().unwrap_err());
    assert_limit(&error, "trie_bytes");
    let with = |trie_bytes: usize| {
        let mut builder = VocabularyBuilder::new(&Limits::default().trie_bytes(trie_bytes));
        ["a", "ab", "b"].iter().for_each(|token| builder.push(token.as_bytes()));
        builder.build()
    };
    assert_limit(&with(100).unwrap_err(), "trie_bytes");
    let vocabulary = Arc::new(with(200).unwrap());
    let grammar = regex::compile("a", &Default::default()).unwrap();
    let index = |trie_bytes: usize| {
        let limits = Limits::default().trie_bytes(trie_bytes);
        Compiler::new(Arc::clone(&vocabulary)).limits(limits).compile(&grammar)
    };
    assert_limit(&index(200).unwrap_err(), "trie_bytes");
    assert!(index(10_000).is_ok());
    let compiler = Compiler::new(vocabulary);
    assert_eq!(compiler.memory_usage(), 0);
    compiler.detached().prepare().unwrap();
    assert!(compiler.memory_usage() > 0, "what depends on the vocabulary alone is shared");
}

#[test]
fn tokenizer_files_are_bounded() {
    let options = LoadOptions::default().eos(vec![TokenId::new(0)]);
    let load = |content: &str| Vocabulary::from_file_bytes(content.as_bytes(), &options);
    let lines = |count: usize| (0..count).fold(String::new(), |all, i| all + &format!("AAAA {i}\n"));
    let many = Limits::default().vocabulary_tokens + 1;
    assert_limit(&load(&lines(many)).unwrap_err(), "vocabulary_tokens");
    let twice = "AAAA 7\n".repeat(many);
    assert_limit(&load(&twice).unwrap_err(), "vocabulary_tokens");
    let same = format!(
        r#"{{"decoder":{{"type":"ByteLevel"}},"model":{{"type":"BPE","vocab":{{{}"a":1}}}}}}"#,
        r#""a":1,"#.repeat(2 * many)
    );
    assert_limit(&load(&same).unwrap_err(), "vocabulary_tokens");
    let spaced = format!("YQ== 1\n{}Yg== 3\n", "\n".repeat(1_000_000));
    let vocabulary = load(&spaced).unwrap();
    assert_eq!(vocabulary.bytes(TokenId::new(3)), Some(&b"b"[..]));
    let wrong = load(&format!("{spaced}Yg= 4\n")).unwrap_err();
    assert_eq!(wrong.diagnostic().place(), &Place::LineColumn { line: 1_000_003, column: 1 });
}

#[test]
fn patterns_cost_bounded_time() {
    for (what, source) in [
        ("a named class", r"\p{L}".repeat(100_000)),
        ("words", r"\w".repeat(200_000)),
        ("alternatives", "|".repeat(500_000)),
        ("empty groups", "()".repeat(200_000)),
        ("repeats of nothing", "(){4000000000}".repeat(1_000)),
    ] {
        in_time(what, || Language::new(&pattern(&source)).accepts(b"a"));
    }
}

#[test]
fn patterns_with_assertions_cost_bounded_time() {
    let of = |pattern: &str| schema(&serde_json::json!({"type": "string", "pattern": pattern}).to_string());
    in_time("a chain of 15,000 states", || {
        let language = Language::new(&of("^(?!b)[ab]{15000}$").unwrap());
        let text = |first: char| format!("\"{first}{}\"", "ab".repeat(7_499) + "a");
        assert!(language.accepts(text('a').as_bytes()) && !language.accepts(text('b').as_bytes()));
    });
    let behinds: String = (0..1_000).map(|i| format!("(?<=a.{{{}}})", i % 30)).collect();
    for (what, source) in [
        ("look-behinds", format!("^[ab]{{0,500}}{behinds}[ab]*$")),
        ("repeats of nothing", "^(?=a)(){4000000000}a$".to_owned()),
        ("look-aheads", (b'a'..=b'l').map(|c| format!("(?=.*{})", char::from(c))).collect()),
    ] {
        let error = in_time(what, || of(&source).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
    let many: serde_json::Map<String, serde_json::Value> = (0..2_000)
        .map(|i| (format!("p{i}"), serde_json::json!({"pattern": format!("^(?!.*a.{{9}}b{i}).*$")})))
        .collect();
    let error = in_time("2,000 patterns", || schema(&serde_json::json!({"properties": many}).to_string()));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn assertions_that_are_too_many_have_a_place() {
    let options = regex::Options::default().dialect(regex::Dialect::Ecma262).search(true);
    let aheads: String = (b'a'..=b'l').map(|c| format!("(?=.*{})", char::from(c))).collect();
    let error = regex::compile(&format!("ab\n{aheads}"), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.diagnostic().place(), &Place::LineColumn { line: 2, column: 1 }, "{error}");
}

/// Returns a spec with one state and `symbols` symbols, each of which is an action, followed by the members `more`.
fn spec(symbols: usize, more: &str) -> String {
    let list: Vec<String> = (0..symbols).map(|i| format!("\"s{i}.\"")).collect();
    let list = list.join(",");
    format!(
        "kind = \"nfa\"\nstart = \"q\"\naccepting = [\"q\"]\nsymbols = [{list}]\n\
         transitions = [{{ from = \"q\", input = [{list}], to = \"q\" }}]\n{more}"
    )
}

#[test]
fn specs_cost_bounded_time() {
    let compile = |source: &str| automaton_spec::compile(source, &automaton_spec::Options::default());
    let each = |name: &str, count: usize| {
        (0..count).fold(format!("[limits.{name}]\n"), |all, i| all + &format!("\"s{i}.\" = 7\n"))
    };
    let error = in_time("20,000 limits", || compile(&spec(20_000, &each("at_most", 20_000))).unwrap_err());
    assert_limit(&error, "compile_work");
    assert_eq!(error.diagnostic().place(), &Place::Pointer("/limits".to_owned()));
    let both = each("at_least", 20_000) + &each("at_most", 20_000);
    in_time("bounds from both sides", || compile(&spec(20_000, &both)).unwrap_err());
    let once: Vec<String> = (0..20_000).map(|i| format!("\"s{i}.\"")).collect();
    let once = format!("[limits]\nat_most_once = [{}]\n", once.join(","));
    let compiled = in_time("20,000 symbols once", || compile(&spec(20_000, &once)).unwrap());
    assert!(matches(&compiled.grammar, b"s19999.s0.") && !matches(&compiled.grammar, b"s7.s0.s7."));
}
