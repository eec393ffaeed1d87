//! Parts of a text that are bounded in tokens: compared with a search through all ways to read a text, in single cases,
//! and on a real tokenizer.

use crate::engine_properties::hold_on_bytes;
use grammata::mask::Distance;
use grammata::syntax::gbnf;
use grammata::vocabulary::{LoadOptions, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, Error, Limits, Matcher, TokenId, Vocabulary};
use grammata_testing::bounded_parts::{bounded_parts_agree, budgets_beside_bounded_parts_agree};
use std::path::Path;
use std::sync::Arc;

#[test]
fn masks_are_those_of_trying_all_ways_to_read_a_text() {
    hold_on_bytes(|bytes| bounded_parts_agree(bytes, false), 10, 1);
}

#[test]
fn masks_are_those_of_trying_all_ways_to_read_a_text_with_token_terminals() {
    hold_on_bytes(|bytes| bounded_parts_agree(bytes, true), 10, 1);
}

#[test]
fn budgets_of_texts_hold_beside_bounds_of_parts() {
    hold_on_bytes(|bytes| budgets_beside_bounded_parts_agree(bytes, false), 30, 5);
}

#[test]
fn budgets_of_texts_hold_beside_bounds_of_parts_with_token_terminals() {
    hold_on_bytes(|bytes| budgets_beside_bounded_parts_agree(bytes, true), 30, 5);
}

/// The texts of the tokens, with ids from 0; the last token, `end`, ends a sequence.
const TOKENS: [&str; 9] = ["a", "b", "ab", "<", ">", "<>", ">b", "ba", "end"];

fn vocabulary() -> Arc<Vocabulary> {
    let builder = VocabularyBuilder::from_tokens(&TOKENS[..8]).special(TokenId::new(8), "end");
    Arc::new(builder.eos([TokenId::new(8)]).build().unwrap())
}

fn compile(source: &str) -> Result<CompiledGrammar, Error> {
    let grammar = gbnf::compile(source, &gbnf::Options::default())?.grammar;
    Compiler::new(vocabulary()).compile(&grammar)
}

fn matcher(source: &str) -> Matcher {
    compile(source).unwrap_or_else(|error| panic!("{source}\n{error}")).matcher()
}

/// Returns the texts of the allowed tokens.
fn mask(matcher: &mut Matcher) -> Vec<&'static str> {
    matcher.mask().unwrap().iter().map(|token| TOKENS[token.index()]).collect()
}

fn accept(matcher: &mut Matcher, token: &str) {
    let id = TOKENS.iter().position(|known| *known == token).unwrap();
    matcher.accept_token(TokenId::new(id as u32)).unwrap();
}

#[test]
fn a_part_ends_in_time_and_what_follows_it_is_free() {
    let mut matcher = matcher("root ::= @max_tokens(3, @text(\"<>\")) [ab]*");
    assert_eq!(mask(&mut matcher), ["a", "b", "ab", "<", ">", "<>", ">b", "ba"]);
    accept(&mut matcher, "a");
    assert_eq!(mask(&mut matcher), ["a", "b", "ab", "<", ">", "<>", ">b", "ba"]);
    accept(&mut matcher, "<");
    // one token of the part is left; `>b` is allowed, because the part ends within it
    assert_eq!(mask(&mut matcher), [">", "<>", ">b"]);
    let mut fork = matcher.fork();
    accept(&mut fork, ">b");
    (0..20).for_each(|_| accept(&mut fork, "ab"));
    assert_eq!(mask(&mut fork), ["a", "b", "ab", "ba", "end"]);
    matcher.rollback(1).unwrap();
    accept(&mut matcher, "a");
    assert_eq!(mask(&mut matcher), ["<>"]);
    assert!(!matcher.is_accepting());
    let error = matcher.accept_token(TokenId::new(0)).unwrap_err();
    assert_eq!(error.code(), "matcher/part-bound");
    assert!(error.to_string().contains("1 of its 3 tokens are left"), "{error}");
    // even without the bound the text could not end here
    let end = TOKENS.iter().position(|known| *known == "end").unwrap();
    let error = matcher.accept_token(TokenId::new(end as u32)).unwrap_err();
    assert_eq!(error.code(), "matcher/rejected", "{error}");
    accept(&mut matcher, "<>");
    assert!(matcher.is_accepting());
    fork.rollback(20).unwrap();
    assert_eq!(mask(&mut fork), ["a", "b", "ab", "ba", "end"]);
    fork.rollback(1).unwrap();
    assert_eq!(mask(&mut fork), [">", "<>", ">b"]);
    fork.reset();
    assert_eq!(mask(&mut fork).len(), 8);
}

