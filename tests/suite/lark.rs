//! Lark grammars: their words from a table, special tokens, and texts of unbounded length.

use crate::language::Language;
use grammata::syntax::lark::{Options, compile};
use grammata::syntax::regex::Dialect;
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, TokenId};
use serde::Deserialize;
use std::sync::Arc;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    name: String,
    grammar: String,
    start: Option<String>,
    /// Whether the patterns are of ECMA-262.
    #[serde(default)]
    is_ecma: bool,
    accepts: Vec<String>,
    rejects: Vec<String>,
}

#[test]
fn grammars_have_these_words() {
    let cases: Vec<Words> = serde_json::from_str(include_str!("../data/lark/words.json")).unwrap();
    for case in cases {
        let options = case.start.map_or_else(Options::default, |start| Options::default().start(start));
        let dialect = if case.is_ecma { Dialect::Ecma262 } else { Dialect::Rust };
        let options = options.dialect(dialect);
        let compiled = compile(&case.grammar, &options);
        let grammar = compiled.unwrap_or_else(|error| panic!("{}: {error}", case.name)).grammar;
        let language = Language::new(&grammar);
        for (words, expected) in [(&case.accepts, true), (&case.rejects, false)] {
            for word in words {
                assert_eq!(language.accepts(word.as_bytes()), expected, "{}: {word:?}", case.name);
            }
        }
    }
}

#[test]
fn special_tokens_come_by_name_and_by_id() {
    let end = TokenId::new(4);
    let builder = VocabularyBuilder::from_tokens(["a", "b", "c"]).special(TokenId::new(3), "<|end|>");
    let vocabulary = Arc::new(builder.special(end, "<eos>").eos([end]).build().unwrap());
    let grammar = compile("start: \"a\" <|end|> <[0,2-2]>", &Options::default()).unwrap().grammar;
    let compiled = Compiler::new(vocabulary).compile(&grammar).unwrap();
    let mut matcher = compiled.matcher();
    let allowed = |matcher: &mut grammata::Matcher| {
        let mask = matcher.mask().unwrap();
        (0..5).filter(|&id| mask.contains(TokenId::new(id))).collect::<Vec<u32>>()
    };
    for (expected, next) in [(vec![0], 0), (vec![3], 3), (vec![0, 2], 2)] {
        assert_eq!(allowed(&mut matcher), expected);
        assert!(matcher.try_accept(TokenId::new(next)).unwrap());
    }
    assert_eq!(allowed(&mut matcher), [4]);
}

