//! Tokens with quotes: tokens that can end the name of a JSON object's member, and tokens that contain a whole name.

use crate::vocabulary::trie::TokenTrie;
use crate::vocabulary::{TokenId, Vocabulary};
use rustc_hash::FxHashSet;

/// The tokens of a vocabulary that contain a quote.
#[derive(Debug)]
pub(crate) struct QuoteTokens {
    /// The trie of the tokens that contain a quote.
    pub(crate) trie: TokenTrie,
    /// Per node of `trie`, whether the quote that begins a name may be below the node.
    may_begin: Box<[bool]>,
    pub(crate) tokens: Vec<QuoteToken>,
    /// The names that a single token may contain.
    names: FxHashSet<Box<[u8]>>,
    /// Whether a token may end one name and begin another with more than its quote.
    pub(crate) has_two_key_tokens: bool,
}

/// A token that contains a quote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuoteToken {
    pub(crate) token: TokenId,
    /// Whether the token may contain a whole name.
    pub(crate) is_whole: bool,
}

impl QuoteTokens {
    pub(crate) fn new(vocabulary: &Vocabulary) -> QuoteTokens {
        let mut quoted: Vec<(&[u8], TokenId)> = vocabulary
            .tokens()
            .map(|(token, bytes)| (bytes, token))
            .filter(|(b, _)| b.contains(&b'"'))
            .collect();
        quoted.sort_unstable();
        let (mut tokens, mut names, mut has_two_key_tokens) = (Vec::new(), FxHashSet::default(), false);
        for &(bytes, token) in &quoted {
            let mut is_whole = false;
            for (open, close) in whole_names(bytes) {
                let Ok(name) = serde_json::from_slice::<String>(&bytes[open..=close]) else { continue };
                is_whole = true;
                names.insert(name.into_bytes().into());
            }
            has_two_key_tokens |= has_two_names(bytes);
            tokens.push(QuoteToken { token, is_whole });
        }
        let trie = TokenTrie::from_sorted(&quoted);
        QuoteTokens { may_begin: may_begin(&trie), trie, tokens, names, has_two_key_tokens }
    }

    /// Whether a token whose path passes through a node may begin a name, quote included, after that node.
    pub(crate) fn may_begin_name(&self, node: u32) -> bool {
        self.may_begin[node as usize]
    }

    /// Whether a single token may contain the whole name `name`, which is given decoded and without its quotes.
    pub(crate) fn may_hold(&self, name: &[u8]) -> bool {
        self.names.contains(name)
    }

    /// Bytes on the heap, approximately.
    pub(crate) fn memory_usage(&self) -> usize {
        self.trie.memory_usage()
            + self.may_begin.len()
            + self.tokens.capacity() * size_of::<QuoteToken>()
            + self.names.iter().map(|name| name.len() + 17).sum::<usize>()
    }
}

/// Whether the byte may directly precede the name of a member in JSON.
fn is_before_name(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b',' | b'{')
}

/// Per node, whether the quote that begins a name may be below the node.
fn may_begin(trie: &TokenTrie) -> Box<[bool]> {
    let mut may_begin = vec![false; trie.node_count()];
    // reverse order visits children first: they have higher numbers than their parents
    for node in (0..trie.node_count() as u32).rev() {
        let is_before = node == trie.root() || is_before_name(trie.byte(node));
        let begins = |child: u32| may_begin[child as usize] || is_before && trie.byte(child) == b'"';
        may_begin[node as usize] = trie.children(node).any(begins);
    }
    may_begin.into()
}

/// The index pairs of the quotes between which a name may be.
fn whole_names(bytes: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let begins = |&open: &usize| {
        let before = open.checked_sub(1).map(|place| bytes[place]);
        bytes[open] == b'"' && before.is_none_or(is_before_name)
    };
    (0..bytes.len()).filter(begins).filter_map(|open| {
        let mut escaped = false;
        let close = (open + 1..bytes.len()).find(|&place| {
            let ends = bytes[place] == b'"' && !escaped;
            escaped = bytes[place] == b'\\' && !escaped;
            ends
        })?;
        let after = bytes.get(close + 1);
        after.is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b':')).then_some((open, close))
    })
}

/// Whether the bytes before the last one contain a quote, a colon, a comma and a quote, in this order.
fn has_two_names(bytes: &[u8]) -> bool {
    let mut marks = b"\":,\"".iter().peekable();
    let (_, before_last) = bytes.split_last().unwrap_or((&0, &[]));
    before_last.iter().for_each(|byte| {
        marks.next_if(|mark| *mark == byte);
    });
    marks.peek().is_none()
}