#[test]
fn a_budget_of_the_whole_text_counts_beside_the_bound_of_a_part() {
    let within = |matcher: &mut Matcher, budget: usize| -> Vec<&'static str> {
        matcher.mask_within(budget).unwrap().iter().map(|token| TOKENS[token.index()]).collect()
    };
    let mut matcher = matcher("root ::= @max_tokens(3, @text(\"<>\")) [ab]{4}");
    assert_eq!(matcher.distance().unwrap(), Distance::Exact(3));
    assert_eq!(matcher.distance_in_bytes().unwrap(), Distance::Exact(6));
    let error = matcher.mask_within(2).unwrap_err();
    assert_eq!(error.code(), "matcher/budget");
    assert!(error.to_string().contains("a budget of 3 tokens"), "{error}");
    assert_eq!(within(&mut matcher, 3), ["<>"]);
    assert_eq!(within(&mut matcher, 4), ["a", "b", "ab", "<", ">", "<>", ">b", "ba"]);
    accept(&mut matcher, "<");
    assert_eq!(within(&mut matcher, 3), [">", "<>", ">b"]);
    matcher.rollback(1).unwrap();
    accept(&mut matcher, "a");
    accept(&mut matcher, "b");
    // the bound of the part is stricter than a large budget
    assert_eq!(within(&mut matcher, 1 << 40), ["<>"]);
    accept(&mut matcher, "<>");
    // after "ab" one token is enough, too, but the completion that is known there is "aa", of two tokens
    assert_eq!(within(&mut matcher, 2), ["ba"]);
    assert_eq!(within(&mut matcher, 3), ["ab", "ba"]);
}

#[test]
fn each_reading_of_a_text_counts_for_itself() {
    // each `a` may be in the part or after it
    let mut matcher = matcher("root ::= @max_tokens(2, \"a\"*) (\"a\" \"b\" | \"<\")");
    (0..2).for_each(|_| accept(&mut matcher, "a"));
    assert_eq!(mask(&mut matcher), ["a", "b", "ab", "<"]);
    accept(&mut matcher, "a");
    // the first two `a` are in the part
    assert_eq!(mask(&mut matcher), ["b"]);
    accept(&mut matcher, "b");
    assert_eq!(mask(&mut matcher), ["end"]);
}

/// Checks which tokens are allowed after others, and that each allowed token is accepted.
fn allows(source: &str, tokens: &[&str], after: &[(&[&str], &[&str])]) {
    let id = |token: &str| tokens.iter().position(|known| *known == token).unwrap_or(tokens.len());
    let end = TokenId::new(tokens.len() as u32);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).special(end, "end").eos([end]).build().unwrap();
    let grammar = gbnf::compile(source, &gbnf::Options::default()).unwrap().grammar;
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap();
    for (before, allowed) in after {
        let mut matcher = compiled.matcher();
        before.iter().for_each(|token| matcher.accept_token(TokenId::new(id(token) as u32)).unwrap());
        let mask: Vec<TokenId> = matcher.mask().unwrap().iter().collect();
        let name = |token: &TokenId| tokens.get(token.index()).copied().unwrap_or("end");
        assert_eq!(mask.iter().map(name).collect::<Vec<_>>(), *allowed, "{source} after {before:?}");
        for token in mask {
            assert!(matcher.fork().try_accept(token).unwrap(), "{source} after {before:?}: {token:?}");
        }
    }
}

