//! Data about a vocabulary that its masks share: loop languages, summaries of subtrees and tokens by kinds of
//! characters, which are computed first; tokens with quotes, incomplete tokens and heights, computed on first use.

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
use crate::vocabulary::{TokenId, TokenTrie, Vocabulary};
use loops::{Loops, TrieId};
use quote_tokens::QuoteTokens;
use sha2::{Digest, Sha256};
use std::sync::{Arc, OnceLock};

/// The version of the serialised index. The version changes with the set of loops and with the data stored for loops.
const VERSION: u32 = 1;

/// The length of a digest in bytes.
const DIGEST: usize = 32;

/// SHA-256 of the vocabulary's fingerprint and the content of an index. The digest detects damaged bytes and bytes of
/// another vocabulary.
fn digest(vocabulary: &Vocabulary, content: &[u8]) -> [u8; DIGEST] {
    Sha256::new().chain_update(vocabulary.fingerprint()).chain_update(content).finalize().into()
}

/// The tokens with commas: only these lead from within a member of an object to the name of another member.
#[derive(Debug)]
pub(crate) struct WithCommas {
    pub(crate) all: Box<[TokenId]>,
    /// Those with a comma after a quote.
    pub(crate) after_quotes: Box<[TokenId]>,
}

impl WithCommas {
    fn memory_usage(&self) -> usize {
        size_of_val(&*self.all) + size_of_val(&*self.after_quotes)
    }
}

/// The index of one vocabulary.
#[derive(Debug)]
pub(crate) struct TokenIndex {
    vocabulary: Arc<Vocabulary>,
    loops: Loops,
    /// Computed on the first call of `quote_tokens`, when a grammar is compiled in which names of objects must be
    /// compared.
    quotes: OnceLock<QuoteTokens>,
    /// Computed on the first call of `incomplete`, by masks within a budget.
    incomplete: OnceLock<Box<[TokenId]>>,
    /// Computed on the first call of `with_commas`, by masks within a budget.
    commas: OnceLock<WithCommas>,
    /// Computed on the first call of `trie_heights`, by searches in tokens.
    heights: OnceLock<Box<[u32]>>,
}

impl TokenIndex {
    /// Computes the loops of a vocabulary. The other tables are computed on first use.
    ///
    /// # Errors
    /// The limit `trie_bytes`, checked before anything is built.
    pub(crate) fn new(vocabulary: Arc<Vocabulary>, limits: &Limits) -> Result<TokenIndex> {
        // the root is not counted as a prefix
        let prefixes = vocabulary.trie().node_count() - 1;
        let more = loops::nodes_at_most(&vocabulary, prefixes);
        check_nodes(prefixes.saturating_add(more), prefixes, limits)?;
        let loops = Loops::new(&vocabulary);
        Ok(TokenIndex {
            vocabulary,
            loops,
            quotes: OnceLock::new(),
            incomplete: OnceLock::new(),
            commas: OnceLock::new(),
            heights: OnceLock::new(),
        })
    }

    /// Serialises the index: a [digest], a version, and the words of the loops. `None` for vocabularies with a token of
    /// 65,535 bytes or more, or with an id of 2,147,483,648 or more.
    pub(crate) fn to_bytes(&self) -> Option<Vec<u8>> {
        let words = self.loops.to_words()?;
        let words = std::iter::once(&VERSION).chain(&words).flat_map(|word| word.to_le_bytes());
        let content: Vec<u8> = words.collect();
        Some([&digest(&self.vocabulary, &content)[..], &content].concat())
    }

    /// Reads an index; `None` if the bytes are not an index of the vocabulary.
    ///
    /// # Errors
    /// The limit `trie_bytes`, checked before any trie is built.
    pub(crate) fn from_bytes(
        bytes: &[u8],
        vocabulary: Arc<Vocabulary>,
        limits: &Limits,
    ) -> Result<Option<TokenIndex>> {
        let content = bytes.split_at_checked(DIGEST);
        let Some((_, content)) = content.filter(|(found, content)| *found == digest(&vocabulary, content))
        else {
            return Ok(None);
        };
        let (words, []) = content.as_chunks::<4>() else { return Ok(None) };
        let Some((version, words)) = words.split_first() else { return Ok(None) };
        if u32::from_le_bytes(*version) != VERSION {
            return Ok(None);
        }
        let Some(nodes) = Loops::nodes_of_words(words) else { return Ok(None) };
        let prefixes = vocabulary.trie().node_count() - 1;
        // check the limit before building anything
        check_nodes(prefixes.saturating_add(nodes), prefixes, limits)?;
        let Some(loops) = Loops::from_words(words, &vocabulary) else { return Ok(None) };
        Ok(Some(TokenIndex {
            vocabulary,
            loops,
            quotes: OnceLock::new(),
            incomplete: OnceLock::new(),
            commas: OnceLock::new(),
            heights: OnceLock::new(),
        }))
    }

