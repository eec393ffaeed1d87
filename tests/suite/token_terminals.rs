//! Token terminals: walks over a small vocabulary, refused grammars, and masks on a real tokenizer.

use crate::tables;
use grammata::automaton::words;
use grammata::grammar::{
    Distinct, Grammar, GrammarBuilder, Member, Names, Order, TokenScope, TokenSelector, TokenTerminal,
};
use grammata::syntax::json_schema::{self, PropertyOrder, Whitespace};
use grammata::syntax::{automaton_spec, gbnf};
use grammata::vocabulary::{LoadOptions, VocabularyBuilder};
use grammata::{Compiler, ErrorKind, Limits, Matcher, TokenId, Vocabulary};
use serde::Deserialize;
use std::path::Path;
use std::sync::Arc;

/// The texts of the ordinary tokens, with ids from 0.
const TOKENS: [&str; 9] = ["a", "b", "c", "ab", "<", "think", ">", "<think>", "</"];

/// The names of the special tokens, with ids after those of [`TOKENS`]. The last two end a sequence. Id 13 is padding.
const SPECIALS: [&str; 4] = ["<think>", "</think>", "<end>", "<call>"];

fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = VocabularyBuilder::from_tokens(TOKENS);
    for (id, name) in (TOKENS.len() as u32..).zip(SPECIALS) {
        builder = builder.special(TokenId::new(id), name);
    }
    Arc::new(builder.eos([TokenId::new(11), TokenId::new(12)]).width(14).build().unwrap())
}

fn grammar(source: &str) -> Grammar {
    let compiled = gbnf::compile(source, &gbnf::Options::default());
    compiled.unwrap_or_else(|error| panic!("{source}\n{error}")).grammar
}

fn matcher(source: &str) -> Matcher {
    let compiled = Compiler::new(vocabulary()).compile(&grammar(source));
    compiled.unwrap_or_else(|error| panic!("{source}\n{error}")).matcher()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    grammar: String,
    walk: Vec<Place>,
    #[serde(default)]
    ends: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    mask: Vec<String>,
    take: Option<String>,
}

/// Returns a token as the tables write it: `"text"`, the name of a special token, or `#id` of padding.
fn token(shown: &str) -> TokenId {
    let quoted = shown.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let place = match quoted {
        Some(text) => TOKENS.iter().position(|token| *token == text),
        None => SPECIALS.iter().position(|name| *name == shown).map(|place| place + TOKENS.len()),
    };
    let id = place.or_else(|| shown.strip_prefix('#')?.parse().ok());
    TokenId::new(id.unwrap_or_else(|| panic!("there is no token {shown}")) as u32)
}

#[test]
fn walks() {
    let cases: Vec<Case> = tables::cases("token_terminals");
    assert!(cases.len() >= 14, "only {}", cases.len());
    for case in cases {
        let mut matcher = matcher(&case.grammar);
        for (step, place) in case.walk.iter().enumerate() {
            let mut expected: Vec<TokenId> = place.mask.iter().map(|shown| token(shown)).collect();
            expected.sort_unstable();
            let mask: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
            assert_eq!(mask, expected, "{}: step {step}", case.name);
            for id in (0..14).map(TokenId::new) {
                let accepted = matcher.fork().accept_token(id).is_ok();
                assert_eq!(accepted, expected.contains(&id), "{}: step {step}, token {id}", case.name);
            }
            if let Some(take) = &place.take {
                matcher.accept_token(token(take)).unwrap();
            }
        }
        let ended = matcher.mask().unwrap().is_empty();
        assert_eq!(ended, case.ends, "{}", case.name);
        if ended {
            assert!(matcher.is_finished() && matcher.accept_token(token("\"a\"")).is_err());
            matcher.rollback(1).unwrap();
            assert!(!matcher.mask().unwrap().is_empty(), "{}", case.name);
        }
    }
}

