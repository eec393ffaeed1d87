//! Masks inside the items of lists whose items must differ.
//!
//! A configuration in such a list remembers the items read, so no other configuration equals it. But its mask is nearly
//! that of the *forgetful* configuration, which does not remember items and recurs often. There are two differences.
//! - Tokens that spell an earlier item may be cut off where that item ends. They are found by walking the trie along
//!   the earlier items with the forgetful configuration. Where the open item equals an earlier one, or can become
//!   nothing else, the exact configuration is used below.
//! - For tokens that begin and end another item, the forgetful configuration is *unknown*. These tokens are tried one
//!   by one.

use super::Work;
use crate::automaton::{ConfigurationId, WatchedItem, Watches};
use crate::error::Result;
use crate::mask::token_set::TokenSet;
use crate::mask::walk::collected::{Collected, NodeBudget, Target};
use crate::token_index::loops::TrieId;
use crate::vocabulary::{TokenId, TokenTrie};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// The tokens of a forgetful configuration.
#[derive(Debug)]
pub(in crate::mask) struct ForgetfulMask {
    /// The allowed tokens.
    allowed: TokenSet,
    /// The tokens that depend on the history.
    unknown: Option<TokenTrie>,
}

impl ForgetfulMask {
    pub(in crate::mask) fn memory_usage(&self) -> usize {
        size_of::<ForgetfulMask>()
            + self.allowed.memory_usage()
            + self.unknown.as_ref().map_or(0, TokenTrie::memory_usage)
    }
}

/// Key of a subtree of the trie in which the items read do not matter: the node, the forgetful configuration there, and
/// the earlier item that the open item may become. Below the node no item ends that equals an earlier one or can become
/// nothing else. When another item is added, this still holds for all subtrees except those along the text of that
/// item, so a mask does not take longer with every item.
pub(in crate::mask) type Indifferent = (u32, ConfigurationId, WatchedItem);

/// A node of the trie whose path spells a prefix of an earlier item.
struct ItemNode {
    node: u32,
    /// Whether no position was found below the node where the items read matter.
    indifferent: bool,
    /// The index of the parent node in the list.
    before: usize,
    byte: u8,
    /// The exact configuration at the node, if it was needed.
    exact: Option<ConfigurationId>,
    forgetful: ConfigurationId,
    like: Watches,
}

/// A node of the trie of unknown tokens.
struct UnknownNode {
    node: u32,
    /// The exact configuration at the node, while it is followed.
    exact: Option<ConfigurationId>,
    forgetful: ConfigurationId,
    /// The earlier items that the item begun in the token may still become.
    beyond: Option<Watches>,
}

fn push(tokens: &[TokenId], done: &FxHashSet<u32>, allowed: &mut TokenSet) {
    let tokens = tokens.iter().map(|token| token.get());
    tokens.filter(|token| !done.contains(token)).for_each(|token| allowed.push(token));
}

/// Records that the items read matter below a node, and therefore below its ancestors.
fn matter(places: &mut [ItemNode], mut at: usize) {
    while std::mem::take(&mut places[at].indifferent) {
        at = places[at].before;
    }
}

