//! Grammars and texts that are built to take much time or memory: deep, large, ambiguous, left-recursive, empty.

use crate::language::{Language, bytes_of, matches};
use grammata::automaton::words::{Count, count, enumerate};
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::grammar::{Grammar, GrammarBuilder};
use grammata::syntax::{gbnf, regex};
use grammata::{ErrorKind, Limits};

fn grammar(source: &str) -> Grammar {
    gbnf::compile(source, &gbnf::Options::default()).unwrap_or_else(|e| panic!("{e}\n{source}")).grammar
}

fn pattern(source: &str) -> Grammar {
    regex::compile(source, &regex::Options::default()).unwrap_or_else(|e| panic!("{e}\n{source}"))
}

fn words(grammar: &Grammar, limit: usize) -> Vec<String> {
    let automaton = Automaton::new(grammar, &Limits::default()).unwrap();
    let words = enumerate(&automaton).unwrap().take(limit);
    words.map(|word| String::from_utf8(bytes_of(&word.unwrap())).unwrap()).collect()
}

#[test]
fn texts_nest_a_hundred_thousand_deep() {
    let expressions = grammar(r#"root ::= "(" root ")" | "x" | root "+" root"#);
    let depth = 100_000;
    let text = format!("{}x{}", "(".repeat(depth), ")".repeat(depth));
    let language = Language::new(&expressions);
    assert!(language.accepts(text.as_bytes()));
    assert!(!language.accepts(&text.as_bytes()[..2 * depth]));
    assert!(!language.accepts(format!("{text})").as_bytes()));
}

#[test]
fn grammars_nest_a_hundred_thousand_deep() {
    let depth = 100_000;
    let source = format!("root ::= {}\"x\"{}", "(".repeat(depth), ")?".repeat(depth));
    let language = Language::new(&grammar(&source));
    assert!(language.accepts(b"x") && language.accepts(b"") && !language.accepts(b"xx"));
}

#[test]
fn ambiguity_does_not_multiply_stacks() {
    // a text with 2^2000 stacks, all in one configuration
    let choices = grammar(
        r#"
        root ::= "a" a | "a" b | "a"
        a ::= root "x"
        b ::= root "y"
        "#,
    );
    let language = Language::new(&choices);
    let ends: String = (0..1999).map(|i| if i % 3 == 0 { 'x' } else { 'y' }).collect();
    assert!(language.accepts(format!("{}{ends}", "a".repeat(2000)).as_bytes()));
    assert!(!language.accepts(format!("{}{ends}x", "a".repeat(2000)).as_bytes()));

    // 2^60 derivations lead to the leaf
    let mut source = String::from("root ::= a0\n");
    for i in 0..60 {
        source += &format!("a{i} ::= a{} \"x\" | a{} \"y\"\n", i + 1, i + 1);
    }
    source += "a60 ::= \"z\"\n";
    let language = Language::new(&grammar(&source));
    assert!(language.accepts(format!("z{}", "xy".repeat(30)).as_bytes()));
    assert!(!language.accepts(format!("z{}", "xy".repeat(29)).as_bytes()));
}

#[test]
fn palindromes() {
    let language = Language::new(&grammar(r#"root ::= "a" root "a" | "b" root "b" | "a" | "b" | """#));
    let half: String = (0..500).map(|i| if i % 11 == 1 || i % 7 < 2 { 'a' } else { 'b' }).collect();
    let other: String = half.chars().rev().collect();
    assert!(language.accepts(format!("{half}{other}").as_bytes()));
    assert!(!language.accepts(format!("{half}{half}").as_bytes()));
}

#[test]
fn left_recursion_of_all_kinds() {
    let cases = [
        (r#"root ::= root "a" | "b""#, vec!["b", "ba", "baa"]),
        (
            r#"root ::= x root "a" | "b"
            x ::= "c"? "#,
            vec!["b", "ba", "baa", "cba", "baaa", "cbaa"],
        ),
        (
            r#"root ::= a
            a ::= b "x" | "1"
            b ::= a "y" | "2" "#,
            vec!["1", "2x", "1yx", "2xyx"],
        ),
        (r#"root ::= root root | "a""#, vec!["a", "aa", "aaa"]),
        (r#"root ::= root | "a" | root root root"#, vec!["a", "aaa", "aaaaa"]),
        (r#"root ::= (root "a"){2,3} | "b""#, vec!["b", "baba", "bababa"]),
        (r#"root ::= (root | "b")* "c" "#, vec!["c", "bc", "cc", "bbc", "bcc", "cbc", "ccc"]),
        (r#"root ::= (root? "a")? "#, vec!["", "a", "aa"]),
    ];
    for (source, expected) in cases {
        let grammar = grammar(source);
        let automaton = Automaton::new(&grammar, &Limits::default()).unwrap();
        assert_eq!(count(&automaton).unwrap(), Count::Infinite, "{source}");
        assert_eq!(words(&grammar, expected.len()), expected, "{source}");
    }
}

#[test]
fn nullable_loops() {
    for source in ["(a*)*", "(a?){3,5}", "((a|)*)*", "((a?){2,}){0,3}", "(a*){100000}", "((a*)+)?"] {
        let grammar = pattern(source);
        let language = Language::new(&grammar);
        assert!(language.accepts(b"") && language.accepts(b"aaa") && !language.accepts(b"b"), "{source}");
    }
    assert_eq!(words(&pattern("(a?){3,5}"), 9), ["", "a", "aa", "aaa", "aaaa", "aaaaa"]);
}

#[test]
fn counters_count_exactly() {
    let language = Language::new(&pattern("(a{1000}){1000}"));
    assert!(language.accepts("a".repeat(1_000_000).as_bytes()));
    assert!(!language.accepts("a".repeat(999_999).as_bytes()));
    assert!(!language.accepts("a".repeat(1_000_001).as_bytes()));
    let language = Language::new(&pattern("(ab|b){30,2000000000}c"));
    assert!(!language.accepts(format!("{}c", "b".repeat(29)).as_bytes()));
    assert!(language.accepts(format!("{}c", "ab".repeat(300)).as_bytes()));
    // counts that overlap: any number of rounds from 20 to 40 reads forty letters
    let language = Language::new(&pattern("(a|aa){20,40}"));
    assert!(language.accepts("a".repeat(40).as_bytes()) && language.accepts("a".repeat(80).as_bytes()));
    assert!(!language.accepts("a".repeat(19).as_bytes()) && !language.accepts("a".repeat(81).as_bytes()));
}

#[test]
fn empty_languages_are_refused() {
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let again = g.rule(root);
    let a = g.text("a");
    let body = g.sequence([a, again]);
    g.define(root, body);
    let error = Automaton::new(&g.build(root).unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "automaton/empty-language");

    // both operands have words, but none in common
    let mut g = GrammarBuilder::new();
    let (a, b, c) = (g.text("a"), g.text("b"), g.text("c"));
    let many = g.star(a);
    let (left, right) = (g.sequence([many, b]), g.sequence([many, c]));
    let both = g.intersection([left, right]);
    let root = g.declare("root");
    g.define(root, both);
    let error = Automaton::new(&g.build(root).unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "automaton/empty-language");
}

#[test]
fn an_intersection_may_not_contain_itself() {
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let again = g.rule(root);
    let a = g.text("a");
    let longer = g.sequence([a, again]);
    let inner = g.choice([longer, a]);
    let not = g.complement(inner);
    g.define(root, not);
    let error = Automaton::new(&g.build(root).unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "automaton/cyclic-lockstep");
}

#[test]
fn limits_are_errors() {
    let literal = format!("root ::= \"{}\"", "x".repeat(5000));
    let limits = Limits::default().automaton_states(4000);
    let error = Automaton::new(&grammar(&literal), &limits).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Limit, "limit/exceeded"));

    let limits = Limits::default().cache_bytes(100_000);
    let nested = grammar(r#"root ::= "(" root ")" | "x""#);
    let automaton = Automaton::new(&nested, &limits).unwrap();
    let mut tables = Cache::new();
    let mut at = Lazy::new(&automaton, &mut tables).start().unwrap();
    let error = loop {
        match Lazy::new(&automaton, &mut tables).step(at, b'(') {
            Ok(next) => at = next,
            Err(error) => break error,
        }
        assert_ne!(at, ConfigurationId::DEAD);
    };
    assert_eq!(error.kind(), ErrorKind::Limit);
}

#[test]
fn unicode_classes_are_whole() {
    let any = pattern(r"\w");
    for c in ['a', 'é', 'ß', '字', '𐍈', '٣'] {
        assert!(matches(&any, c.to_string().as_bytes()), "{c}");
    }
    for c in ['-', '€', '🙂', ' '] {
        assert!(!matches(&any, c.to_string().as_bytes()), "{c}");
    }
    assert!(!matches(&any, b"\xC3") && !matches(&any, b"\xED\xA0\x80"));
}
