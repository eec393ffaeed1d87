//! The tokens that may come next, grouped by the configurations that they lead to.
//!
//! The trie is walked once per configuration, ignoring names read so far, and the result is kept. If names may matter,
//! only tokens with a quote or a backslash, and tokens that continue a name to a prefix of one already read, are walked
//! again. All other tokens leave the names as they are, or continue to an unused name.

use super::keys::Cursor;
use super::matcher::Locked;
use super::within::FAR;
use crate::automaton::ConfigurationId;
use crate::automaton::keys::tracker::KeyState;
use crate::error::Result;
use crate::json::string::JsonStringDecoder;
use crate::mask::{Groups, KeptGroups, TokenMask, unless_limited};
use crate::vocabulary::{TokenId, TokenTrie};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::Arc;

/// Tokens that lead to the same cursor, apart from the characters of a name that equals no prefix of one already read.
pub(super) struct Alike {
    /// The cursor after the first of the tokens.
    pub(super) at: Cursor,
    pub(super) tokens: Vec<TokenId>,
}

/// The result of a step, or `None` if it has reached a limit; then `limited` is set.
fn noted<T>(result: Result<T>, limited: &Cell<bool>) -> Result<Option<T>> {
    let result = unless_limited(result)?;
    limited.set(limited.get() || result.is_none());
    Ok(result)
}

/// Steps with the names read. Where a step reaches a limit, nothing is known about the tokens, and `limited` is set.
fn steps<'l>(
    limited: &'l Cell<bool>,
) -> impl Fn(&mut Locked<'_>, Cursor, &[u8], u8) -> Result<Option<Cursor>> + 'l {
    |locked, at, read, byte| Ok(noted(locked.step(at, read, byte), limited)?.flatten())
}

impl Locked<'_> {
    /// The tokens of a mask, grouped by the configurations that they lead to; the key states there, empty if all equal
    /// the key state of `from`; and whether the groups are complete. Tokens that clearly need more than `rest` tokens
    /// after them, and tokens whose steps reach a limit, may be missing.
    pub(super) fn kept_or_new_groups(
        &mut self,
        from: Cursor,
        plain: &TokenMask,
        rest: usize,
    ) -> Result<(Arc<Groups>, Vec<KeyState>, bool)> {
        let kept = self.cache.kept_groups(from.configuration);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.names_stay && from.key_state.is_outside()) {
            return Ok((Arc::clone(&kept.groups), Vec::new(), true));
        }
        let plain = plain.to_bits();
        let wanted = |token: TokenId| plain[token.index()];
        let trie = self.compiled.vocabulary().trie();
        let limited = Cell::new(false);
        let (found, whole) = match self.as_if_no_name_came(from, kept, &limited)? {
            Some(kept) => (self.groups_by_breaks(from, &kept, wanted, &limited)?, true),
            None => self.groups(trie, from, steps(&limited), wanted, rest)?,
        };
        let whole = whole && !limited.get();
        let key_states: Vec<KeyState> = found.iter().map(|alike| alike.at.key_state).collect();
        let groups: Arc<Groups> =
            found.into_iter().map(|Alike { at, tokens }| (at.configuration, tokens)).collect();
        let names_stay = key_states.iter().all(|&state| state == from.key_state);
        if from.key_state.is_outside() && whole {
            let kept = KeptGroups { groups: Arc::clone(&groups), names_stay };
            self.cache.keep_groups(self.compiled.automaton(), from.configuration, kept);
        }
        Ok((groups, if names_stay { Vec::new() } else { key_states }, whole))
    }

    /// The groups of a configuration ignoring names, if they can be reused; otherwise `None`. Only tokens with a quote
    /// or a backslash, and tokens that continue as a name already read, must then be walked again. `kept` are the
    /// groups kept for the configuration.
    fn as_if_no_name_came(
        &mut self,
        from: Cursor,
        kept: Option<KeptGroups>,
        limited: &Cell<bool>,
    ) -> Result<Option<Arc<Groups>>> {
        let state = from.key_state;
        let in_string =
            state.is_in_text() || state.in_name().is_some_and(|name| name.0 == JsonStringDecoder::Plain);
        if !(in_string || state.is_outside() && kept.is_some())
            || !self.tokens_by_id(from.configuration)?.is_empty()
        {
            return Ok(None);
        }
        if let Some(kept) = kept {
            return Ok(Some(kept.groups));
        }
        let step = |locked: &mut Self, at: Cursor, _: &[u8], byte| {
            Ok(noted(locked.step_without_names(at, byte), limited)?.flatten())
        };
        let anywhere = Cursor { key_state: KeyState::OUTSIDE, ..from };
        let trie = self.compiled.vocabulary().trie();
        let (found, _) = self.groups(trie, anywhere, step, |_| true, usize::MAX)?;
        let groups: Arc<Groups> =
            found.into_iter().map(|Alike { at, tokens }| (at.configuration, tokens)).collect();
        if !limited.get() {
            let kept = KeptGroups { groups: Arc::clone(&groups), names_stay: false };
            self.cache.keep_groups(self.compiled.automaton(), from.configuration, kept);
        }
        Ok(Some(groups))
    }

    /// The cursor after one more byte, with an unchanged key state; `None` if the byte is not allowed.
    pub(super) fn step_without_names(&mut self, at: Cursor, byte: u8) -> Result<Option<Cursor>> {
        let configuration = self.cache.lazy(self.compiled.automaton()).step(at.configuration, byte)?;
        Ok((configuration != ConfigurationId::DEAD).then_some(Cursor { configuration, ..at }))
    }

    /// The wanted tokens, grouped by the cursors that they lead to. `known` are the groups of the configuration
    /// ignoring names; their tokens with a quote or a backslash are walked again.
    fn groups_by_breaks(
        &mut self,
        from: Cursor,
        known: &Groups,
        wanted: impl Fn(TokenId) -> bool,
        limited: &Cell<bool>,
    ) -> Result<Vec<Alike>> {
        let compiled = self.compiled;
        let (vocabulary, breaks) = (compiled.vocabulary(), compiled.index().string_breaks());
        let (mut groups, _) = self.groups(&breaks.trie, from, steps(limited), &wanted, usize::MAX)?;
        let name = from.key_state.in_name();
        let came = name.filter(|&name| self.names.is_left(name));
        let mut places: FxHashMap<Cursor, usize> = FxHashMap::default();
        for (configuration, tokens) in known {
            let mut fresh = Vec::with_capacity(tokens.len());
            for &token in tokens.iter().filter(|&&token| !breaks.has(token) && wanted(token)) {
                let bytes = vocabulary.bytes(token).unwrap_or_default();
                if came.is_none_or(|name| self.names.is_none_left(name, bytes)) {
                    fresh.push(token);
                } else if let Some(at) = noted(self.after_token(from, token), limited)?.flatten() {
                    let place = *places.entry(at).or_insert(groups.len());
                    match groups.get_mut(place) {
                        Some(group) => group.tokens.push(token),
                        None => groups.push(Alike { at, tokens: vec![token] }),
                    }
                }
            }
            let Some(&first) = fresh.first() else { continue };
            let at = match name {
                // each token extends the name differently, so any of them may represent the group
                Some(_) => noted(self.after_token(from, first), limited)?.flatten(),
                None => Some(Cursor { configuration: *configuration, ..from }),
            };
            groups.extend(at.map(|at| Alike { at, tokens: fresh }));
        }
        Ok(groups)
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
            for child in trie.steps(node) {
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
