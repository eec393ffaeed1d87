//! Vocabularies: token ids and their byte strings, special tokens, end-of-sequence ids, and the token trie.
//!
//! A mask allows or forbids *tokens*, and an automaton reads *bytes*; this module connects the two. The module does not
//! depend on grammars.
//!
//! - [`Vocabulary`] holds the tokens. [`VocabularyBuilder`] is its only constructor and checks it.
//! - [`Vocabulary::from_file`] reads Hugging Face `tokenizer.json` files, Mistral's `tekken.json`, SentencePiece models,
//!   tiktoken rank files and plain lists; see [`load`].
//! - [`TokenTrie`] is the prefix tree of all tokens' bytes; a vocabulary owns its own.
//!
//! # What a token is
//!
//! Each id below [`Vocabulary::width`] is one of three things:
//! - an *ordinary* token: one byte or more, not necessarily valid UTF-8. Two ids may have the same bytes.
//! - a *special* token: it has a name and never bytes, so no text that a grammar allows can spell it.
//! - *padding*: an id that the model's logits have but the tokenizer does not use. No mask allows it.
//!
//! End-of-sequence tokens are special tokens; a vocabulary may have several.
//!
//! # Example
//!
//! ```
//! use grammata::vocabulary::{TokenId, VocabularyBuilder};
//!
//! let vocabulary = VocabularyBuilder::from_tokens(["a", "b", "ab", ""])
//!     .special(TokenId::new(3), "<|end|>")
//!     .eos([TokenId::new(3)])
//!     .width(8)
//!     .build()?;
//! assert_eq!(vocabulary.bytes(TokenId::new(2)), Some(&b"ab"[..]));
//! assert_eq!(vocabulary.bytes(TokenId::new(3)), None);
//! assert_eq!(vocabulary.special(TokenId::new(3)), Some("<|end|>"));
//! assert_eq!(vocabulary.encode_greedy(b"abb"), Some(vec![TokenId::new(2), TokenId::new(1)]));
//! # Ok::<(), grammata::Error>(())
//! ```

mod builder;
mod eos;
mod errors;
mod fingerprint;
pub mod load;
mod token_id;
pub(crate) mod trie;

pub use builder::VocabularyBuilder;
pub use load::{AddedTokens, LoadOptions};
pub use token_id::TokenId;
pub use trie::TokenTrie;
pub(crate) use trie::{ChildStep, EndingTokens, Node};

use crate::error::Result;
use crate::limits::Limits;
use std::fmt;

/// The tokens of one tokenizer, as one model uses them. A vocabulary is immutable; share it in an `Arc`.
#[derive(Clone)]
pub struct Vocabulary {
    /// All tokens' bytes, in the order of their ids.
    arena: Box<[u8]>,
    /// `offsets[id]..offsets[id + 1]` are the bytes of token `id` in `arena`.
    offsets: Box<[u32]>,
    /// Special tokens, sorted by id.
    specials: Box<[(TokenId, Box<str>)]>,
    /// End-of-sequence ids, sorted, each once.
    eos: Box<[TokenId]>,
    width: usize,
    /// The number of bytes of the longest ordinary token.
    longest: u32,
    trie: TokenTrie,
    fingerprint: [u8; 32],
}

impl Vocabulary {
    /// The bytes of an ordinary token; `None` for special tokens, padding, and ids that are not below the width.
    pub fn bytes(&self, id: TokenId) -> Option<&[u8]> {
        let start = *self.offsets.get(id.index())? as usize;
        let end = *self.offsets.get(id.index() + 1)? as usize;
        self.arena.get(start..end).filter(|bytes| !bytes.is_empty())
    }

    /// The name of a special token; `None` for every other id.
    pub fn special(&self, id: TokenId) -> Option<&str> {
        let at = self.specials.binary_search_by_key(&id, |entry| entry.0).ok()?;
        self.specials.get(at).map(|entry| &*entry.1)
    }

    /// The id of the special token named `name`; `None` if there is none.
    pub fn special_id(&self, name: &str) -> Option<TokenId> {
        self.specials.iter().find(|entry| &*entry.1 == name).map(|entry| entry.0)
    }

    /// All special tokens with their names, in ascending order of ids.
    pub fn specials(&self) -> impl ExactSizeIterator<Item = (TokenId, &str)> {
        self.specials.iter().map(|(id, name)| (*id, &**name))
    }

    /// All ordinary tokens with their bytes, in ascending order of ids.
    pub fn tokens(&self) -> impl Iterator<Item = (TokenId, &[u8])> {
        (0..self.len() as u32).map(TokenId::new).filter_map(|id| Some((id, self.bytes(id)?)))
    }

