//! Lark grammars: their words from a table, special tokens, and texts without end.

use crate::language::Language;
use grammata::syntax::lark::{Options, compile};
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
    accepts: Vec<String>,
    rejects: Vec<String>,
}

#[test]
fn grammars_have_these_words() {
    let cases: Vec<Words> = serde_json::from_str(include_str!("../data/lark/words.json")).unwrap();
    for case in cases {
        let options = case.start.map_or_else(Options::default, |start| Options::default().start(start));
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
