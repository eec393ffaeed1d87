//! Forced tokens by the rule of XGrammar: the longest that fit, without a last one that a longer token extends.

use grammata::syntax::{gbnf, regex};
use grammata::vocabulary::{Vocabulary, VocabularyBuilder};
use grammata::{Compiler, Matcher, TokenId};
use std::sync::Arc;

fn vocabulary(tokens: &[&str]) -> Arc<Vocabulary> {
    let end = TokenId::new(tokens.len() as u32);
    let built =
        VocabularyBuilder::from_tokens(tokens.iter().copied()).eos([end]).width(tokens.len() + 1).build();
    Arc::new(built.unwrap())
}

fn matcher(tokens: &[&str], pattern: &str) -> Matcher {
    let grammar = regex::compile(pattern, &regex::Options::default()).unwrap();
    Compiler::new(vocabulary(tokens)).compile(&grammar).unwrap().matcher()
}

fn found(matcher: &mut Matcher) -> Vec<u32> {
    matcher.greedy_forced_tokens().unwrap().into_iter().map(TokenId::get).collect()
}

#[test]
fn the_last_token_is_held_back_if_a_longer_one_begins_with_it() {
    let cases: [(&[&str], &str, &[u32]); 12] = [
        (&["no", "w"], "now[!?]", &[0, 1]),
        // that the longer token does not fit does not matter
        (&["no", "w", "wx"], "now[!?]", &[0]),
        (&["now", "nowhere"], "now", &[]),
        (&["n", "no", "now", "!"], "now!", &[2, 3]),
        // only the last token is held back
        (&["n", "no", "ow", "w", "wz"], "now", &[1]),
        // a gap ends the list
        (&["no", "!"], "now!", &[0]),
        (&["no", "now!", "e"], "nowe", &[]),
        (&["o"], "no", &[]),
        (&["n", "o"], "[no]", &[]),
        (&["n"], "n*", &[]),
        (&["n", "n"], "no", &[0]),
        (&["é"], "é", &[0]),
    ];
    for (tokens, pattern, expected) in cases {
        assert_eq!(found(&mut matcher(tokens, pattern)), expected, "{tokens:?} {pattern}");
    }
}

#[test]
fn end_tokens_and_token_terminals_are_no_text() {
    let tokens = ["n", "n", "no"];
    let grammar = regex::compile("n", &regex::Options::default()).unwrap();
    let compiled = Compiler::new(vocabulary(&tokens)).compile(&grammar).unwrap();
    assert!(found(&mut compiled.matcher()).is_empty());
    let given = compiled.with_end_tokens([TokenId::new(0), TokenId::new(2)]).unwrap();
    assert_eq!(found(&mut given.matcher()), [1]);
    let terminal = gbnf::compile("root ::= \"n\" <[2]> \"o\"", &gbnf::Options::default()).unwrap().grammar;
    let compiled = Compiler::new(vocabulary(&["n", "o", "x"])).compile(&terminal).unwrap();
    let mut matcher = compiled.matcher();
    assert_eq!(found(&mut matcher), [0]);
    matcher.accept_token(TokenId::new(0)).unwrap();
    assert!(found(&mut matcher).is_empty());
    matcher.accept_token(TokenId::new(2)).unwrap();
    assert_eq!(found(&mut matcher), [1]);
}

/// The rule applied to the forced bytes without the trie. Every token is allowed where it stands.
#[test]
fn random_words_are_split_as_the_rule_says() {
    let mut some = 0;
    crate::random::each(300, 200, |draw| {
        let word = |draw: &mut grammata_testing::generate::Choices<'_>, most: usize| -> String {
            (0..1 + draw.below(most)).map(|_| *draw.pick(&['a', 'b', 'c'])).collect()
        };
        let tokens: Vec<String> = (0..1 + draw.below(8)).map(|_| word(draw, 3)).collect();
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let (prefix, ends) = (word(draw, 8), [word(draw, 3), word(draw, 3)]);
        let mut matcher = matcher(&tokens, &format!("{prefix}({})", ends.join("|")));
        let forced = String::from_utf8(matcher.forced_bytes().unwrap()).unwrap();
        let (mut expected, mut rest) = (Vec::new(), &forced[..]);
        while let Some(id) = (0..tokens.len()).filter(|&id| rest.starts_with(tokens[id])).max_by_key(|&id| {
            // the lowest id of equal tokens
            (tokens[id].len(), usize::MAX - id)
        }) {
            expected.push(id as u32);
            rest = &rest[tokens[id].len()..];
        }
        if let Some(&last) = expected.last() {
            let last = tokens[last as usize];
            if tokens.iter().any(|token| token.len() > last.len() && token.starts_with(last)) {
                expected.pop();
            }
        }
        assert_eq!(found(&mut matcher), expected, "{tokens:?} {forced}");
        some += usize::from(!expected.is_empty());
        for id in expected {
            assert!(matcher.is_token_allowed(TokenId::new(id)).unwrap());
            matcher.accept_token(TokenId::new(id)).unwrap();
        }
    });
    assert!(some > 20, "{some}");
}
