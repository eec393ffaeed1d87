//! The vocabulary builder, the only way to make a vocabulary; it makes all checks of its content.

use super::{TokenId, TokenTrie, Vocabulary, errors, fingerprint, trie};
use crate::error::{Error, Result};
use crate::limits::{LimitKind, Limits};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Collects tokens, special tokens, end-of-sequence ids and the width, and builds a [`Vocabulary`].
///
/// Tokens get the ids 0, 1, 2 and so on in the order they are pushed; an empty token is an id without bytes. A token
/// that exceeds a limit is not stored, nor is any later one; [`build`](VocabularyBuilder::build) returns the first such
/// error.
#[derive(Clone)]
pub struct VocabularyBuilder {
    limits: Limits,
    arena: Vec<u8>,
    offsets: Vec<u32>,
    specials: Vec<(TokenId, String)>,
    eos: Vec<TokenId>,
    width: Option<usize>,
    failure: Option<Error>,
}

impl fmt::Debug for VocabularyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VocabularyBuilder")
            .field("tokens", &self.offsets.len().saturating_sub(1))
            .field("specials", &self.specials.len())
            .field("eos", &self.eos)
            .finish_non_exhaustive()
    }
}

impl Default for VocabularyBuilder {
    fn default() -> VocabularyBuilder {
        VocabularyBuilder::new(&Limits::default())
    }
}

impl VocabularyBuilder {
    /// An empty builder with these limits: `token_bytes` bounds the length of each token, `vocabulary_tokens` the
    /// number of tokens and the width, `tokenizer_bytes` the total bytes of all tokens, and `trie_bytes` the token
    /// trie. Neither the width nor the total bytes can exceed 4,294,967,295.
    pub fn new(limits: &Limits) -> VocabularyBuilder {
        VocabularyBuilder {
            limits: limits.clone(),
            arena: Vec::new(),
            offsets: vec![0],
            specials: Vec::new(),
            eos: Vec::new(),
            width: None,
            failure: None,
        }
    }

    /// A builder with the default limits that contains these tokens, with ids from 0.
    pub fn from_tokens<I>(tokens: I) -> VocabularyBuilder
    where
        I: IntoIterator,
        I::Item: AsRef<[u8]>,
    {
        let mut builder = VocabularyBuilder::default();
        for token in tokens {
            builder.push(token.as_ref());
        }
        builder
    }

