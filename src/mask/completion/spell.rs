//! The shortest tokenisation of a text.

use crate::vocabulary::{TokenId, Vocabulary};

/// Bytes as the fewest tokens; of equally few, each as long as it can be, and of the lowest id. `None` if no tokens
/// spell them. Tokens that end the sequence spell nothing.
pub(crate) fn fewest_tokens(vocabulary: &Vocabulary, bytes: &[u8]) -> Option<Vec<TokenId>> {
    let trie = vocabulary.trie();
    // from each place: how many tokens, the first of them and its length
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
