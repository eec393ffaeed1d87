//! End tokens that are given to matchers instead of those of the vocabulary.

use grammata::explore::ExploreBudget;
use grammata::grammar::Grammar;
use grammata::syntax::{gbnf, regex};
use grammata::vocabulary::VocabularyBuilder;
use grammata::{Compiler, ErrorKind, Matcher, TokenId};
use std::sync::Arc;

/// Returns a compiler for the tokens `a` (0), `b` (1), `ab` (2), the end (3), a stop token (4), a tool token (5),
/// `<end>` as ordinary text (6), and padding (7).
fn compiler() -> Compiler {
    let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "ab", "", "", "", "<end>"])
        .special(TokenId::new(4), "<stop>")
        .special(TokenId::new(5), "<tool>")
        .eos([TokenId::new(3)])
        .width(8)
        .build();
    Compiler::new(Arc::new(vocabulary.unwrap()))
}

fn pattern(pattern: &str) -> Grammar {
    regex::compile(pattern, &regex::Options::default()).unwrap()
}

fn notation(text: &str) -> Grammar {
    gbnf::compile(text, &gbnf::Options::default()).unwrap().grammar
}

fn ids(tokens: &[u32]) -> Vec<TokenId> {
    tokens.iter().map(|&id| TokenId::new(id)).collect()
}

fn matcher(grammar: &Grammar, ends: &[u32]) -> Matcher {
    compiler().compile(grammar).unwrap().with_end_tokens(ids(ends)).unwrap().matcher()
}

/// Returns the allowed tokens. `fill_mask`, `mask`, `with_mask` and `is_token_allowed` must agree on them.
fn allowed(matcher: &mut Matcher) -> Vec<u32> {
    let mask = matcher.mask().unwrap();
    let mut words = [u32::MAX; 2];
    matcher.fill_mask(&mut words).unwrap();
    let allowed: Vec<u32> = mask.iter().map(TokenId::get).collect();
    let filled: Vec<u32> = (0..64).filter(|id| words[*id as usize / 32] >> (id % 32) & 1 == 1).collect();
    let may_come: Vec<u32> =
        (0..8).filter(|&id| matcher.is_token_allowed(TokenId::new(id)).unwrap()).collect();
    let looked: Vec<u32> = matcher.with_mask(|mask| mask.iter().map(TokenId::get).collect()).unwrap();
    assert_eq!((&filled, &may_come, &looked), (&allowed, &allowed, &allowed));
    allowed
}

#[test]
fn given_tokens_end_a_text_and_the_vocabulary_s_do_not() {
    let mut matcher = matcher(&pattern("(ab)+"), &[4, 7, 4]);
    assert_eq!(matcher.compiled().end_tokens(), ids(&[4, 7]));
    assert_eq!(allowed(&mut matcher), [0, 2]);
    for end in [3, 4, 7] {
        assert!(!matcher.try_accept(TokenId::new(end)).unwrap(), "{end}");
    }
    matcher.accept_token(TokenId::new(2)).unwrap();
    assert_eq!(allowed(&mut matcher), [0, 2, 4, 7]);
    let error = matcher.accept_token(TokenId::new(3)).unwrap_err();
    assert_eq!(error.code(), "matcher/not-text");
    let mut fork = matcher.fork();
    fork.accept_token(TokenId::new(4)).unwrap();
    assert!(fork.is_finished() && allowed(&mut fork).is_empty());
    fork.rollback(1).unwrap();
    assert_eq!(allowed(&mut fork), [0, 2, 4, 7]);
    fork.reset();
    assert_eq!(allowed(&mut fork), [0, 2]);
    assert_eq!(allowed(&mut matcher), [0, 2, 4, 7]);
}

#[test]
fn other_matchers_of_the_grammar_keep_their_end_tokens() {
    let compiled = compiler().compile(&pattern("(ab)+")).unwrap();
    let given = compiled.with_end_tokens(ids(&[4])).unwrap();
    for (compiled, end) in [(&given, 4), (&compiled, 3), (&given, 4), (&compiled, 3)] {
        let mut matcher = compiled.matcher();
        matcher.accept_token(TokenId::new(2)).unwrap();
        assert_eq!(allowed(&mut matcher), [0, 2, end]);
    }
    // the list that was given last counts
    let both = given.with_end_tokens(ids(&[3, 5])).unwrap();
    let mut matcher = both.matcher();
    matcher.accept_bytes(b"ab").unwrap();
    assert_eq!(allowed(&mut matcher), [0, 2, 3, 5]);
}

#[test]
fn a_given_token_that_is_text_ends_a_text_and_nothing_else() {
    let compiled = compiler().compile(&pattern("(ab)+")).unwrap();
    let given = compiled.with_end_tokens(ids(&[2, 1])).unwrap();
    let mut matcher = given.matcher();
    assert_eq!(allowed(&mut matcher), [0]);
    matcher.accept_bytes(b"ab").unwrap();
    assert_eq!(allowed(&mut matcher), [0, 1, 2]);
    matcher.accept_token(TokenId::new(2)).unwrap();
    assert!(matcher.is_finished());
    assert_eq!(matcher.bytes(), b"ab");
    // token 1 now ends a text, so no token spells `b`, which is a warning
    assert_eq!(given.warnings().len(), 1);
    let mut again = given.with_end_tokens(ids(&[4])).unwrap().matcher();
    assert_eq!(allowed(&mut again), [0, 2]);
}