    /// Adds the token with the next id; empty bytes make an id without bytes. No effect after a limit was exceeded.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            match self.check_push(bytes) {
                Ok(end) => {
                    self.arena.extend_from_slice(bytes);
                    self.offsets.push(end);
                }
                Err(error) => self.failure = Some(error),
            }
        }
    }

    /// The offset in the arena at which `bytes` would end, or the error of a limit.
    fn check_push(&self, bytes: &[u8]) -> Result<u32> {
        let limits = &self.limits;
        if bytes.len() > limits.token_bytes {
            let found = format!("{} bytes in token {}", bytes.len(), self.len());
            return Err(Limits::exceeded(LimitKind::TokenBytes, limits.token_bytes, found));
        }
        if self.len() >= limits.vocabulary_tokens {
            return Err(Limits::exceeded(
                LimitKind::VocabularyTokens,
                limits.vocabulary_tokens,
                "more tokens",
            ));
        }
        let total = self.arena.len() + bytes.len();
        match u32::try_from(total) {
            Ok(end) if total <= limits.tokenizer_bytes => Ok(end),
            _ => Err(Limits::exceeded(
                LimitKind::TokenizerBytes,
                limits.tokenizer_bytes.min(u32::MAX as usize),
                format!("{total} bytes of tokens"),
            )),
        }
    }

    /// The number of tokens so far, which is the id of the next one.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether a limit was exceeded, so that further tokens are ignored.
    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Makes `id` the special token `name`; if the token with this id had bytes, it loses them.
    pub fn special(mut self, id: TokenId, name: impl Into<String>) -> VocabularyBuilder {
        self.specials.push((id, name.into()));
        self
    }

    /// Adds end-of-sequence ids. An id that is not special becomes special, with its bytes as its name, or `<|ID|>` if
    /// they are empty or not UTF-8. If another special token has that name, the name becomes `<|ID|NAME>`, repeatedly
    /// if necessary.
    pub fn eos(mut self, ids: impl IntoIterator<Item = TokenId>) -> VocabularyBuilder {
        self.eos.extend(ids);
        self
    }

    /// Replaces the end-of-sequence ids by the ids of the special tokens with names from
    /// [`EOS_NAMES`](super::eos::EOS_NAMES).
    ///
    /// # Errors
    /// `vocabulary/no-eos` if there is no such token. If a limit was exceeded or no token has bytes, [`build`] reports
    /// that instead.
    ///
    /// [`build`]: VocabularyBuilder::build
    pub(crate) fn eos_by_name(mut self) -> Result<VocabularyBuilder> {
        let known = self.specials.iter().filter(|(_, name)| super::eos::EOS_NAMES.contains(&name.as_str()));
        self.eos = known.map(|(id, _)| *id).collect();
        // an exceeded limit, or the lack of any tokens, is the better error; `build` reports it
        let whole = self.failure.is_none() && !self.arena.is_empty();
        if self.eos.is_empty() && whole { Err(errors::no_eos()) } else { Ok(self) }
    }

    /// Sets the length of the model's logits, in tokens. Default: just enough for all tokens and special tokens.
    pub fn width(mut self, width: usize) -> VocabularyBuilder {
        self.width = Some(width);
        self
    }

    /// Checks the tokens, ids, names and width, and builds the vocabulary with its token trie.
    ///
    /// # Errors
    ///
    /// `limit/exceeded` (`trie_bytes` included); `vocabulary/empty` if no ordinary token is left; `vocabulary/width` if
    /// the width is less than the number of tokens; `vocabulary/special-range` or `vocabulary/eos-range` if a special
    /// or end-of-sequence id is not below the width; `vocabulary/special-name` if a special token has an empty name;
    /// `vocabulary/special-twice` if one name has two ids, or one id two names.
    pub fn build(self) -> Result<Vocabulary> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let highest = self.specials.iter().map(|(id, _)| id.index() + 1).max().unwrap_or(0);
        let width = self.width.unwrap_or((self.offsets.len() - 1).max(highest));
        self.check_width(width)?;
        let specials = self.all_specials(width)?;
        let (arena, offsets) = without_bytes(&self.arena, &self.offsets, &specials);
        if arena.is_empty() {
            return Err(errors::empty());
        }
        let mut eos = self.eos;
        eos.sort_unstable();
        eos.dedup();
        let order = trie::order(&arena, &offsets);
        check_trie(&arena, &offsets, &order, &self.limits)?;
        let trie = TokenTrie::from_order(&arena, &offsets, &order);
        let longest = offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let mut vocabulary = Vocabulary {
            longest,
            arena: arena.into(),
            offsets: offsets.into(),
            specials: specials.into_iter().map(|(id, name)| (id, name.into())).collect(),
            eos: eos.into(),
            width,
            trie,
            fingerprint: [0; 32],
        };
        vocabulary.fingerprint = fingerprint::fingerprint(&vocabulary, vocabulary.width, &vocabulary.eos);
        Ok(vocabulary)
    }

    fn check_width(&self, width: usize) -> Result<()> {
        let cap = self.limits.vocabulary_tokens.min(u32::MAX as usize);
        if width > cap {
            return Err(Limits::exceeded(LimitKind::VocabularyTokens, cap, format!("width {width}")));
        }
        if width < self.len() {
            return Err(errors::width(width, self.len()));
        }
        if let Some(&id) = self.eos.iter().find(|id| id.index() >= width) {
            return Err(errors::eos_range(id, width));
        }
        if let Some((id, name)) = self.specials.iter().find(|(id, _)| id.index() >= width) {
            return Err(errors::special_range(name, *id, width));
        }
        Ok(())
    }

    /// All special tokens by id, including those that are special only because they end a sequence.
    fn all_specials(&self, width: usize) -> Result<BTreeMap<TokenId, String>> {
        let mut by_id: BTreeMap<TokenId, String> = BTreeMap::new();
        let mut by_name: BTreeMap<&str, TokenId> = BTreeMap::new();
        for (id, name) in &self.specials {
            if name.is_empty() {
                return Err(errors::special_name());
            }
            if let Some(first) = by_name.insert(name, *id).filter(|first| first != id) {
                return Err(errors::special_twice(name, first, *id));
            }
            match by_id.entry(*id) {
                Entry::Occupied(entry) if entry.get() != name => {
                    return Err(errors::special_twice(name, *id, *id));
                }
                Entry::Occupied(_) => {}
                Entry::Vacant(entry) => {
                    entry.insert(name.clone());
                }
            }
        }
        let mut names: BTreeSet<String> = by_name.into_keys().map(str::to_owned).collect();
        for &id in &self.eos {
            let Entry::Vacant(entry) = by_id.entry(id) else { continue };
            let text = (id.index() < width.min(self.len())).then(|| self.text(id)).flatten();
            // names of special tokens must be unique
            let mut name = text.map_or_else(|| format!("<|{id}|>"), str::to_owned);
            while !names.insert(name.clone()) {
                name = format!("<|{id}|{name}>");
            }
            entry.insert(name);
        }
        Ok(by_id)
    }

    /// The bytes of a pushed token as text; `None` if they are empty or not UTF-8, or if the id was not pushed.
    fn text(&self, id: TokenId) -> Option<&str> {
        let start = *self.offsets.get(id.index())? as usize;
        let end = *self.offsets.get(id.index() + 1)? as usize;
        std::str::from_utf8(self.arena.get(start..end)?).ok().filter(|text| !text.is_empty())
    }
}

/// Fails if the trie of the tokens would exceed `trie_bytes`; called before the trie is built.
fn check_trie(arena: &[u8], offsets: &[u32], order: &[u32], limits: &Limits) -> Result<()> {
    let nodes = trie::count_nodes(arena, offsets, order);
    trie::check_nodes(nodes, nodes, limits)
}

/// A copy of the arena and its offsets without the bytes of special tokens.
fn without_bytes(arena: &[u8], offsets: &[u32], specials: &BTreeMap<TokenId, String>) -> (Vec<u8>, Vec<u32>) {
    let mut kept = Vec::with_capacity(arena.len());
    let mut kept_offsets = Vec::with_capacity(offsets.len());
    kept_offsets.push(0);
    for (id, bounds) in offsets.windows(2).enumerate() {
        if !specials.contains_key(&TokenId::new(id as u32)) {
            kept.extend_from_slice(&arena[bounds[0] as usize..bounds[1] as usize]);
        }
        kept_offsets.push(kept.len() as u32);
    }
    (kept, kept_offsets)
}