impl Work<'_> {
    /// The tokens of a configuration that remembers items.
    pub(in crate::mask) fn remembering(&mut self, configuration: ConfigurationId) -> Result<TokenSet> {
        let forgetful = self.walk.lazy.forgetful(configuration)?;
        let base = self.forgetful(forgetful)?;
        let (removed, added) = self.differences(configuration, forgetful)?;
        let mut allowed = base.allowed.clone();
        allowed.remove(&removed, self.walk.vocabulary.width(), self.marks);
        allowed.unite(added);
        if let Some(trie) = &base.unknown {
            let done: FxHashSet<u32> = removed.iter().copied().collect();
            self.unknown((trie, &done), configuration, forgetful, &mut allowed)?;
        }
        Ok(allowed)
    }

    /// The tokens to remove from those of the forgetful configuration because an open item equals an earlier one, and
    /// the tokens to add.
    fn differences(
        &mut self,
        configuration: ConfigurationId,
        forgetful: ConfigurationId,
    ) -> Result<(Vec<u32>, TokenSet)> {
        let trie = self.walk.vocabulary.trie();
        let mut removed = Vec::new();
        let mut added = Collected::new(Target::Whole, NodeBudget::UNLIMITED);
        let like = self.walk.lazy.watches_of(configuration);
        if like.is_empty() {
            return Ok((removed, added.tokens));
        }
        let exact = Some(configuration);
        let mut places = vec![ItemNode {
            node: trie.root(),
            indifferent: true,
            before: 0,
            byte: 0,
            exact,
            forgetful,
            like,
        }];
        let mut at = 0;
        while at < places.len() {
            self.walk.lazy.work.spend(trie.steps(places[at].node).len())?;
            for child in trie.steps(places[at].node) {
                let forgetful = self.walk.step(places[at].forgetful, child.byte)?;
                if forgetful == ConfigurationId::DEAD {
                    continue;
                }
                let Some(like) = self.walk.lazy.advance_watches(&places[at].like, child.byte)? else {
                    continue;
                };
                let mut exact = None;
                if forgetful == ConfigurationId::UNKNOWN || self.walk.lazy.is_decisive(&like)? {
                    matter(&mut places, at);
                    let before = self.exact(&mut places, at)?;
                    let next = self.walk.step(before, child.byte)?;
                    if forgetful == ConfigurationId::UNKNOWN || self.walk.lazy.forgetful(next)? != forgetful {
                        removed.extend(trie.subtree_tokens(child.node).iter().map(|token| token.get()));
                        self.walk.run_below(TrieId::ALL, child.node, next, &mut added)?;
                        continue;
                    }
                    exact = Some(next);
                }
                let (node, byte) = (child.node, child.byte);
                let known = like.only().map(|item| (node, forgetful, item));
                if !child.is_leaf && !known.is_some_and(|known| self.records.is_indifferent(&known)) {
                    places.push(ItemNode {
                        node,
                        indifferent: true,
                        before: at,
                        byte,
                        exact,
                        forgetful,
                        like,
                    });
                }
            }
            at += 1;
        }
        let indifferent = places.iter().filter(|place| place.indifferent);
        let known = indifferent.filter_map(|place| Some((place.node, place.forgetful, place.like.only()?)));
        self.records.keep_indifferent(known);
        self.resolve_entered(&mut added)?;
        Ok((removed, added.tokens))
    }

    /// The exact configuration at a node, computed along the path from the nearest ancestor where it is known.
    fn exact(&mut self, places: &mut [ItemNode], at: usize) -> Result<ConfigurationId> {
        let mut path = Vec::new();
        let mut place = at;
        let mut exact = loop {
            match places[place].exact {
                Some(known) => break known,
                None => path.push(place),
            }
            place = places[place].before;
        };
        while let Some(place) = path.pop() {
            exact = self.walk.step(exact, places[place].byte)?;
            places[place].exact = Some(exact);
        }
        Ok(exact)
    }

    /// Adds the allowed tokens of a trie that are not in `done`, for tokens that are unknown to the forgetful
    /// configuration. Up to the position where another item begins, the exact configuration is followed; from there on,
    /// the forgetful configuration of that position.
    fn unknown(
        &mut self,
        (trie, done): (&TokenTrie, &FxHashSet<u32>),
        configuration: ConfigurationId,
        forgetful: ConfigurationId,
        allowed: &mut TokenSet,
    ) -> Result<()> {
        let mut open =
            vec![UnknownNode { node: trie.root(), exact: Some(configuration), forgetful, beyond: None }];
        while let Some(UnknownNode { node, exact, forgetful, beyond }) = open.pop() {
            self.walk.lazy.work.spend(trie.steps(node).len())?;
            for child in trie.steps(node) {
                let after = self.walk.step(forgetful, child.byte)?;
                if after == ConfigurationId::DEAD {
                    continue;
                }
                let alike = match &beyond {
                    Some(like) => Some(self.walk.lazy.advance_watches(like, child.byte)?),
                    None => None,
                };
                let is_alike = alike.as_ref().is_none_or(Option::is_some);
                let is_unknown = after == ConfigurationId::UNKNOWN;
                let Some(exact) = exact.filter(|_| is_unknown || is_alike) else {
                    if is_unknown {
                        for token in trie.subtree_tokens(child.node).iter().map(|token| token.get()) {
                            if !done.contains(&token) && self.leads_on(configuration, token)? {
                                allowed.push(token);
                            }
                        }
                    } else {
                        push(trie.tokens(child.node), done, allowed);
                        open.push(UnknownNode {
                            node: child.node,
                            exact: None,
                            forgetful: after,
                            beyond: None,
                        });
                    }
                    continue;
                };
                let next = self.walk.step(exact, child.byte)?;
                if next == ConfigurationId::DEAD {
                    continue;
                }
                push(trie.tokens(child.node), done, allowed);
                let node = child.node;
                let forgetful = self.walk.lazy.forgetful(next)?;
                let beyond = match (is_unknown, alike) {
                    (true, _) if self.walk.lazy.is_history_dependent(next) => {
                        Some(self.walk.lazy.watches_of(next))
                    }
                    (_, alike) => alike.flatten(),
                };
                open.push(UnknownNode { node, exact: Some(next), forgetful, beyond });
            }
        }
        Ok(())
    }

    /// The tokens of a forgetful configuration, computed at the first visit.
    fn forgetful(&mut self, configuration: ConfigurationId) -> Result<Arc<ForgetfulMask>> {
        if let Some(known) = self.records.forgetful(configuration) {
            return Ok(known);
        }
        let Collected { tokens: mut allowed, mut unknown, .. } = self.allowed(configuration)?;
        allowed.compact(self.walk.vocabulary.width());
        unknown.sort_unstable();
        unknown.dedup();
        let bytes = |token: u32| self.walk.vocabulary.bytes(TokenId::new(token)).unwrap_or_default();
        let mut unknown: Vec<_> =
            unknown.into_iter().map(|token| (bytes(token), TokenId::new(token))).collect();
        unknown.sort_unstable();
        let unknown = (!unknown.is_empty()).then(|| TokenTrie::from_sorted(&unknown));
        let forgetful = Arc::new(ForgetfulMask { allowed, unknown });
        self.records.keep_forgetful(configuration, Arc::clone(&forgetful));
        Ok(forgetful)
    }

    /// Whether a token is allowed, tested byte by byte.
    fn leads_on(&mut self, configuration: ConfigurationId, token: u32) -> Result<bool> {
        let mut at = configuration;
        self.walk.lazy.work.spend(1)?;
        for &byte in self.walk.vocabulary.bytes(TokenId::new(token)).unwrap_or_default() {
            at = self.walk.step(at, byte)?;
            if at == ConfigurationId::DEAD {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