#[test]
fn bytes_never_cross_a_token_edge() {
    let mut matcher = matcher("root ::= \"a\" (<think> | \"b\")");
    matcher.accept_bytes(b"a").unwrap();
    assert!(matcher.accept_bytes(b"<think>").is_err());
    matcher.accept_token(token("<think>")).unwrap();
    assert!(matcher.is_finished() && matcher.bytes() == b"a");
}

#[test]
fn forced_tokens_cross_token_edges_and_forced_bytes_do_not() {
    let mut matcher = matcher("root ::= \"ab\" <think> \"c\" </think> (\"a\" | <call>)");
    assert_eq!(matcher.forced_bytes().unwrap(), b"ab");
    let forced = matcher.forced_tokens().unwrap();
    assert_eq!(forced, ["\"ab\"", "<think>", "\"c\"", "</think>"].map(token));
}

#[test]
fn a_forced_end_token_on_an_edge_ends_the_forced_tokens() {
    let mut matcher = matcher("root ::= <think> <end>");
    assert_eq!(matcher.forced_tokens().unwrap(), [token("<think>"), token("<end>")]);
    matcher.accept_token(token("<think>")).unwrap();
    matcher.accept_token(token("<end>")).unwrap();
    assert_eq!(matcher.forced_tokens().unwrap(), []);
}

#[test]
fn a_rejection_names_the_token_terminals_that_were_expected() {
    let mut matcher = matcher("root ::= \"a\" (<think> | <[3,10-11]> \"b\" | [bc])");
    matcher.accept_bytes(b"a").unwrap();
    let error = matcher.accept_token(token("<call>")).unwrap_err();
    assert_eq!(error.code(), "matcher/rejected");
    let error = matcher.accept_token(TokenId::new(13)).unwrap_err().to_string();
    assert!(error.contains("token 13, which the tokenizer does not use"), "{error}");
    assert!(error.contains("`b` to `c`, the token <think>, the token <[3,10-11]> (rule `root`)"), "{error}");
    let explanation = matcher.explain_token(token("</think>")).unwrap();
    assert!(explanation.is_viable() && explanation.expected_text().starts_with("`b`"));
}

/// Grammars that a compiler refuses, with the places of the errors.
#[test]
fn what_a_vocabulary_does_not_have_is_refused_with_the_rule() {
    let cases = [
        ("root ::= \"a\" other\nother ::= <thnk>", "mask/unknown-token", "did you mean `<think>`"),
        ("root ::= \"a\" other\nother ::= <[14]>", "mask/token-range", "the id 14"),
        ("root ::= \"a\" other\nother ::= !<[0-4294967295]>", "mask/token-range", "ids below 14"),
        ("root ::= \"a\" other\nother ::= !<[0-10]>", "mask/no-tokens", "!<[0-10]>"),
    ];
    for (source, code, text) in cases {
        let error = Compiler::new(vocabulary()).compile(&grammar(source)).unwrap_err();
        assert_eq!((error.code(), error.kind()), (code, ErrorKind::Grammar), "{source}: {error}");
        let shown = error.to_string();
        assert!(shown.contains("rule `other`") && shown.contains(text), "{source}: {shown}");
    }
    // tokens of unreachable parts are not looked up
    let compiled = gbnf::compile("root ::= \"a\"\nother ::= <thnk>", &gbnf::Options::default()).unwrap();
    Compiler::new(vocabulary()).compile(&compiled.grammar).unwrap();
}

