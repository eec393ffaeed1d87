//! The trie of tokens by the kinds of their characters.
//!
//! Of the tokens that are characters of a JSON string alone, most are distinguished only by which letters they have. Spelled
//! in kinds of characters, Llama 3.1's 123,177 of them make a trie of some 15,000 nodes: where a pattern does not tell
//! apart characters of a kind, a walk over these takes the place of one over all.

use super::alphabet::{CharKind, CharKinds, kind_of_begun, kind_of_char};
use super::subtree_summary::SubtreeSummary;
use crate::vocabulary::trie::{TokenTrie, sort_key};
use crate::vocabulary::{TokenId, Vocabulary};

/// What a character that is only begun is spelled as: so much more than its kind.
const BEGUN: u8 = 64;

/// Tokens by the kinds of their characters.
#[derive(Debug)]
pub(crate) struct ClassTrie {
    /// Of the spellings; where a spelling is that of several tokens, these are in the order of their bytes and ids.
    pub(crate) trie: TokenTrie,
    /// Per node: what is below it.
    below: Box<[SubtreeSummary]>,
}

/// The kind of a byte of a spelling.
#[inline]
pub(crate) fn kind(byte: u8) -> CharKind {
    byte % BEGUN
}

/// Adds the spelling of a token's characters; false if some have no kind.
fn spell(bytes: &[u8], spelling: &mut Vec<u8>) -> bool {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let Some(kind) = kind_of_char(c) else { return false };
            spelling.push(kind);
        }
        if !chunk.invalid().is_empty() {
            spelling.push(kind_of_begun(chunk.invalid()) + BEGUN);
        }
    }
    true
}

impl ClassTrie {
    /// The trie of some tokens, each of which is characters and at most one that is begun at its end.
    pub(crate) fn new(tokens: impl Iterator<Item = TokenId>, vocabulary: &Vocabulary) -> ClassTrie {
        let (mut spellings, mut spelled) = (Vec::new(), Vec::new());
        for token in tokens {
            let (start, bytes) = (spellings.len(), vocabulary.bytes(token).unwrap_or_default());
            match spell(bytes, &mut spellings) {
                true => {
                    let end = spellings.len();
                    spelled.push((sort_key(&spellings[start..]), start..end, bytes, token));
                }
                false => spellings.truncate(start),
            }
        }
        spelled.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| spellings[a.1.clone()].cmp(&spellings[b.1.clone()]))
                .then_with(|| (a.2, a.3).cmp(&(b.2, b.3)))
        });
        let sorted: Vec<(&[u8], TokenId)> =
            spelled.into_iter().map(|(_, spelling, _, token)| (&spellings[spelling], token)).collect();
        ClassTrie::of(TokenTrie::from_sorted(&sorted))
    }

    /// What is below the nodes of a trie of spellings.
    pub(super) fn of(trie: TokenTrie) -> ClassTrie {
        let mut below = vec![SubtreeSummary::default(); trie.node_count()];
        // children have higher numbers than their parents
        for node in (0..trie.node_count() as u32).rev() {
            for step in trie.steps(node) {
                let of_child = below[step.node as usize];
                below[node as usize].add(CharKinds::of(kind(step.byte)), of_child);
            }
        }
        ClassTrie { trie, below: below.into() }
    }

    /// What is below a node.
    #[inline]
    pub(crate) fn below(&self, node: u32) -> SubtreeSummary {
        self.below[node as usize]
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.trie.memory_usage() + size_of_val(&*self.below)
    }
}