    pub(crate) fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The loop languages and the tables computed with them.
    pub(crate) fn loops(&self) -> &Loops {
        &self.loops
    }

    pub(crate) fn quote_tokens(&self) -> &QuoteTokens {
        self.quotes.get_or_init(|| QuoteTokens::new(&self.vocabulary))
    }

    /// The tokens that end inside a character of UTF-8.
    pub(crate) fn incomplete(&self) -> &[TokenId] {
        self.incomplete.get_or_init(|| {
            let tokens = self.vocabulary.tokens();
            tokens.filter(|(_, bytes)| utf8::ends_inside(bytes)).map(|(token, _)| token).collect()
        })
    }

    /// The tokens with commas.
    pub(crate) fn with_commas(&self) -> &WithCommas {
        self.commas.get_or_init(|| {
            let tokens = || self.vocabulary.tokens().filter(|(_, bytes)| bytes.contains(&b','));
            let after_quote = |bytes: &[u8]| {
                let quote = bytes.iter().position(|&byte| byte == b'"');
                quote.is_some_and(|quote| bytes[quote..].contains(&b','))
            };
            let quoted = tokens().filter(|(_, bytes)| after_quote(bytes));
            WithCommas {
                all: tokens().map(|(token, _)| token).collect(),
                after_quotes: quoted.map(|(token, _)| token).collect(),
            }
        })
    }

    /// Per node of the trie of all tokens, the length in bytes of the longest path below it.
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

    /// The trie with the id `id`. An id that does not exist gives the trie of all tokens.
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
            + self.incomplete.get().map_or(0, |tokens| size_of_val(&**tokens))
            + self.commas.get().map_or(0, WithCommas::memory_usage)
            + self.heights.get().map_or(0, |heights| size_of_val(&**heights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::VocabularyBuilder;

    /// A forged index with a valid digest.
    fn index(vocabulary: &Vocabulary, words: &[u32]) -> Vec<u8> {
        let content: Vec<u8> =
            std::iter::once(&VERSION).chain(words).flat_map(|word| word.to_le_bytes()).collect();
        [&digest(vocabulary, &content)[..], &content].concat()
    }

    #[test]
    fn tries_of_a_forged_index_are_charged_before_they_are_made() {
        let vocabulary = Arc::new(VocabularyBuilder::from_tokens(["a", "b", "ab"]).build().unwrap());
        let read = |words: &[u32], limits: &Limits| {
            TokenIndex::from_bytes(&index(&vocabulary, words), Arc::clone(&vocabulary), limits)
        };
        let limits = Limits::default();
        // a million tries of a root alone: twelve bytes each in the file, more than a kilobyte each in memory
        let many: Vec<u32> = [1_000_000].into_iter().chain([1, 0, 0].repeat(1_000_000)).collect();
        assert!(read(&many, &limits).unwrap().is_none());
        // one trie of a million nodes: 39 MB
        let large: Vec<u32> =
            [1, 1_000_000].into_iter().chain((0..1_000_001).map(|_| 0)).chain([1, 0, 0]).collect();
        let error = read(&large, &limits.clone().trie_bytes(30 << 20)).unwrap_err();
        assert_eq!(error.limit(), Some(crate::limits::LimitKind::TrieBytes));
        assert!(read(&large, &limits).unwrap().is_none());
        let good = TokenIndex::new(Arc::clone(&vocabulary), &limits).unwrap().to_bytes().unwrap();
        assert!(TokenIndex::from_bytes(&good, Arc::clone(&vocabulary), &limits).unwrap().is_some());
    }
}
