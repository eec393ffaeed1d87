//! Masks within budgets from the levels of configurations: how many tokens are needed after each group of tokens.
//!
//! The levels of a configuration do not depend on what was read. The names of open objects and the items of open lists
//! of different items do: tokens after which they matter are weighed one by one. Where no bound is known after some
//! tokens, their completions are searched for (`weighing.rs`).

use super::keys::Cursor;
use super::state::Locked;
use super::token_groups::Alike;
use super::weighing::{Weighing, WithinBudget};
use crate::automaton::ConfigurationId;
use crate::automaton::keys::tracker::KeyState;
use crate::error::Result;
use crate::mask::{KeptMask, Level, Levels, TokenGroup, TokenMask, unless_limited};
use crate::vocabulary::TokenId;
use bitvec::vec::BitVec;
use std::sync::Arc;

impl Locked<'_> {
    /// The mask of the tokens of `plain` after which a completion of at most `rest` tokens is known, and of the
    /// end-of-sequence tokens if the text may end.
    pub(super) fn within(&mut self, from: Cursor, plain: &TokenMask, rest: usize) -> Result<WithinBudget> {
        let at =
            match unless_limited(self.cache.lazy(self.compiled.automaton()).forgetful(from.configuration))? {
                Some(at) => at,
                None => return self.by_groups(from, plain, rest),
            };
        let stands = at != from.configuration;
        let Some(mut levels) = self.levels(at, stands)? else { return self.by_groups(from, plain, rest) };
        let tokens = self.tokens_to_names(from, plain).and_then(|mut tokens| {
            self.add_tokens_to_items((from.configuration, at), plain, &mut tokens)?;
            Ok(tokens)
        });
        let found = unless_limited(tokens).and_then(|tokens| {
            tokens.map(|tokens| self.by_levels((from, at), plain, &mut levels, (&tokens, rest))).transpose()
        });
        self.cache.keep_levels(at, Some(levels));
        let Some((within, unknown)) = found? else { return self.by_groups(from, plain, rest) };
        match unknown {
            None => Ok(within),
            Some(unknown) => {
                let found = self.by_groups(from, &TokenMask::of_bits(unknown.clone()), rest)?;
                Ok(within.with(found, unknown, plain))
            }
        }
    }

    /// The levels of a configuration, taken out of the cache; `None` if no bound is known after any token. `stands` says
    /// that it stands for others, which remember items.
    fn levels(&mut self, at: ConfigurationId, stands: bool) -> Result<Option<Box<Levels>>> {
        let levels = match self.cache.take_levels(at) {
            Some(known) => known,
            None => unless_limited(self.new_levels(at, stands))?.filter(Levels::are_known).map(Box::new),
        };
        if levels.is_none() {
            self.cache.keep_levels(at, None);
        }
        Ok(levels)
    }

    /// The mask within a budget of a configuration, regardless of the names read: by the bounds of configurations alone.
    /// It is kept. `None` if no bound is known after some token.
    pub(super) fn regardless_of_names(
        &mut self,
        id: ConfigurationId,
        rest: usize,
    ) -> Result<Option<KeptMask>> {
        let compiled = self.compiled;
        if self.cache.tables.remembers_items(id) {
            return Ok(None);
        }
        let Some(needed) = unless_limited(self.potential(id))?.flatten() else { return Ok(None) };
        let Some(mut levels) = self.levels(id, false)? else { return Ok(None) };
        let plain = self.cache.mask(compiled.automaton(), compiled.index(), id)?;
        let from = Cursor { configuration: id, key_state: KeyState::OUTSIDE };
        let found = self.by_levels((from, id), &plain, &mut levels, (&[], rest));
        self.cache.keep_levels(id, Some(levels));
        let (WithinBudget { mask, holds, .. }, unknown) = found?;
        if unknown.is_some() {
            return Ok(None);
        }
        let kept = KeptMask { holds, mask: mask.map(Arc::new) };
        self.cache.keep_within(id, needed, kept.clone());
        Ok(Some(kept))
    }

    fn new_levels(&mut self, id: ConfigurationId, stands: bool) -> Result<Levels> {
        let compiled = self.compiled;
        let (automaton, index) = (compiled.automaton(), Arc::clone(compiled.index()));
        let vocabulary = index.vocabulary();
        let allowed = self.cache.mask(automaton, &index, id)?.to_bits();
        let partition = self.cache.partition((automaton, &index), compiled.sufficient(), id)?;
        let mut levels = Levels { partition: None, groups: Vec::new(), listed: Vec::new() };
        let Some(at) = partition else {
            let from = Cursor { configuration: id, key_state: KeyState::OUTSIDE };
            let step = |locked: &mut Self, at: Cursor, _: &[u8], byte| locked.step_without_names(at, byte);
            let wanted = |token: TokenId| allowed[token.index()];
            let (found, _) = self.groups(vocabulary.trie(), from, step, wanted, usize::MAX)?;
            for Alike { at, tokens } in found {
                let needed = self.potential_of(at.configuration, stands)?;
                levels.list(needed, &tokens);
            }
            return Ok(levels);
        };
        for group in at.partition.all() {
            let bound = group.bound.zip(at.after).map(|(bound, after)| after.saturating_add(bound as usize));
            levels.groups.push(match bound {
                Some(needed) if !stands => Level { needed: Some(needed), is_rough: true },
                None if group.bound.is_none() && !at.is_exact => Level { needed: None, is_rough: false },
                _ => Level { needed: self.needed_after((id, stands), group)?, is_rough: false },
            });
        }
        for &token in at.partition.leaving.iter().filter(|token| allowed[token.index()]) {
            let mut next = id;
            for &byte in vocabulary.bytes(token).unwrap_or_default() {
                next = self.cache.lazy(automaton).step(next, byte)?;
            }
            let needed = self.potential_of(next, stands)?;
            levels.list(needed, &[token]);
        }
        Ok(Levels { partition: Some(at), ..levels })
    }

    /// An upper bound on the tokens needed after the tokens of a group, from the configuration that they lead to.
    fn needed_after(
        &mut self,
        (from, stands): (ConfigurationId, bool),
        group: &TokenGroup,
    ) -> Result<Option<usize>> {
        let mut next = from;
        for &byte in &group.text {
            next = self.cache.lazy(self.compiled.automaton()).step(next, byte)?;
        }
        self.potential_of(next, stands)
    }

    fn potential_of(&mut self, at: ConfigurationId, stands: bool) -> Result<Option<usize>> {
        let compiled = self.compiled;
        match (at.is_ordinary(), stands) {
            (false, _) => Ok(None),
            (true, false) => self.potential(at),
            (true, true) => {
                let (automaton, with) = (compiled.automaton(), compiled.sufficient());
                self.cache.forgetful_potential(automaton, with, compiled.vocabulary(), at)
            }
        }
    }

    /// The mask from the levels of a configuration, which stands for that of the cursor, and the tokens after which no
    /// bound is known, if there are any: the mask has none of them. The tokens `alone` are weighed with what was read.
    fn by_levels(
        &mut self,
        (from, at): (Cursor, ConfigurationId),
        plain: &TokenMask,
        levels: &mut Levels,
        (alone, rest): (&[TokenId], usize),
    ) -> Result<(WithinBudget, Option<BitVec<u32>>)> {
        let mut weighing = Weighing::new(rest);
        let mut is_general = true;
        let mut weighed: Vec<(TokenId, Option<bool>)> = Vec::with_capacity(alone.len());
        for &token in alone {
            let mut needed = None;
            if let Some(next) = unless_limited(self.after_token(from, token))?.flatten() {
                is_general &= self.names.to_differ(next.key_state).is_none();
                needed = unless_limited(self.sufficient(next))?.flatten();
            }
            weighed.push((token, needed.map(|needed| weighing.allows(needed))));
        }
        if let Some(partition) = levels.partition().map(Arc::clone) {
            for (level, group) in levels.groups.iter_mut().zip(partition.all()) {
                if level.is_rough && level.needed.is_some_and(|needed| needed > rest) {
                    let needed =
                        unless_limited(self.needed_after((at, at != from.configuration), group))?.flatten();
                    *level = Level { needed: level.needed.into_iter().chain(needed).min(), is_rough: false };
                }
            }
        }
        let mut weigh = |needed: Option<usize>| needed.map(|needed| weighing.allows(needed));
        let groups: Vec<Option<bool>> = levels.groups.iter().map(|level| weigh(level.needed)).collect();
        let listed: Vec<Option<bool>> = levels.listed.iter().map(|(needed, _)| weigh(*needed)).collect();
        let holds = weighing.holds;
        let mut verdicts = groups.iter().chain(&listed).chain(weighed.iter().map(|(_, verdict)| verdict));
        if verdicts.all(|&verdict| verdict == Some(true)) {
            return Ok((WithinBudget { mask: None, holds, leads: Vec::new(), is_general }, None));
        }
        let plain = plain.to_bits();
        let nothing = BitVec::repeat(false, plain.len());
        let partition = levels.partition();
        let counts =
            partition.map_or((0, 0), |partition| (partition.groups.len(), partition.by_length.len()));
        let (lists, lengths) = (&groups[..counts.0], &groups[counts.0..counts.0 + counts.1]);
        // the tokens of no other group
        let others = groups.get(counts.0 + counts.1).copied().unwrap_or(Some(true));
        let all = |wanted: bool| if wanted { plain.clone() } else { nothing.clone() };
        let (mut mask, mut unknown) = (all(others == Some(true)), all(others.is_none()));
        let mut set = |place: usize, verdict: Option<bool>| {
            mask.set(place, verdict == Some(true) && plain[place]);
            unknown.set(place, verdict.is_none() && plain[place]);
        };
        if let Some(partition) = partition {
            for ((_, of), &verdict) in partition.by_length.iter().zip(lengths) {
                let tokens = of.tokens(self.compiled.index()).iter().filter(|_| verdict != others);
                tokens.for_each(|&token| set(token as usize, verdict));
            }
            for ((_, tokens), &verdict) in partition.groups.iter().zip(lists) {
                tokens.iter().for_each(|token| set(token.index(), verdict));
            }
        }
        for ((_, tokens), &verdict) in levels.listed.iter().zip(&listed) {
            tokens.iter().for_each(|token| set(token.index(), verdict));
        }
        weighed.iter().for_each(|&(token, verdict)| set(token.index(), verdict));
        let by_id = self.tokens_by_id(from.configuration)?;
        for end in self.compiled.vocabulary().eos().iter().filter(|end| !by_id.contains_key(end)) {
            set(end.index(), Some(self.cache.tables.is_accepting(from.configuration)));
        }
        let mask = Some(TokenMask::of_bits(mask));
        Ok((
            WithinBudget { mask, holds, leads: Vec::new(), is_general },
            Some(unknown).filter(|unknown| unknown.any()),
        ))
    }

    /// Adds the tokens of a mask after which items read matter: an open item may still become an earlier one, or
    /// another item has begun.
    fn add_tokens_to_items(
        &mut self,
        (from, forgetful): (ConfigurationId, ConfigurationId),
        plain: &TokenMask,
        tokens: &mut Vec<TokenId>,
    ) -> Result<()> {
        if from == forgetful {
            return Ok(());
        }
        let compiled = self.compiled;
        let (automaton, vocabulary) = (compiled.automaton(), compiled.vocabulary());
        let mut found = plain.to_bits();
        for token in self.cache.mask(automaton, compiled.index(), forgetful)?.iter() {
            found.set(token.index(), false);
        }
        let trie = vocabulary.trie();
        let watches = self.cache.tables.watches_of(from);
        let mut open = Vec::new();
        if !watches.is_empty() {
            open.push((trie.root(), (from, forgetful), watches));
        }
        while let Some((node, (exact, forgetful), watches)) = open.pop() {
            self.cache.tables.work.spend(trie.steps(node).len())?;
            for child in trie.steps(node) {
                let mut lazy = self.cache.lazy(automaton);
                let Some(watches) = lazy.advance_watches(&watches, child.byte)? else { continue };
                let (exact, after) = (lazy.step(exact, child.byte)?, lazy.step(forgetful, child.byte)?);
                if exact == ConfigurationId::DEAD {
                    continue;
                }
                let differs = after != lazy.forgetful(exact)?;
                let tokens = if differs { trie.subtree_tokens(child.node) } else { trie.tokens(child.node) };
                tokens.iter().for_each(|token| found.set(token.index(), true));
                if !differs {
                    open.push((child.node, (exact, after), watches));
                }
            }
        }
        let is_left = |token: &TokenId| plain.contains(*token) && !vocabulary.is_eos(*token);
        tokens.extend(found.iter_ones().map(|token| TokenId::new(token as u32)).filter(is_left));
        Ok(())
    }

    /// The tokens of a mask after which a name may follow, or be continued, that must differ from names already read.
    fn tokens_to_names(&mut self, from: Cursor, plain: &TokenMask) -> Result<Vec<TokenId>> {
        let compiled = self.compiled;
        if !compiled.automaton().has_names() {
            return Ok(Vec::new());
        }
        let commas = compiled.index().with_commas();
        let is_in_string =
            from.key_state.is_outside() || from.key_state.is_in_text() || from.key_state.in_name().is_some();
        let mut tokens = match is_in_string {
            true => commas.after_quotes.to_vec(),
            false => commas.all.to_vec(),
        };
        let trie = compiled.vocabulary().trie();
        let name = self.names.to_differ(from.key_state);
        let mut open: Vec<_> = name.map(|name| (trie.root(), name)).into_iter().collect();
        while let Some((node, name)) = open.pop() {
            self.cache.tables.work.spend(trie.steps(node).len())?;
            for child in trie.steps(node) {
                let after = self.name_after(name, child.byte);
                if let Some(after) = after.filter(|after| self.names.is_left(after.1)) {
                    tokens.extend_from_slice(trie.tokens(child.node));
                    open.push((child.node, after));
                }
            }
        }
        tokens.retain(|&token| plain.contains(token) && !compiled.vocabulary().is_eos(token));
        Ok(tokens)
    }
}