#[test]
fn many_terminals_and_long_lists_are_bounded() {
    let compiler = Compiler::new(smollm2());
    let many = |count: u32| {
        let sets: Vec<String> = (0..count).map(|id| format!("!<[{id}]>")).collect();
        compiler.compile(&grammar(&format!("root ::= {}", sets.join(" | "))))
    };
    // all tokens but those that end a sequence: each set has the tokens that another one omits
    let mask = many(1_000).unwrap().matcher().mask().unwrap();
    assert_eq!(mask.len(), 49156 - 2);
    let error = many(20_000).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Limit, "limit/exceeded"), "{error}");
    let ids: Vec<String> = (0..40_000).map(|id| (id / 2 * 2).to_string()).collect();
    let compiled = compiler.compile(&grammar(&format!("root ::= <[{}]>", ids.join(",")))).unwrap();
    assert_eq!(compiled.matcher().mask().unwrap().len(), 20_000);
}

#[test]
fn an_empty_set_of_tokens_is_refused() {
    let crossed = TokenTerminal::new(TokenScope::Listed, [TokenSelector::Ids { first: 2, last: 1 }]);
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let token = g.token(crossed);
    g.define(root, token);
    assert_eq!(g.build(root).unwrap_err().code(), "grammar/empty-token-terminal");
}

#[test]
fn token_terminals_are_refused_where_texts_are_remembered() {
    type Build = fn(&mut GrammarBuilder) -> grammata::grammar::ExprId;
    let cases: [(&str, Build, bool); 7] = [
        (
            "intersection",
            |g| {
                let (token, text) = (g.token(TokenTerminal::named("<think>")), g.text("a"));
                let choice = g.choice([token, text]);
                g.intersection([choice, text])
            },
            true,
        ),
        (
            "complement",
            |g| {
                let token = g.token(TokenTerminal::id(1));
                g.complement(token)
            },
            true,
        ),
        (
            "items",
            |g| {
                let (token, comma) = (g.token(TokenTerminal::id(1)), g.text(","));
                let items = [token].into();
                g.distinct(Distinct {
                    items,
                    separator: comma,
                    min: 0,
                    max: None,
                    endless: true,
                    json: false,
                })
            },
            true,
        ),
        (
            "name",
            |g| {
                let token = g.token(TokenTerminal::id(1));
                g.name(token, Names::Endless)
            },
            true,
        ),
        (
            "members with names",
            |g| {
                let (quote, letters, token) =
                    (g.text("\""), g.class([('a', 'z')]), g.token(TokenTerminal::id(1)));
                let letters = g.star(letters);
                let name = g.sequence([quote, letters, quote]);
                let name = g.name(name, Names::Endless);
                let rest = g.sequence([name, token]);
                let comma = g.text(",");
                g.members(Order::Any, [], Some(rest), comma)
            },
            true,
        ),
        (
            "a value of listed members",
            |g| {
                let (token, comma) = (g.token(TokenTerminal::id(1)), g.text(","));
                let member = Member { key: b"a:"[..].into(), value: token, required: true };
                g.members(Order::Any, [member], None, comma)
            },
            false,
        ),
        (
            "around objects with names",
            |g| {
                let (quote, letters, token) =
                    (g.text("\""), g.class([('a', 'z')]), g.token(TokenTerminal::id(1)));
                let letters = g.star(letters);
                let name = g.sequence([quote, letters, quote]);
                let name = g.name(name, Names::Endless);
                let comma = g.text(",");
                let members = g.members(Order::Any, [], Some(name), comma);
                let (open, close) = (g.text("{"), g.text("}"));
                let object = g.sequence([open, members, close]);
                let turn = g.sequence([token, object, token]);
                g.star(turn)
            },
            false,
        ),
    ];
    for (name, build, refused) in cases {
        let mut g = GrammarBuilder::new();
        let (root, inner) = (g.declare("root"), g.declare("inner"));
        let (body, call, end) = (build(&mut g), g.rule(inner), g.text("."));
        g.define(inner, body);
        let whole = g.sequence([call, end]);
        g.define(root, whole);
        let made = Compiler::new(vocabulary()).compile(&g.build(root).unwrap());
        match made {
            Ok(_) => assert!(!refused, "{name}"),
            Err(error) => {
                assert!(refused, "{name}: {error}");
                assert_eq!(error.code(), "automaton/token-terminal", "{name}");
                assert!(error.to_string().contains("rule `inner`"), "{name}: {error}");
            }
        }
    }
}

