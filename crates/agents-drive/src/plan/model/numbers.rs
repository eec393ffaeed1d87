//! Answers that are numbers: as a grammar for constrained decoding, and as scored continuations.

use super::trie::{Closing, TokenTrie};
use crate::plan::errors;
use grammata::error::Result;
use grammata::grammar::{Grammar, GrammarBuilder};
use grammata::syntax::automaton_spec::{SymbolSet, subset};
use grammata::vocabulary::{TokenId, Vocabulary};

/// Returns the grammar of the answers to a question with `choices` choices: a number from 1, or for a set increasing
/// numbers separated by a comma and a space, or 0 for none.
///
/// # Errors
/// Limits.
pub fn answers(choices: usize, set: Option<(usize, usize)>) -> Result<Grammar> {
    let mut g = GrammarBuilder::new();
    let numbers = numbers(choices);
    let answer = match set {
        None => {
            let numbers: Vec<_> = numbers.iter().map(|number| g.text(number)).collect();
            g.choice(numbers)
        }
        Some((min, max)) => {
            let (separator, empty, aliases) = (", ".to_owned(), "0".to_owned(), Vec::new());
            let set = SymbolSet { of: numbers, separator, empty, min, max, aliases };
            subset(&set, &mut g)
        }
    };
    let root = g.declare("answer");
    g.define(root, answer);
    g.build(root)
}

fn numbers(choices: usize) -> Vec<String> {
    (1..=choices).map(|number| number.to_string()).collect()
}

/// Returns the numbers from 1 to `choices` as continuations. After a number, no token may follow that extends it to a
/// longer number up to `choices`, as 1 to 10.
///
/// # Errors
/// `plan/model`: the vocabulary cannot spell one of the numbers.
pub(super) fn trie(choices: usize, vocabulary: &Vocabulary) -> Result<TokenTrie> {
    let mut trie = TokenTrie::new();
    for number in numbers(choices) {
        let spelled = vocabulary.encode_greedy(number.as_bytes());
        let spelled = spelled.ok_or_else(|| errors::no_token_for(&number))?;
        let longer = continuations(&number, choices, vocabulary);
        let closing = if longer.is_empty() { Closing::Any } else { Closing::Unless(longer) };
        trie.insert(spelled.into_iter().map(TokenId::get), closing);
    }
    Ok(trie)
}

/// Returns the tokens that extend `number` towards a longer number from 1 to `choices`.
fn continuations(number: &str, choices: usize, vocabulary: &Vocabulary) -> Vec<TokenId> {
    let trie = vocabulary.trie();
    // the nodes of the vocabulary's trie, each with the number that it spells
    let mut open = vec![(trie.root(), number.to_owned())];
    let mut tokens: Vec<TokenId> = Vec::new();
    while let Some((node, spelled)) = open.pop() {
        for digit in b'0'..=b'9' {
            let longer = format!("{spelled}{}", char::from(digit));
            if longer.parse::<usize>().is_ok_and(|longer| longer <= choices)
                && let Some(child) = trie.child(node, digit)
            {
                tokens.extend(trie.tokens(child));
                open.push((child, longer));
            }
        }
    }
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}