#[test]
fn texts_without_end_are_bounded() {
    let deep = format!("start: {}\"a\"{}", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(compile(&deep, &Options::default()).unwrap_err().code(), "lark/too-deep");
    let wide = (0..100_000).map(|n| format!("r{n}: \"a\" r{}\n", n + 1)).collect::<String>();
    let grammar =
        compile(&format!("start: r0\n{wide}r100000: \"b\"\n"), &Options::default()).unwrap().grammar;
    assert_eq!(grammar.rules().len(), 100_002);
    let long = "start: \"a\" ".to_owned() + &"\"b\" ".repeat(5_000_000);
    assert_eq!(compile(&long, &Options::default()).unwrap_err().code(), "limit/exceeded");
}

#[test]
fn lazy_rules_in_deep_groups_take_little_time() {
    let heads: String = (0..60).map(|n| format!("h{n}[lazy]: T \"<{n}>\"\n")).collect();
    let deep: String =
        (0..60).fold("\"x\"".to_owned(), |inner, n| format!("(h{n} [\"a\"] ({inner})* \"{n}\")*"));
    let grammar = compile(&format!("start: {deep} T\n{heads}T: /(.|\\n)*/"), &Options::default());
    let grammar = grammar.unwrap_or_else(|error| panic!("{error}")).grammar;
    assert!(grammar.rules().len() < 100_000, "{}", grammar.rules().len());
}

/// Returns all texts of the letters a and b that have at most `most` letters.
fn texts(most: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut at = 0;
    while let Some(text) = all.get(at).filter(|text| text.len() < most).cloned() {
        all.extend(["a", "b"].map(|letter| text.clone() + letter));
        at += 1;
    }
    all
}

fn accepts(source: &str) -> impl Fn(&str) -> bool + use<> {
    let language = Language::new(&compile(source, &Options::default()).unwrap().grammar);
    move |text: &str| language.accepts(text.as_bytes())
}

#[test]
fn a_lazy_rule_has_the_words_without_a_shorter_one() {
    for pattern in ["a+b*", "(a|b)*b", "a?b?", "(ab|a)(ba)+", "a*(b|aa)", "[ab]{2,4}", "(aa)*b|b+a"] {
        let all = accepts(&format!("start: /{pattern}/"));
        let lazy = accepts(&format!("start: r\nr[lazy]: /{pattern}/"));
        for text in texts(7) {
            let is_shortest = all(&text) && (0..text.len()).all(|end| !all(&text[..end]));
            assert_eq!(lazy(&text), is_shortest, "{pattern} {text:?}");
        }
    }
}

#[test]
fn a_choice_beside_a_lazy_rule_does_not_go_on_after_it() {
    for (head, other) in [("a+b", "[ab]*"), ("b?a", "b*a*"), ("(ab)+", "a.*"), ("[ab]{2}", "aa|b")] {
        let (lazy, free) = (accepts(&format!("start: /{head}/")), accepts(&format!("start: /{other}/s")));
        let both = accepts(&format!("start: head | WORD\nhead[lazy]: /{head}/\nWORD: /{other}/s"));
        for text in texts(6) {
            let begun = |last: usize| (0..=last).any(|end| lazy(&text[..end]));
            let is_head = lazy(&text) && (text.is_empty() || !begun(text.len() - 1));
            assert_eq!(both(&text), is_head || free(&text) && !begun(text.len()), "{head} {other} {text:?}");
        }
    }
}

#[test]
fn parts_of_a_row_are_chunks_that_stand_together() {
    for chunks in
        [&["a", "b", "a", "b", "b"][..], &["ab", "a", "b", "ba"], &["a", "", "a"], &["aa", "aab"], &[]]
    {
        let list = serde_json::to_string(chunks).unwrap();
        let found = accepts(&format!("start: %regex {{\"substring_chunks\": {list}}}"));
        for text in texts(7) {
            let expected = (0..=chunks.len())
                .any(|first| (first..=chunks.len()).any(|last| chunks[first..last].concat() == text));
            assert_eq!(found(&text), expected, "{chunks:?} {text:?}");
        }
    }
}

/// The search for the places where lazy rules may begin takes time that is linear in the length of the source.
#[test]
fn a_lazy_rule_may_begin_at_the_end_of_a_long_chain() {
    let count = 20_000;
    let chain: String = (0..count).map(|rule| format!("r{rule}: r{} | \"{rule}\"\n", rule + 1)).collect();
    let end = format!("r{count}: call | TEXT\nTEXT: /(.|\\n)*/\ncall[lazy]: TEXT \"<call>\"\n");
    compile(&format!("start: r0\n{chain}{end}"), &Options::default()).unwrap();
}

#[test]
fn lazy_rules_up_to_the_same_string_are_one_and_others_are_counted() {
    let calls = |count: usize, end: fn(usize) -> String| {
        let names: Vec<String> = (0..count).map(|call| format!("c{call} \"{call}\"")).collect();
        let rules: String =
            (0..count).map(|call| format!("c{call}[lazy]: TEXT \"{}\"\n", end(call))).collect();
        compile(
            &format!("start: ({})* TEXT?\nTEXT: /(.|\\n)*/\n{rules}", names.join(" | ")),
            &Options::default(),
        )
    };
    let language = Language::new(&calls(2_000, |_| "<call>".to_owned()).unwrap().grammar);
    for (text, expected) in
        [("so <call>7<call>1999", true), ("so", true), ("<call>", false), ("<call>2000", true)]
    {
        assert_eq!(language.accepts(text.as_bytes()), expected, "{text}");
    }
    let error = calls(2_000, |call| format!("<call{call}>")).unwrap_err();
    assert_eq!((error.code(), error.limit()), ("limit/exceeded", Some(grammata::LimitKind::GrammarNodes)));
}

/// What messages expect: literals as they are written, names of rules of the author, and ignored text last.
#[test]
fn expectations_name_literals_and_rules() {
    let source = "start: value (\",\" value)*\nvalue: \"true\" | \"false\" | \"null\" | STRING | /(?!-0)-?[0-9]+/\n\
         STRING: /'[^']*'/\nCOMMENT: /#[^\\n]*/\n%ignore COMMENT\n%ignore \" \"\n%ignore \"\\n\"\n";
    let compiled = compile(source, &Options::default().dialect(Dialect::Ecma262)).unwrap();
    let vocabulary = VocabularyBuilder::from_tokens(["a"]).build().unwrap();
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&compiled.grammar).unwrap();
    let mut matcher = compiled.matcher();
    for (text, expected) in [
        ("", "\"false\", \"null\", \"true\", `-`, `0` to `9` (rule `value`); or `'` (rule `STRING`)"),
        ("tr", "\"ue\" (rule `value`)"),
        (
            "true",
            "`,` (rule `start`); or a newline, a space (ignored); or `#` (rule `COMMENT`, ignored); or the end",
        ),
        ("-", "`1` to `9` (rule `value`)"),
    ] {
        assert_eq!(matcher.explain(text.as_bytes()).unwrap().expected_text(), expected, "{text:?}");
    }
}

#[test]
fn many_priorities_are_one_warning() {
    let source = (0..2_000).fold("start: A0\n".to_owned(), |all, n| format!("{all}A{n}.{n}: \"a\"\n"));
    let warnings = compile(&source, &Options::default()).unwrap().warnings;
    let [one] = &warnings[..] else { panic!("{} warnings", warnings.len()) };
    assert_eq!((one.code(), one.found_text()), ("lark/priority", Some("`.0`, and 1999 more")));
    assert_eq!(one.snippet().map(|snippet| (snippet.line(), snippet.column())), Some((2, 3)));
}
