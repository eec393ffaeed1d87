//! What masks precompute once per vocabulary: loop languages, summaries of subtrees, tokens by kinds of characters, tokens
//! with quotes.

pub(crate) mod alphabet;
pub(crate) mod class_trie;
pub(crate) mod loops;
pub(crate) mod quote_tokens;
pub(crate) mod subtree_summary;
pub(crate) mod tuning;
pub(crate) mod utf8;

use crate::error::Result;
use crate::limits::Limits;
use crate::vocabulary::trie::check_nodes;
use crate::vocabulary::{TokenTrie, Vocabulary};
use loops::{Loops, TrieId};
use quote_tokens::QuoteTokens;
use std::sync::{Arc, OnceLock};

/// The index of one vocabulary.
#[derive(Debug)]
pub(crate) struct TokenIndex {
    vocabulary: Arc<Vocabulary>,
    loops: Loops,
    /// Made when names of objects are first distinguished.
    quotes: OnceLock<QuoteTokens>,
    /// Made when completions in tokens are first searched for.
    heights: OnceLock<Box<[u32]>>,
}

impl TokenIndex {
    /// The index of a vocabulary.
    ///
    /// # Errors
    /// The limit `trie_bytes`, before anything is made.
    pub(crate) fn new(vocabulary: Arc<Vocabulary>, limits: &Limits) -> Result<TokenIndex> {
        // the root is no prefix
        let prefixes = vocabulary.trie().node_count() - 1;
        let more = loops::nodes_at_most(&vocabulary, prefixes);
        check_nodes(prefixes.saturating_add(more), prefixes, limits)?;
        let loops = Loops::new(&vocabulary);
        Ok(TokenIndex { vocabulary, loops, quotes: OnceLock::new(), heights: OnceLock::new() })
    }

    /// The vocabulary.
    pub(crate) fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The loop languages.
    pub(crate) fn loops(&self) -> &Loops {
        &self.loops
    }

    /// The tokens with quotes.
    pub(crate) fn quote_tokens(&self) -> &QuoteTokens {
        self.quotes.get_or_init(|| QuoteTokens::new(&self.vocabulary))
    }

    /// Of each node of the trie of all tokens: how many bytes the longest way below it has.
    pub(crate) fn trie_heights(&self) -> &[u32] {
        self.heights.get_or_init(|| {
            let trie = self.vocabulary.trie();
            let mut heights = vec![0; trie.node_count()];
            for node in (0..heights.len()).rev() {
                let below = trie.children(node as u32).map(|child| heights[child as usize] + 1);
                heights[node] = below.max().unwrap_or(0);
            }
            heights.into()
        })
    }

    /// One of the tries.
    pub(crate) fn trie_of(&self, id: TrieId) -> &TokenTrie {
        match id {
            TrieId::ALL => self.vocabulary.trie(),
            _ => self.loops.trie(id).unwrap_or(self.vocabulary.trie()),
        }
    }

    /// Bytes on the heap, without the vocabulary.
    pub(crate) fn memory_usage(&self) -> usize {
        self.loops.memory_usage()
            + self.quotes.get().map_or(0, QuoteTokens::memory_usage)
            + self.heights.get().map_or(0, |heights| size_of_val(&**heights))
    }
}