#[test]
fn terminals_are_letters_of_their_own() {
    let grammar = grammar("root ::= \"a\" (<think> | <[1-3]> | [bc]) </think>?");
    let automaton = grammata::automaton::Automaton::new(&grammar, &Limits::default()).unwrap();
    assert_eq!(words::count(&automaton).unwrap().to_string(), "8");
    let shown: Vec<String> = words::enumerate(&automaton)
        .unwrap()
        .map(|word| {
            let letter = |letter: &words::Letter| match *letter {
                words::Letter::Byte(byte) => char::from(byte).to_string(),
                words::Letter::Token(terminal) => words::terminal_text(&grammar, terminal),
            };
            word.unwrap().iter().map(letter).collect()
        })
        .collect();
    assert_eq!(
        shown,
        [
            "ab",
            "ab</think>",
            "ac",
            "ac</think>",
            "a<think>",
            "a<think></think>",
            "a<[1-3]>",
            "a<[1-3]></think>"
        ]
    );
    let dot = grammata::automaton::graph::dot(&automaton, &grammar, 10).unwrap().dot;
    assert!(dot.contains("label=\"b-c <think> <[1-3]>\""), "{dot}");
}

/// Returns the tokenizer of SmolLM2, with tokens of other model families after its own.
fn smollm2() -> Arc<Vocabulary> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    let names = ["<think>", "</think>", "<tool_call>", "</tool_call>"];
    let specials =
        names.into_iter().zip(49152..).map(|(name, id)| (name.to_owned(), TokenId::new(id))).collect();
    let options = LoadOptions::default().specials(specials).width(Some(49160));
    Arc::new(Vocabulary::from_file(&path, &options).unwrap())
}

fn ids(matcher: &mut Matcher) -> Vec<u32> {
    matcher.mask().unwrap().iter().map(TokenId::get).collect()
}

fn accept(matcher: &mut Matcher, token: u32) {
    matcher.accept_token(TokenId::new(token)).unwrap();
}

#[test]
fn thinking_before_an_answer_on_a_real_tokenizer() {
    let source = r#"
root ::= <think> thought* </think> "\n" ("yes" | "no")
thought ::= !<"<think>","</think>","<tool_call>","</tool_call>">
"#;
    let vocabulary = smollm2();
    let text = |id: u32| vocabulary.bytes(TokenId::new(id)).unwrap_or_default();
    let mut matcher = Compiler::new(Arc::clone(&vocabulary)).compile(&grammar(source)).unwrap().matcher();
    assert_eq!(ids(&mut matcher), [49152]);
    accept(&mut matcher, 49152);
    // all of the tokenizer's own tokens but those that end a sequence, and the end of the thought
    let thought: Vec<u32> = (0..49152).filter(|id| ![0, 2].contains(id)).chain([49153]).collect();
    assert_eq!(ids(&mut matcher), thought);
    for id in [17400, 1, 198] {
        accept(&mut matcher, id);
        assert_eq!(ids(&mut matcher), thought);
    }
    assert_eq!(matcher.bytes(), b"think\n");
    accept(&mut matcher, 49153);
    assert_eq!(ids(&mut matcher), [198]);
    assert_eq!(text(198), b"\n");
    accept(&mut matcher, 198);
    let answers = ids(&mut matcher);
    let shown: Vec<&[u8]> = answers.iter().map(|&id| text(id)).collect();
    assert_eq!(shown, [&b"n"[..], b"y", b"no", b"ye", b"yes"]);
    accept(&mut matcher, answers[2]);
    assert_eq!(ids(&mut matcher), [0, 2]);
    // the thought is part of the text, and a rollback may cross the end of the thought
    assert_eq!(matcher.bytes(), b"think\n\nno");
    matcher.rollback(3).unwrap();
    assert_eq!(ids(&mut matcher), thought);
}