    /// The end-of-sequence ids, sorted. Empty only if the builder was given none.
    pub fn eos(&self) -> &[TokenId] {
        &self.eos
    }

    /// Whether `id` is an end-of-sequence id, by binary search; false for ids that are not in the vocabulary.
    pub fn is_eos(&self, id: TokenId) -> bool {
        self.eos.binary_search(&id).is_ok()
    }

    /// The length of the model's logits, in tokens; a mask has one bit for each.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of 32-bit words of a mask: the width divided by 32, rounded up.
    pub fn mask_words(&self) -> usize {
        self.width.div_ceil(32)
    }

    /// One more than the highest id that was pushed to the builder. Ids from here up to the width are special tokens or
    /// padding.
    #[allow(clippy::len_without_is_empty)] // the builder refuses an empty vocabulary
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of bytes of the longest ordinary token.
    pub(crate) fn longest(&self) -> u32 {
        self.longest
    }

    /// The prefix tree of all ordinary tokens' bytes.
    pub fn trie(&self) -> &TokenTrie {
        &self.trie
    }

    /// SHA-256 over everything that a mask depends on: the width, each id's bytes or name, and the end-of-sequence ids.
    /// Equal vocabularies have equal fingerprints on every machine and in every version of this crate with the same
    /// serialisation version.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// The fingerprint of the same tokens with another width and other end-of-sequence ids; `eos` must be sorted.
    pub(crate) fn fingerprint_with(&self, width: usize, eos: &[TokenId]) -> [u8; 32] {
        fingerprint::fingerprint(self, width, eos)
    }

    /// The same tokens with other end-of-sequence ids. Previous end-of-sequence tokens stay special.
    ///
    /// # Errors
    /// The errors of [`VocabularyBuilder::build`].
    pub(crate) fn with_eos(
        &self,
        eos: impl IntoIterator<Item = TokenId>,
        limits: &Limits,
    ) -> Result<Vocabulary> {
        let mut builder = VocabularyBuilder::new(limits);
        let ids = (0..self.len() as u32).map(TokenId::new);
        ids.for_each(|id| builder.push(self.bytes(id).unwrap_or_default()));
        let specials = self.specials();
        let builder = specials.fold(builder, |builder, (id, name)| builder.special(id, name));
        builder.eos(eos).width(self.width).build()
    }

    /// For each byte value, whether no token is exactly that byte. Only longer tokens, if any, can produce text with a
    /// missing byte; the tokenizer itself may drop missing bytes when it encodes.
    pub fn missing_bytes(&self) -> [bool; 256] {
        std::array::from_fn(|byte| {
            let node = self.trie.child(self.trie.root(), byte as u8);
            node.is_none_or(|node| self.trie.tokens(node).is_empty())
        })
    }

    /// The ordinary tokens whose bytes are exactly `bytes`, by id; empty if there are none.
    pub(crate) fn spelled(&self, bytes: &[u8]) -> &[TokenId] {
        let mut node = self.trie.root();
        for &byte in bytes {
            match self.trie.child(node, byte) {
                Some(child) => node = child,
                None => return &[],
            }
        }
        self.trie.tokens(node)
    }

    /// Splits `bytes` into tokens, taking the longest token at each place and the lowest id among equal tokens. `None`
    /// if at some place no token is a prefix of the remaining bytes; that cannot happen if every single byte is a
    /// token.
    ///
    /// The result is not the tokenizer's own encoding (which needs its merges and pre-tokenizer), but the bytes of the
    /// tokens, concatenated, are always `bytes`.
    pub fn encode_greedy(&self, bytes: &[u8]) -> Option<Vec<TokenId>> {
        let mut tokens = Vec::with_capacity(bytes.len() / 4 + 1);
        let mut rest = bytes;
        while !rest.is_empty() {
            let (token, length) = self.trie.longest_prefix(rest)?;
            tokens.push(token);
            rest = rest.get(length..)?;
        }
        Some(tokens)
    }

    /// Memory held, in bytes, including the trie.
    pub fn memory_usage(&self) -> usize {
        let names: usize = self.specials.iter().map(|entry| size_of_val(entry) + entry.1.len()).sum();
        size_of::<Self>()
            + self.arena.len()
            + size_of_val(&*self.offsets)
            + size_of_val(&*self.eos)
            + names
            + self.trie.memory_usage()
    }
}

impl PartialEq for Vocabulary {
    fn eq(&self, other: &Vocabulary) -> bool {
        self.fingerprint == other.fingerprint
    }
}

impl Eq for Vocabulary {}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vocabulary")
            .field("tokens", &self.len())
            .field("width", &self.width)
            .field("specials", &self.specials.len())
            .field("eos", &self.eos)
            .finish_non_exhaustive()
    }
}
