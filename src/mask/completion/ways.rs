//! The way from each configuration to a word, and how many tokens it takes.
//!
//! The [upper bound in letters](crate::automaton::Estimates) of a configuration falls with some letter, so following
//! such letters leads to a word. The letter depends on the configuration alone, so the ways of all configurations form a
//! tree: a configuration on the way of another has the rest of that way. The fewest tokens that spell a way are
//! therefore a *potential*: after the first of these tokens, the way takes one token less.

use crate::automaton::{ConfigurationId, Estimates, Lazy};
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::vocabulary::{TokenId, Vocabulary};

/// Ways of more letters than this are not followed: each of their letters counts as a token.
pub(in crate::mask) const MOST_LETTERS: u32 = 1 << 14;

/// In place of a number of tokens: the way was not followed, or there is none.
const UNKNOWN: u32 = u32::MAX;

/// The way of a configuration: its first letter, and the configuration after it.
#[derive(Clone, Copy, Debug)]
struct Way {
    byte: u8,
    next: ConfigurationId,
    /// The fewest tokens that spell the way; [`UNKNOWN`] until it is followed.
    tokens: u32,
}

const NOT_FOLLOWED: Way = Way { byte: 0, next: ConfigurationId::DEAD, tokens: UNKNOWN };

/// The ways of the configurations of one generation of tables.
#[derive(Debug, Default)]
pub(in crate::mask) struct Ways {
    /// By the index of the configuration.
    of: Vec<Way>,
}

/// What ways are made of: upper bounds in letters, the bytes that are letters, and the vocabulary.
pub(in crate::mask) struct Along<'a> {
    /// Whether the ways are those of forgetful configurations: each configuration on them is replaced by its forgetful
    /// one, and there is no way through a place where that one does not know what follows.
    pub(in crate::mask) forgets: bool,
    pub(in crate::mask) bounds: &'a mut Estimates,
    pub(in crate::mask) letters: &'a ByteSet,
    pub(in crate::mask) vocabulary: &'a Vocabulary,
}