#[test]
fn a_tool_call_between_tokens_of_a_real_tokenizer() {
    let source = r#"
root ::= [a-z ]* call?
call ::= <tool_call> "\n{\"name\": \"" ("get_time" | "stop") "\"}\n" </tool_call> <|im_end|>
"#;
    let vocabulary = smollm2();
    let text = |id: u32| vocabulary.bytes(TokenId::new(id)).unwrap_or_default();
    let find = |wanted: &[u8]| vocabulary.tokens().find(|(_, bytes)| *bytes == wanted).unwrap().0.get();
    let mut matcher = Compiler::new(Arc::clone(&vocabulary)).compile(&grammar(source)).unwrap().matcher();
    // allowed are text of letters and spaces, the call, and the end
    let is_letters =
        |id: &u32| !text(*id).is_empty() && text(*id).iter().all(|b| matches!(b, b'a'..=b'z' | b' '));
    let letters: Vec<u32> = (0..49152).filter(is_letters).collect();
    let start: Vec<u32> = [0, 2].into_iter().chain(letters).chain([49154]).collect();
    assert_eq!(ids(&mut matcher), start);
    accept(&mut matcher, find(b"call"));
    assert_eq!(ids(&mut matcher), start);
    accept(&mut matcher, 49154);
    let shown = |matcher: &mut Matcher| -> Vec<Vec<u8>> {
        ids(matcher).into_iter().map(|id| text(id).to_vec()).collect()
    };
    assert_eq!(shown(&mut matcher), [b"\n"]);
    matcher.accept_bytes(b"\n{\"name\": \"").unwrap();
    let mut names = shown(&mut matcher);
    names.sort_unstable();
    assert_eq!(names, [&b"g"[..], b"ge", b"get", b"s", b"st", b"stop"]);
    matcher.accept_bytes(b"stop\"}\n").unwrap();
    assert_eq!(ids(&mut matcher), [49155]);
    accept(&mut matcher, 49155);
    assert_eq!(ids(&mut matcher), [2]);
    accept(&mut matcher, 2);
    assert!(ids(&mut matcher).is_empty() && matcher.is_finished());
    assert_eq!(matcher.bytes(), b"call\n{\"name\": \"stop\"}\n");
}

#[test]
fn symbols_of_specs_are_tokens() {
    let spec = r#"
kind = "dfa"
symbols = { open = { token = "<think>" }, word = { token = { any_but = ["</think>"] } }, close = { token = [10] }, answer = "ab", low = { token = [[0, 1], "<"] } }
start = "begin"
accepting = ["end"]
transitions = [
    { from = "begin", input = "open", to = "thought" },
    { from = "thought", input = "word", to = "thought" },
    { from = "thought", input = "close", to = "after" },
    { from = "after", input = ["answer", "low"], to = "end" },
]
"#;
    let grammar = automaton_spec::compile(spec, &automaton_spec::Options::default()).unwrap().grammar;
    let mut matcher = Compiler::new(vocabulary()).compile(&grammar).unwrap().matcher();
    assert_eq!(matcher.forced_tokens().unwrap(), [token("<think>")]);
    accept(&mut matcher, 9);
    assert_eq!(ids(&mut matcher), (0..=10).collect::<Vec<u32>>());
    accept(&mut matcher, 10);
    // "a" is a low token, after which the text may end, and also begins the answer, which needs a `b`
    assert_eq!(ids(&mut matcher), [0, 1, 3, 4]);
    accept(&mut matcher, 0);
    assert_eq!(ids(&mut matcher), [1, 11, 12]);
    let special = spec.replace("any_but = [\"</think>\"]", "special_but = [\"</think>\"]");
    let grammar = automaton_spec::compile(&special, &automaton_spec::Options::default()).unwrap().grammar;
    let mut matcher = Compiler::new(vocabulary()).compile(&grammar).unwrap().matcher();
    accept(&mut matcher, 9);
    assert_eq!(ids(&mut matcher), [9, 10]);
}

