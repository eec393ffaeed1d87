//! The tokens that may come next, grouped by the configurations that they lead to.

use super::keys::Cursor;
use super::state::Locked;
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::mask::unless_limited;
use crate::vocabulary::{TokenId, TokenTrie};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::Arc;

/// If the remaining tokens may have at least this many bytes, it is not checked whether their bytes suffice to reach
/// the end.
pub(super) const FAR: usize = 1 << 13;

/// The children of a node are tried one by one if they are at most this many.
const MANY_CHILDREN: usize = 8;

/// Tokens that lead to the same cursor, apart from the characters of a name that equals no prefix of one already read.
pub(super) struct Alike {
    /// The cursor after the first of the tokens.
    pub(super) at: Cursor,
    pub(super) tokens: Vec<TokenId>,
}

/// Steps with the names read. Where a step reaches a limit, nothing is known about the tokens, and `limited` is set.
pub(super) fn steps<'l>(
    limited: &'l Cell<bool>,
) -> impl Fn(&mut Locked<'_>, Cursor, &[u8], u8) -> Result<Option<Cursor>> + 'l {
    |locked, at, read, byte| {
        let next = unless_limited(locked.step(at, read, byte))?;
        limited.set(limited.get() || next.is_none());
        Ok(next.flatten())
    }
}

impl Locked<'_> {
    /// The cursor after one more byte, with an unchanged key state; `None` if the byte is not allowed.
    pub(super) fn step_without_names(&mut self, at: Cursor, byte: u8) -> Result<Option<Cursor>> {
        let configuration = self.cache.lazy(self.compiled.automaton()).step(at.configuration, byte)?;
        Ok((configuration != ConfigurationId::DEAD).then_some(Cursor { configuration, ..at }))
    }

    /// The wanted tokens of a trie, grouped by the cursors that they lead to; `step` returns the cursor after a byte
    /// that follows other bytes. May skip tokens that clearly need more than `rest` tokens after them (only valid with
    /// the trie of all tokens). Also returns whether nothing was skipped.
    pub(super) fn groups(
        &mut self,
        trie: &TokenTrie,
        at: Cursor,
        step: impl Fn(&mut Self, Cursor, &[u8], u8) -> Result<Option<Cursor>>,
        wanted: impl Fn(TokenId) -> bool,
        rest: usize,
    ) -> Result<(Vec<Alike>, bool)> {
        let index = Arc::clone(self.compiled.index());
        let vocabulary = index.vocabulary();
        let automaton = self.compiled.automaton();
        let reach = self.reach(rest);
        // outside of tracked names the groups are kept for all budgets, so no token may be skipped
        let looks_ahead = reach < FAR && !at.key_state.is_outside();
        let mut groups: Vec<Alike> = Vec::new();
        let mut places: FxHashMap<Cursor, usize> = FxHashMap::default();
        let (mut whole, mut last) = (true, None);
        let by_id = self.tokens_by_id(at.configuration)?;
        let mut texts: FxHashMap<TokenId, Cursor> = FxHashMap::default();
        let from = at;
        let (mut read, mut open) = (Vec::new(), vec![(trie.root(), at, 0usize)]);
        while let Some((node, at, depth)) = open.pop() {
            read.truncate(depth);
            if let Some(last) = read.last_mut() {
                *last = trie.byte(node);
            }
            let children = trie.steps(node);
            // the possible bytes, if they are few
            let few = match children.len() > MANY_CHILDREN {
                true => Some(self.cache.lazy(automaton).candidate_bytes(at.configuration)),
                false => None,
            };
            let few = few.filter(|few| few.len() * 4 < children.len());
            let place = |byte| children.binary_search_by_key(&byte, |child| child.byte).ok();
            let known = few.iter().flat_map(|few| few.iter()).filter_map(place);
            let all = children.iter().filter(|_| few.is_none());
            for child in known.map(|place| &children[place]).chain(all) {
                self.cache.tables.work.spend(1)?;
                let Some(next) = step(self, at, &read, child.byte)? else { continue };
                if looks_ahead {
                    let below = index.trie_heights()[child.node as usize] as usize;
                    let least = self.cache.least_bytes(automaton, next.configuration)?;
                    if below.saturating_add(reach) < least {
                        whole = false;
                        continue;
                    }
                }
                let tokens = trie.tokens(child.node);
                for &token in tokens.iter().filter(|&&token| !vocabulary.is_eos(token) && wanted(token)) {
                    if by_id.contains_key(&token) {
                        texts.insert(token, next);
                        continue;
                    }
                    let alike = Cursor { key_state: next.key_state.without_fresh_name(), ..next };
                    let place = match last {
                        Some((known, place)) if known == alike => place,
                        _ => *places.entry(alike).or_insert(groups.len()),
                    };
                    last = Some((alike, place));
                    match groups.get_mut(place) {
                        Some(group) => group.tokens.push(token),
                        None => groups.push(Alike { at: next, tokens: vec![token] }),
                    }
                }
                if !child.is_leaf {
                    open.push((child.node, next, depth + 1));
                }
            }
            read.push(0);
        }
        self.add_by_id(from, &by_id, &texts, &wanted, &mut groups)?;
        Ok((groups, whole))
    }

    /// Adds the tokens that token edges take to the groups; `texts` has the destinations of their bytes.
    fn add_by_id(
        &mut self,
        from: Cursor,
        by_id: &FxHashMap<TokenId, u64>,
        texts: &FxHashMap<TokenId, Cursor>,
        wanted: &impl Fn(TokenId) -> bool,
        groups: &mut Vec<Alike>,
    ) -> Result<()> {
        // tokens of the same terminals whose bytes lead to the same cursor form one group
        let mut places: FxHashMap<(u64, Option<Cursor>), usize> = FxHashMap::default();
        let mut tokens: Vec<(TokenId, u64)> = by_id.iter().map(|(&token, &bits)| (token, bits)).collect();
        tokens.sort_unstable();
        for (token, terminals) in tokens.into_iter().filter(|&(token, _)| wanted(token)) {
            self.cache.tables.work.spend(1)?;
            let text = texts.get(&token).copied();
            let alike = text.map(|text| Cursor { key_state: text.key_state.without_fresh_name(), ..text });
            if let Some(&place) = places.get(&(terminals, alike)).filter(|_| terminals != u64::MAX) {
                groups[place].tokens.push(token);
            } else if let Some(at) = self.by_id_too(from, text, token)? {
                places.insert((terminals, alike), groups.len());
                groups.push(Alike { at, tokens: vec![token] });
            }
        }
        Ok(())
    }
}