impl Ways {
    /// Bytes on the heap.
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        self.of.capacity() * size_of::<Way>()
    }

    /// The fewest tokens that spell the way of a configuration, if it was followed.
    pub(in crate::mask) fn tokens_known(&self, id: ConfigurationId) -> Option<u32> {
        self.known(id).map(|way| way.tokens)
    }

    /// Whether the way of a configuration was followed to a word, and no name ends on it.
    pub(in crate::mask) fn has_no_name(&self, lazy: &Lazy<'_>, mut at: ConfigurationId) -> bool {
        while !lazy.is_accepting(at) {
            let Some(way) = self.known(at) else { return false };
            at = way.next;
            if lazy.transitions().is_named(at) {
                return false;
            }
        }
        true
    }

    fn known(&self, id: ConfigurationId) -> Option<Way> {
        self.of.get(id.index()).copied().filter(|way| way.tokens != UNKNOWN)
    }

    /// An upper bound on the tokens that lead from a configuration to a word, regardless of the names read; `None` if
    /// none is known. Unless it is 0, some token leads to a configuration with a lower bound.
    pub(in crate::mask) fn tokens(
        &mut self,
        lazy: &mut Lazy<'_>,
        mut along: Along<'_>,
        id: ConfigurationId,
    ) -> Result<Option<u32>> {
        if lazy.is_accepting(id) {
            return Ok(Some(0));
        }
        if let Some(way) = self.known(id) {
            return Ok(Some(way.tokens));
        }
        let letters = along.bounds.of(lazy, id)?;
        if letters == u32::MAX {
            return Ok(None);
        }
        // a token read by its id leads to more than its bytes do, and what is added may have another way
        if letters > MOST_LETTERS || lazy.automaton.has_terminals() {
            if along.forgets {
                return Ok(None);
            }
            // words of products may need bytes that no token spells
            return Ok(Some(letters).filter(|_| lazy.automaton.product_words().is_empty()));
        }
        let mut path = Vec::new();
        let mut at = id;
        while !lazy.is_accepting(at) && self.known(at).is_none() {
            let Some((byte, next)) = along.falling(lazy, at)? else { return Ok(None) };
            path.push((at, byte, next));
            at = next;
        }
        self.learn(&path, along.vocabulary);
        Ok(self.known(id).map(|way| way.tokens))
    }

    /// Stores the ways of the configurations on a path: each with its letter and the configuration after it. The last
    /// one leads to a known way or to a word.
    fn learn(&mut self, path: &[(ConfigurationId, u8, ConfigurationId)], vocabulary: &Vocabulary) {
        let trie = vocabulary.trie();
        // the letters of the path and of the known way after it, each with the tokens after it, last letter first
        let mut after: Vec<(u8, u32)> = Vec::new();
        let mut at = path.last().map_or(ConfigurationId::DEAD, |last| last.2);
        let mut left = self.known(at).map_or(0, |way| way.tokens);
        let end = left;
        while after.len() < vocabulary.longest() as usize
            && let Some(way) = self.known(at)
        {
            left = self.known(way.next).map_or(0, |way| way.tokens);
            after.push((way.byte, left));
            at = way.next;
        }
        after.reverse();
        let most = path.iter().map(|(at, ..)| at.index() + 1).max().unwrap_or(0);
        self.of.resize(self.of.len().max(most), NOT_FOLLOWED);
        left = end;
        for &(at, byte, next) in path.iter().rev() {
            after.push((byte, left));
            let (mut node, mut fewest) = (trie.root(), UNKNOWN);
            for &(byte, left) in after.iter().rev() {
                let Some(child) = trie.child(node, byte) else { break };
                node = child;
                let is_token = || trie.tokens(node).iter().any(|&token| !vocabulary.is_eos(token));
                if left < fewest && is_token() {
                    fewest = left;
                }
            }
            left = fewest.saturating_add(1);
            self.of[at.index()] = Way { byte, next, tokens: left };
        }
    }

    /// Whether the way of a configuration was followed, to a configuration from which nothing follows; of a residual,
    /// that is its return.
    pub(in crate::mask) fn ends(&self, lazy: &Lazy<'_>, mut at: ConfigurationId) -> bool {
        while !lazy.is_accepting(at) {
            let Some(way) = self.known(at) else { return false };
            at = way.next;
        }
        lazy.is_final(at)
    }

    /// The letters of the way of a configuration, as far as it was followed.
    pub(in crate::mask) fn letters(&self, mut at: ConfigurationId) -> impl Iterator<Item = u8> + '_ {
        std::iter::from_fn(move || {
            let way = self.known(at)?;
            at = way.next;
            Some(way.byte)
        })
    }

    /// The tokens that spell the way of a configuration: as many as [`tokens`](Ways::tokens) says. `None` if the way
    /// was not followed.
    pub(in crate::mask) fn spelled(
        &self,
        id: ConfigurationId,
        vocabulary: &Vocabulary,
    ) -> Option<Vec<TokenId>> {
        let trie = vocabulary.trie();
        let (mut tokens, mut at) = (Vec::new(), self.known(id)?);
        loop {
            let (mut node, mut way) = (trie.root(), Some(at));
            let left = loop {
                let Way { byte, next, .. } = way?;
                (node, way) = (trie.child(node, byte)?, self.known(next));
                let left = way.map_or(0, |way| way.tokens);
                let token = trie.tokens(node).iter().find(|&&token| !vocabulary.is_eos(token));
                if let Some(&token) = token.filter(|_| left < at.tokens) {
                    tokens.push(token);
                    break left;
                }
            };
            match way {
                Some(next) if left > 0 => at = next,
                _ => return Some(tokens),
            }
        }
    }
}

impl Along<'_> {
    /// The first byte by which the bound of a configuration falls, and the configuration after it; `None` if it falls
    /// with no letter. A bound in letters hardly falls by more than 1, so other letters are not tried.
    fn falling(&mut self, lazy: &mut Lazy<'_>, at: ConfigurationId) -> Result<Option<(u8, ConfigurationId)>> {
        let (bound, mut tried) = (self.bounds.of(lazy, at)?, None);
        for byte in lazy.candidate_bytes(at).intersection(self.letters).iter() {
            if tried.is_some_and(|last| byte <= last) {
                continue;
            }
            lazy.work.spend(1)?;
            let (next, last) = lazy.step_run(at, byte)?;
            tried = Some(last);
            if next.is_ordinary() && self.bounds.of(lazy, next)? < bound {
                let next = if self.forgets { self.forgotten(lazy, next, bound)? } else { Some(next) };
                return Ok(next.map(|next| (byte, next)));
            }
        }
        Ok(None)
    }

    /// The forgetful form of a configuration; `None` if what follows it depends on the items read, or its bound is not
    /// below `bound`.
    fn forgotten(
        &mut self,
        lazy: &mut Lazy<'_>,
        at: ConfigurationId,
        bound: u32,
    ) -> Result<Option<ConfigurationId>> {
        let at = lazy.forgetful(at)?;
        let is_known = !lazy.is_doubtful(at) && !lazy.may_become_unknown(at);
        Ok(if is_known && self.bounds.of(lazy, at)? < bound { Some(at) } else { None })
    }
}