/// Over single bytes, a token terminal of ordinary tokens allows what a set of bytes allows, even in lists that
/// remember their items.
#[test]
fn token_terminals_of_single_bytes_are_sets_of_bytes() {
    const LETTERS: [&str; 4] = ["[", "1", ",", "]"];
    let vocabulary = VocabularyBuilder::from_tokens(LETTERS).special(TokenId::new(4), "<end>");
    let vocabulary = Arc::new(vocabulary.eos([TokenId::new(4)]).build().unwrap());
    let build = |by_id: bool, bounded: bool| {
        let mut g = GrammarBuilder::new();
        let root = g.declare("root");
        let any = match by_id {
            true => g.token(TokenTerminal::new(TokenScope::AllBut, [])),
            false => g.byte_set(LETTERS.concat().bytes().collect()),
        };
        let thought = g.repeat(any, 0, bounded.then_some(3));
        let one = g.text("1");
        let number = g.repeat(one, 1, Some(3));
        let (open, comma, close) = (g.text("["), g.text(","), g.text("]"));
        let items = g.distinct(Distinct {
            items: [number].into(),
            separator: comma,
            min: 2,
            max: None,
            endless: false,
            json: true,
        });
        let list = g.sequence([thought, open, items, close]);
        g.define(root, list);
        Compiler::new(Arc::clone(&vocabulary)).compile(&g.build(root).unwrap()).unwrap()
    };
    for bounded in [false, true] {
        let (by_id, by_bytes) = (build(true, bounded), build(false, bounded));
        let mut open = vec![(by_id.matcher(), by_bytes.matcher())];
        let mut seen = 0;
        while let Some((mut by_id, mut by_bytes)) = open.pop() {
            seen += 1;
            let mask = ids(&mut by_id);
            assert_eq!(mask, ids(&mut by_bytes), "after {:?}", String::from_utf8_lossy(&by_id.bytes()));
            if by_id.steps() < 8 && seen < 6_000 {
                for token in mask.into_iter().filter(|&token| token < 4) {
                    let (mut a, mut b) = (by_id.fork(), by_bytes.fork());
                    accept(&mut a, token);
                    accept(&mut b, token);
                    open.push((a, b));
                }
            }
        }
        assert!(seen > 1_000, "{seen}");
    }
}

/// A thought may be any text. The object after it has each name once, even if tables are dropped in the meantime.
#[test]
fn names_of_objects_are_followed_after_a_thought() {
    let letters = ["{", "}", "\"", "a", "b", ":", ",", "1", "\"a\":1", "{\"a\":1,", "x"];
    let mut builder = VocabularyBuilder::from_tokens(letters).special(TokenId::new(11), "</think>");
    builder = builder.special(TokenId::new(12), "<end>").eos([TokenId::new(12)]);
    let vocabulary = Arc::new(builder.build().unwrap());
    let options =
        json_schema::Options::default().whitespace(Whitespace::Compact).property_order(PropertyOrder::Any);
    let schema = serde_json::json!({"type": "object", "additionalProperties": {"enum": [1]}});
    let object = json_schema::compile_value(&schema, &options).unwrap().grammar;
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let close = g.token(TokenTerminal::named("</think>"));
    let any = g.token(TokenTerminal::new(TokenScope::AllBut, [TokenSelector::Name("</think>".into())]));
    let (thought, object) = (g.star(any), g.import(&object));
    let whole = g.sequence([thought, close, object]);
    g.define(root, whole);
    let grammar = g.build(root).unwrap();
    let compile = |cache_bytes: usize| {
        let limits = Limits::default().cache_bytes(cache_bytes);
        Compiler::new(Arc::clone(&vocabulary)).limits(limits).compile(&grammar).unwrap()
    };
    let roomy = compile(usize::MAX);
    walk_after_a_thought(&mut roomy.matcher()).unwrap();
    let needed = roomy.statistics().cache_bytes;
    let mut resets = 0;
    for percent in (50..100).step_by(5) {
        let tight = compile(needed * percent / 100);
        match walk_after_a_thought(&mut tight.matcher()) {
            Ok(()) => resets += tight.statistics().resets,
            Err(error) => assert_eq!(error.kind(), ErrorKind::Limit, "{error}"),
        }
    }
    assert!(resets > 0);
}