#[test]
fn token_terminals_take_end_tokens_that_they_list() {
    // the vocabulary's end token is listed; the given one is not
    let mut matcher = matcher(&notation(r#"root ::= "a" (<[3]> "b")?"#), &[4]);
    matcher.accept_token(TokenId::new(0)).unwrap();
    assert_eq!(allowed(&mut matcher), [3, 4]);
    matcher.accept_token(TokenId::new(3)).unwrap();
    assert!(!matcher.is_finished());
    assert_eq!(allowed(&mut matcher), [1]);
    matcher.accept_token(TokenId::new(1)).unwrap();
    assert_eq!(allowed(&mut matcher), [4]);

    // the given one is listed where the text may end and where it may not
    let mut matcher = self::matcher(&notation(r#"root ::= <[4]> "b" | "a" <[4]>"#), &[4]);
    assert_eq!(allowed(&mut matcher), [0, 4]);
    let mut fork = matcher.fork();
    fork.accept_token(TokenId::new(4)).unwrap();
    assert!(!fork.is_finished());
    matcher.accept_bytes(b"a").unwrap();
    matcher.accept_token(TokenId::new(4)).unwrap();
    assert!(matcher.is_finished() && allowed(&mut matcher).is_empty());
}

#[test]
fn sets_of_all_tokens_but_some_have_no_end_tokens() {
    let grammar = notation(r#"root ::= !<[0]>* "b""#);
    let mut plain = compiler().compile(&grammar).unwrap().matcher();
    assert_eq!(allowed(&mut plain), [1, 2, 4, 5, 6]);
    let mut matcher = matcher(&grammar, &[4]);
    assert_eq!(allowed(&mut matcher), [1, 2, 5, 6]);
    matcher.accept_token(TokenId::new(1)).unwrap();
    assert_eq!(allowed(&mut matcher), [1, 2, 4, 5, 6]);
    matcher.accept_token(TokenId::new(4)).unwrap();
    assert!(matcher.is_finished());
}

#[test]
fn budgets_and_forced_tokens_regard_given_end_tokens() {
    let compiled = compiler().compile(&notation(r#"root ::= "a" (<[4]> "b" "b" "b")?"#)).unwrap();
    let given = compiled.with_end_tokens(ids(&[4, 5])).unwrap();
    let mut matcher = given.matcher();
    assert_eq!(matcher.forced_tokens().unwrap(), ids(&[0]));
    matcher.accept_token(TokenId::new(0)).unwrap();
    // token 4 continues the text, which takes four tokens
    let within = |matcher: &mut Matcher, budget: usize| -> Vec<u32> {
        matcher.mask_within(budget).unwrap().iter().map(TokenId::get).collect()
    };
    assert_eq!(allowed(&mut matcher), [4, 5]);
    for budget in [0, 1, 3] {
        assert_eq!(within(&mut matcher, budget), [5], "{budget}");
    }
    assert_eq!(within(&mut matcher, 4), [4, 5]);
    // masks within budgets are cached for all matchers of a grammar
    let mut other = compiled.matcher();
    other.accept_token(TokenId::new(0)).unwrap();
    assert_eq!(within(&mut other, 3), [3]);
    assert_eq!(within(&mut other, 4), [3, 4]);
    assert_eq!(within(&mut matcher, 3), [5]);
}

#[test]
fn mask_files_serve_matchers_with_given_end_tokens() {
    let compiler = compiler();
    let compiled = compiler.compile(&notation(r#"root ::= ("a" <[5]>)+"#)).unwrap();
    let file = compiled.explore(&ExploreBudget::default(), &[]).unwrap();
    let given = compiler.load(file).unwrap().with_end_tokens(ids(&[5, 7])).unwrap();
    let mut matcher = given.matcher();
    assert!(matcher.is_explored());
    assert_eq!(allowed(&mut matcher), [0]);
    matcher.accept_token(TokenId::new(0)).unwrap();
    assert!(matcher.is_explored());
    assert_eq!(allowed(&mut matcher), [5]);
    matcher.accept_token(TokenId::new(5)).unwrap();
    assert!(matcher.is_finished());
}

#[test]
fn end_tokens_are_checked() {
    let compiled = compiler().compile(&pattern("a")).unwrap();
    for (tokens, code) in [(&[][..], "mask/no-end-tokens"), (&[4, 8], "mask/end-token-range")] {
        let error = compiled.with_end_tokens(ids(tokens)).unwrap_err();
        assert_eq!((error.code(), error.kind()), (code, ErrorKind::Usage));
    }
}
