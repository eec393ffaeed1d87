//! Upper bounds on the tokens of completions.
//!
//! The bound of a place is a potential: unless it is 0, some token leads to a place with a lower bound. So a budget that
//! is at least the bound is kept by following the bounds, without a completion that is carried along. The bound of a
//! configuration is that of its way to a word, which ignores the names that were read: a name that equals one of them
//! cannot end. So before a name, and within a prefix of a name that was read, the bound counts the letters that lead to
//! where the way has no such name. Elsewhere the way has no further names: if a completion needs one, there is no bound.

use super::keys::Cursor;
use super::state::Locked;
use crate::automaton::ConfigurationId;
use crate::automaton::keys::tracker::{KeyState, KeyTracker, NamePrefix};
use crate::error::Result;
use crate::mask::{CompiledGrammar, KeptMask, unless_limited};
use crate::vocabulary::TokenId;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most places within a name that are examined for letters to a new name.
const PLACES_IN_NAME: usize = 1 << 10;

/// The result of a computation that only serves a budget, after the tables were dropped for it: `None` if it has
/// reached a limit.
pub(super) fn unless_too_large<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(error) if error.limit().is_some() => Ok(None),
        result => result.map(Some),
    }
}

impl Locked<'_> {
    /// Whether an upper bound on the tokens of a completion is known and at most `most`.
    pub(super) fn is_sufficient(&mut self, at: Cursor, most: usize) -> Result<bool> {
        Ok(self.sufficient(at)?.is_some_and(|tokens| tokens <= most))
    }

    /// An upper bound on the tokens of a completion, if known: see the [module](self). Bounds of parts are ignored.
    pub(super) fn sufficient(&mut self, at: Cursor) -> Result<Option<usize>> {
        match self.names.to_differ(at.key_state) {
            Some(name) => Ok(unless_limited(self.tokens_to_new_name(at.configuration, name))?.flatten()),
            None => self.potential(at.configuration),
        }
    }

    /// An upper bound on the tokens of a completion, regardless of the names read.
    pub(super) fn potential(&mut self, at: ConfigurationId) -> Result<Option<usize>> {
        let compiled = self.compiled;
        self.cache.potential(compiled.automaton(), compiled.sufficient(), compiled.vocabulary(), at)
    }

    /// An upper bound on the tokens of a completion from before a name (the flag is false) or within it, with the names
    /// that it must not equal: that of the configuration if its way leads to another name. Otherwise breadth first over
    /// letters, up to places from which that is so, or from which none of these names can be reached.
    fn tokens_to_new_name(
        &mut self,
        from: ConfigurationId,
        name: (bool, NamePrefix),
    ) -> Result<Option<usize>> {
        let automaton = self.compiled.automaton();
        let usable = self.compiled.sufficient().letters.bytes;
        let mut best: Option<usize> = None;
        let mut seen = FxHashSet::from_iter([(from, name)]);
        let mut open = VecDeque::from([(from, name, 0)]);
        while let Some((at, name, read)) = open.pop_front() {
            if best.is_some_and(|best| best <= read) {
                break;
            }
            let tokens = self.potential(at)?;
            if let Some(tokens) = tokens
                && self.leads_to_new_name(at, name)?
            {
                best = best.into_iter().chain([read.saturating_add(tokens)]).min();
                continue;
            }
            let mut known: Option<ConfigurationId> = None;
            for byte in self.cache.lazy(automaton).candidate_bytes(at).intersection(&usable).iter() {
                self.cache.tables.work.spend(1)?;
                let next = self.cache.lazy(automaton).step(at, byte)?;
                let after = if next == ConfigurationId::DEAD { None } else { self.name_after(name, byte) };
                let Some(after) = after else { continue };
                if self.names.is_left(after.1) {
                    if seen.len() < PLACES_IN_NAME && seen.insert((next, after)) {
                        open.push_back((next, after, read + 1));
                    }
                } else if known != Some(next) {
                    known = Some(next);
                    let tokens = self.potential(next)?.map(|tokens| tokens.saturating_add(read + 1));
                    best = best.into_iter().chain(tokens).min();
                }
            }
        }
        Ok(best)
    }

    /// The prefix of a name after one more byte, before the name (the flag is false) or within it; `None` if the byte
    /// ends a name already read or does not belong to a name.
    pub(super) fn name_after(
        &self,
        (has_begun, name): (bool, NamePrefix),
        byte: u8,
    ) -> Option<(bool, NamePrefix)> {
        match (has_begun, byte) {
            (true, _) => self.names.left_after(name, byte).map(|name| (true, name)),
            (false, b'"') => Some((true, name)),
            (false, b' ' | b'\t' | b'\n' | b'\r') => Some((false, name)),
            (false, _) => None,
        }
    }

    /// Whether the way of a configuration to a word has a name that was not read.
    fn leads_to_new_name(&mut self, at: ConfigurationId, mut name: (bool, NamePrefix)) -> Result<bool> {
        let begin = self.cache.begin_of_way(self.compiled.automaton(), at)?;
        for byte in self.cache.letters_of_way(begin).take(PLACES_IN_NAME) {
            match self.name_after(name, byte) {
                None => return Ok(false),
                Some(after) if !self.names.is_left(after.1) => return Ok(true),
                Some(after) => name = after,
            }
        }
        Ok(false)
    }

    /// Some tokens after which a completion of at most `rest` tokens is known: the first token of the way to a word,
    /// tokens of one byte, and one token of each token terminal.
    pub(super) fn letters_within(&mut self, at: Cursor, rest: usize) -> Result<Vec<TokenId>> {
        let (automaton, vocabulary) = (self.compiled.automaton(), Arc::clone(self.compiled.vocabulary()));
        let usable = self.compiled.sufficient().letters.bytes;
        let mut letters = Vec::new();
        let begin = self.cache.begin_of_way(automaton, at.configuration)?;
        let way = self.cache.way(begin, &vocabulary);
        if let Some(&first) = way.as_ref().and_then(|way| way.first())
            && let Some(next) = unless_limited(self.after_token(at, first))?.flatten()
            && self.is_sufficient(next, rest)?
        {
            letters.push(first);
        }
        for byte in self.cache.lazy(automaton).candidate_bytes(at.configuration).intersection(&usable).iter()
        {
            let next = unless_limited(self.step(at, &[], byte))?.flatten();
            if let Some(next) = next
                && self.is_sufficient(next, rest)?
            {
                letters.extend(vocabulary.spelled(&[byte]));
            }
        }
        for (terminal, next) in self.after_terminals(at)? {
            if self.is_sufficient(next, rest)? {
                let mut example = None;
                self.compiled.terminals().each(terminal, |token| {
                    example = example.or(Some(token).filter(|&token| !vocabulary.is_eos(token)));
                });
                letters.extend(example);
            }
        }
        Ok(letters)
    }

    /// An upper bound on the tokens needed after any token that may come, if the grammar shows one. It is kept if it does
    /// not depend on names.
    pub(super) fn find_ceiling(&mut self, at: Cursor) -> Result<Option<usize>> {
        let (compiled, outside) = (self.compiled, at.key_state.is_outside());
        if let Some(known) = self.cache.ceiling(at.configuration).filter(|_| outside) {
            return Ok(Some(known));
        }
        let names = letters_of_names(compiled, self.names, at.key_state);
        let Some(names) = names else { return Ok(None) };
        let sufficient = Arc::clone(compiled.sufficient());
        let ceiling = self.cache.sufficient_after_any(compiled.automaton(), &sufficient, at.configuration)?;
        let ceiling = ceiling.map(|ceiling| ceiling.saturating_add(names));
        if let Some(ceiling) = ceiling.filter(|_| outside) {
            let kept = KeptMask { holds: (ceiling, usize::MAX), mask: None };
            self.cache.keep_within(at.configuration, ceiling.saturating_add(1), kept);
        }
        Ok(ceiling)
    }
}

/// An upper bound on the letters that complete a name which must differ from all names read so far and within the next
/// token: that many tokens more suffice than [`Locked::potential`] says. 0 in grammars without names; `None` if unknown.
pub(super) fn letters_of_names(
    compiled: &CompiledGrammar,
    names: &KeyTracker,
    key_state: KeyState,
) -> Option<usize> {
    if !compiled.automaton().has_names() {
        return Some(0);
    }
    let in_token = match compiled.index().quote_tokens().has_two_key_tokens {
        true => compiled.vocabulary().longest(),
        false => 1,
    };
    let others = names.most_names(key_state).saturating_add(in_token);
    let endless = compiled.endless_names()?.max(compiled.sufficient().bounds.names);
    endless.letters(others).map(|letters| letters as usize)
}