#[test]
fn the_last_token_of_a_part_may_end_behind_it() {
    // `bbb` reads `bb` in the part and `b` after it, although there is no token `bb`
    let part = "root ::= [a-c] @max_tokens(1, \"c\" | \"bb\" | \"aa\") \"b\"*";
    allows(part, &["a", "b", "c", "bbb"], &[(&["a"], &["c", "bbb"]), (&["a", "bbb"], &["b", "bbb", "end"])]);
    // after another token of the part, `acd` reads `ac` in it and `d` after it
    let part = "root ::= @max_tokens(2, \"abac\" | \"c\") \"d\"";
    let tokens = ["a", "b", "c", "d", "ab", "acd"];
    allows(part, &tokens, &[(&[], &["c", "ab"]), (&["ab"], &["acd"]), (&["ab", "acd"], &["end"])]);
    // if the part is not empty, no token ends together with it
    let part = "root ::= \"b\"? @max_tokens(1, \"aa\"?) \"a\"";
    let tokens = ["a", "b", "aaa"];
    allows(part, &tokens, &[(&[], &["a", "b", "aaa"]), (&["b"], &["a", "aaa"]), (&["b", "aaa"], &["end"])]);
}

#[test]
fn a_token_may_end_one_part_and_enter_another() {
    let part = "root ::= @max_tokens(1, \"aa\"?){2,3}";
    let tokens = ["a", "b", "c", "ab", "ba", "aaa"];
    allows(part, &tokens, &[(&[], &["aaa", "end"]), (&["aaa"], &["a", "aaa"]), (&["aaa", "a"], &["end"])]);
    let part = "root ::= @max_tokens(1, (\"ba\" | \"bb\")?) @max_tokens(1, [ab])";
    allows(part, &["a", "b", "c", "baa"], &[(&[], &["a", "b", "baa"]), (&["baa"], &["end"])]);
    let part = "root ::= (@max_tokens(1, \"ca\"*))*";
    let tokens = ["a", "b", "c", "cac"];
    allows(part, &tokens, &[(&[], &["cac", "end"]), (&["cac"], &["a"]), (&["cac", "a"], &["cac", "end"])]);
    // the part that is entered within a token must be completed in time, too
    let part = "root ::= @max_tokens(1, \"aa\") @max_tokens(1, \"bb\")";
    let tokens = ["a", "b", "aa", "bb", "aab"];
    allows(part, &tokens, &[(&[], &["aa", "aab"]), (&["aab"], &["b"]), (&["aab", "b"], &["end"])]);
    let part = "root ::= @max_tokens(1, \"aa\") @max_tokens(1, \"bbb\")";
    allows(part, &["a", "b", "aa", "bbb", "aab"], &[(&[], &["aa"])]);
    // several parts in a row, with one token for each
    let part =
        "root ::= \"c\" @max_tokens(1, \"aa\"?) @max_tokens(1, \"aaaa\"?) @max_tokens(1, \"aa\"?) \"b\"";
    let tokens = ["a", "b", "c", "aaa", "aab"];
    let after: [(&[&str], &[&str]); 4] = [
        (&["c"], &["b", "aaa", "aab"]),
        (&["c", "aaa"], &["a", "aaa"]),
        (&["c", "aaa", "aaa"], &["b", "aab"]),
        (&["c", "aaa", "aaa", "aab"], &["end"]),
    ];
    allows(part, &tokens, &after);
}

#[test]
fn a_part_begins_anew_each_time() {
    let mut matcher = matcher("root ::= (@max_tokens(1, [ab]+) \"<\")+");
    for _ in 0..3 {
        assert!(mask(&mut matcher).iter().all(|token| ["a", "b", "ab", "ba", "end"].contains(token)));
        accept(&mut matcher, "ab");
        assert_eq!(mask(&mut matcher), ["<"]);
        accept(&mut matcher, "<");
        assert!(matcher.is_accepting());
    }
}

#[test]
fn bytes_count_as_one_step_and_nothing_is_forced_where_a_part_is_open() {
    let mut matcher = matcher("root ::= @max_tokens(2, \"ab<\" [ab]* \">\") \"ba\"");
    assert_eq!(matcher.forced_tokens().unwrap(), []);
    matcher.accept_bytes(b"ab<aaaa").unwrap();
    assert_eq!(mask(&mut matcher), [">", ">b"]);
    assert!(!matcher.accepts_prefix(b"a").unwrap());
    matcher.accept_bytes(b">").unwrap();
    assert_eq!(matcher.forced_bytes().unwrap(), b"ba");
    assert_eq!(matcher.distance().unwrap(), Distance::Exact(1));
}

