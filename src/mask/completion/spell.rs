//! The shortest tokenisation of a text.

use super::With;
use crate::automaton::Letter;
use crate::vocabulary::{TokenId, Vocabulary};

/// Spells a completion with the fewest tokens; a token terminal is one token. `None` if no tokens spell it.
pub(in crate::mask) fn spelled(
    With { index, terminals }: With<'_>,
    letters: &[Letter],
) -> Option<Vec<TokenId>> {
    let vocabulary = index.vocabulary();
    let mut tokens = Vec::new();
    for part in letters.chunk_by(|a, b| a.byte().is_some() == b.byte().is_some()) {
        let bytes: Vec<u8> = part.iter().filter_map(|letter| letter.byte()).collect();
        tokens.extend(fewest_tokens(vocabulary, &bytes)?);
        for letter in part {
            if let &Letter::Token(terminal) = letter {
                tokens.push(terminals.example(terminal, vocabulary)?);
            }
        }
    }
    Some(tokens)
}

/// Spells bytes with the fewest tokens; `None` if no tokens spell them. Among equally few it prefers, from the start,
/// the longest token, then the lowest id. End-of-sequence tokens spell nothing.
fn fewest_tokens(vocabulary: &Vocabulary, bytes: &[u8]) -> Option<Vec<TokenId>> {
    let trie = vocabulary.trie();
    // per position: the number of tokens from there, the first of them and its length
    let mut best: Vec<Option<(usize, TokenId, usize)>> = vec![None; bytes.len()];
    for start in (0..bytes.len()).rev() {
        let (mut node, mut end) = (trie.root(), start);
        while let Some(child) = bytes.get(end).and_then(|&byte| trie.child(node, byte)) {
            (node, end) = (child, end + 1);
            let rest = match best.get(end) {
                None => Some(0),
                Some(rest) => rest.map(|rest| rest.0),
            };
            let token = trie.tokens(node).iter().find(|&&token| !vocabulary.is_eos(token));
            if let (Some(rest), Some(&token)) = (rest, token)
                && best[start].is_none_or(|(count, ..)| rest < count)
            {
                best[start] = Some((rest + 1, token, end - start));
            }
        }
    }
    let (mut tokens, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let (_, token, length) = best[at]?;
        tokens.push(token);
        at += length;
    }
    Some(tokens)
}