fn walk_after_a_thought(matcher: &mut Matcher) -> grammata::Result<()> {
    let ids = |matcher: &mut Matcher| -> grammata::Result<Vec<u32>> {
        Ok(matcher.mask()?.iter().map(TokenId::get).collect())
    };
    let accept = |matcher: &mut Matcher, token: u32| matcher.accept_token(TokenId::new(token));
    let everything: Vec<u32> = (0..=11).collect();
    for token in [9, 8, 2, 3, 2, 5, 6, 2, 3, 2, 1, 1] {
        assert_eq!(ids(matcher)?, everything);
        accept(matcher, token)?;
    }
    accept(matcher, 11)?;
    assert_eq!(ids(matcher)?, [0, 9]);
    accept(matcher, 9)?;
    // the next name must not be `a`
    assert_eq!(ids(matcher)?, [2]);
    accept(matcher, 2)?;
    accept(matcher, 3)?;
    let within = ids(matcher)?;
    assert!(!within.contains(&2) && within.contains(&4), "{within:?}");
    accept(matcher, 4)?;
    assert!(ids(matcher)?.contains(&2));
    matcher.rollback(5)?;
    assert_eq!(ids(matcher)?, everything);
    accept(matcher, 11)?;
    for token in [0, 2, 3, 2, 5, 7, 1] {
        accept(matcher, token)?;
    }
    assert!(matcher.is_finished());
    Ok(())
}

#[test]
fn a_literal_that_spells_a_special_token_is_a_warning() {
    let builder = VocabularyBuilder::from_tokens(["a", "<", "think", ">", "[INST]", "end"]);
    let builder = builder.special(TokenId::new(6), "<think>").special(TokenId::new(7), "[/X]");
    let builder = builder.special(TokenId::new(8), "end").special(TokenId::new(9), "word");
    let vocabulary = Arc::new(builder.eos([TokenId::new(8)]).build().unwrap());
    let warning = |grammar: &Grammar| {
        let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(grammar).unwrap();
        let all = compiled.warnings().into_iter().filter(|warning| warning.code() == "mask/special-as-text");
        all.map(|warning| (warning.place().to_string(), warning.help_text().unwrap_or_default().to_owned()))
            .next()
    };
    let parse = |source: &str| gbnf::compile(source, &gbnf::Options::default()).unwrap().grammar;
    let found = warning(&parse("root ::= head \"a\"\nhead ::= \"<think>\\n\""));
    let help = "to mean the token, write `<think>` without quotes";
    assert_eq!(found, Some(("rule `head`".to_owned(), help.to_owned())));
    let help = "to mean the token, write `<[7]>` without quotes";
    assert_eq!(warning(&parse("root ::= [a-z] | \"[/X]\"")).map(|(_, help)| help).as_deref(), Some(help));
    for source in [
        "root ::= <think> \"a\"",
        "root ::= \"<thin\" \"k\"",
        "root ::= \"word\" | \"end\"",
        "root ::= \"[INST]\"",
    ] {
        assert_eq!(warning(&parse(source)), None, "{source}");
    }
    let schema =
        grammata::syntax::json_schema::compile("{\"const\": \"<think>\"}", &Default::default()).unwrap();
    assert_eq!(warning(&schema.grammar), None);
}