#[test]
fn what_cannot_be_bounded_is_refused_with_its_place() {
    let cases = [
        ("root ::= @max_tokens(0, \"a\")", "grammar/no-tokens-for-part", "root ::= @max_tokens"),
        ("root ::= part\npart ::= \"<\" @max_tokens(2, \"abab>b\")", "mask/part-bound", "rule `part`"),
        (
            "root ::= @max_chars(9, part)\npart ::= @max_tokens(2, \"ab\")",
            "automaton/bounded-part",
            "rule `root`",
        ),
        (
            "root ::= @max_tokens(9, \"a\" part)\npart ::= \"b\" @max_tokens(2, \"ab\")",
            "automaton/bounded-part",
            "rule `part`",
        ),
        (
            "root ::= @max_tokens(9, part)\npart ::= \"a\" root | \"b\"",
            "automaton/bounded-part",
            "rule `root`",
        ),
        ("root ::= @max_tokens(\"a\")", "gbnf/bad-bound", "root ::= "),
    ];
    for (source, code, place) in cases {
        let error = compile(source).map(|_| ()).unwrap_err();
        assert_eq!(error.code(), code, "{source}\n{error}");
        assert!(error.to_string().contains(place), "{source}\n{error}");
    }
}

#[test]
fn texts_are_checked_without_bounds() {
    let source = "root ::= @max_tokens(1, \"ab\"+) \"<\"";
    let grammar = gbnf::compile(source, &gbnf::Options::default()).unwrap().grammar;
    assert_eq!(grammar.to_string(), "root ::= max_tokens(1, part) \"<\"\npart ::= \"ab\"+\n");
    let compiled = Compiler::new(vocabulary()).without_token_bounds().compile(&grammar).unwrap();
    let mut matcher = compiled.matcher();
    b"ababab<".iter().for_each(|&byte| matcher.accept_bytes(&[byte]).unwrap());
    assert!(matcher.is_accepting());
}

#[test]
fn a_model_that_never_wants_to_stop_thinking_is_stopped_in_time() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    let vocabulary = Arc::new(Vocabulary::from_file(&file, &LoadOptions::default()).unwrap());
    let source =
        "root ::= \"<think>\" @max_tokens(12, @text(\"</think>\")) \"\\n{\\\"n\\\": \" [0-9]{1,3} \"}\"";
    let grammar = gbnf::compile(source, &gbnf::Options::default()).unwrap().grammar;
    // with the smaller size, tables are dropped during the walk
    for cache_bytes in [Limits::default().cache_bytes, 1 << 20] {
        let mut limits = Limits::default();
        limits.cache_bytes = cache_bytes;
        let compiled = Compiler::new(Arc::clone(&vocabulary)).limits(limits).compile(&grammar).unwrap();
        let mut matcher = compiled.matcher();
        matcher.accept_bytes(b"<think>").unwrap();
        let (mut inside, mut sizes) = (0, Vec::new());
        for step in 0.. {
            let mask = matcher.mask().unwrap();
            let text = |token: TokenId| vocabulary.bytes(token).unwrap_or_default().to_vec();
            let ends = |token: TokenId| [matcher.bytes(), text(token)].concat().ends_with(b"</think>");
            sizes.push(mask.len());
            // the first allowed token that does not end the thought, counted from another place each time
            let tokens: Vec<TokenId> = mask.iter().collect();
            let place = step * 7919 % tokens.len();
            let goes_on = tokens[place..].iter().chain(&tokens[..place]).find(|&&token| !ends(token));
            let token = *goes_on.unwrap_or(&tokens[0]);
            inside += 1;
            matcher.accept_token(token).unwrap();
            if matcher.bytes().windows(8).any(|text| text == b"</think>") {
                break;
            }
        }
        assert!(inside <= 12, "{inside} tokens");
        assert!(inside > 8, "{inside} tokens");
        assert!(sizes[0] > 48_000 && sizes[sizes.len() - 1] < 100, "{sizes:?}");
        matcher.accept_bytes(b"\n{\"n\": 7}").unwrap();
        assert!(matcher.is_finished());
    }
}
