//! The tokens after which a completion within a budget is known.
//!
//! The tokens that a configuration allows are grouped by the configurations that they lead to, and how many tokens are
//! needed after each group is kept. The groups come from the partition of the residual, which grammars share, or from a
//! walk. Only tokens that lead to a name are weighed with the names read so far. Where a completion must be searched for,
//! the trie is walked with these names.

use super::keys::Cursor;
use super::promises::Lead;
use super::state::Locked;
use super::token_groups::{Alike, FAR, steps};
use crate::automaton::ConfigurationId;
use crate::automaton::keys::tracker::KeyState;
use crate::error::Result;
use crate::mask::{Effort, KeptMask, Level, Levels, TokenGroup, TokenMask, unless_limited};
use crate::vocabulary::TokenId;
use bitvec::vec::BitVec;
use std::cell::Cell;
use std::sync::Arc;

/// Once the searches of one mask have examined more places than `Limits::completion_search` times this factor, no other
/// search begins, and tokens that would need one are forbidden. After a quarter of that number, searches look
/// for shorter completions only along completions that are short in bytes.
pub(super) const SEARCHES: usize = 256;

/// Maximum number of searches per mask for completions of single tokens, in groups whose tokens may have begun
/// different names.
const SEARCHES_BY_NAMES: usize = 64;

/// The mask within a budget, and for which budgets it holds.
pub(super) struct WithinBudget {
    /// `None` if it equals the mask without a budget.
    pub(super) mask: Option<TokenMask>,
    /// The numbers of tokens after the next one for which the mask holds: the least, and the one from which on more
    /// tokens are allowed; [`usize::MAX`] if there is none.
    pub(super) holds: (usize, usize),
    /// Tokens, each with a completion after it that a later search may not find: it was found with intermediate results
    /// of this mask.
    pub(super) leads: Vec<Lead>,
    /// Whether the mask depends only on the configuration, not on names read so far, and no search was cut short.
    pub(super) is_general: bool,
}

/// Compares what tokens need with what is left after them.
struct Weighing {
    rest: usize,
    /// As [`WithinBudget::holds`].
    holds: (usize, usize),
}

impl Weighing {
    fn new(rest: usize) -> Weighing {
        Weighing { rest, holds: (0, usize::MAX) }
    }

    /// Whether tokens that need this many tokens after them are allowed.
    fn allows(&mut self, needed: usize) -> bool {
        let allowed = needed <= self.rest;
        match allowed {
            true => self.holds.0 = self.holds.0.max(needed),
            false => self.holds.1 = self.holds.1.min(needed),
        }
        allowed
    }
}

impl Locked<'_> {
    /// The mask of the tokens of `plain` after which a completion of at most `rest` tokens is known, and of the
    /// end-of-sequence tokens if the text may end.
    pub(super) fn within(&mut self, from: Cursor, plain: &TokenMask, rest: usize) -> Result<WithinBudget> {
        let id = from.configuration;
        let levels = match self.cache.take_levels(id) {
            Some(known) => known,
            None => unless_limited(self.new_levels(id))?.flatten().map(Box::new),
        };
        let Some(mut levels) = levels else {
            self.cache.keep_levels(id, None);
            return self.by_groups(from, plain, rest);
        };
        let found = self.tokens_to_names(from, plain);
        let found = found.and_then(|named| self.by_levels(from, plain, &mut levels, (&named, rest)));
        self.cache.keep_levels(id, Some(levels));
        match found? {
            Some(within) => Ok(within),
            None => self.by_groups(from, plain, rest),
        }
    }

    /// The mask within a budget of a configuration, regardless of the names read: by the bounds of configurations alone.
    /// It is kept. `None` if no bound is known after some token.
    pub(super) fn regardless_of_names(
        &mut self,
        id: ConfigurationId,
        rest: usize,
    ) -> Result<Option<KeptMask>> {
        let Some(needed) = unless_limited(self.potential(id))?.flatten() else { return Ok(None) };
        let levels = match self.cache.take_levels(id) {
            Some(known) => known,
            None => unless_limited(self.new_levels(id))?.flatten().map(Box::new),
        };
        let Some(mut levels) = levels else {
            self.cache.keep_levels(id, None);
            return Ok(None);
        };
        let compiled = self.compiled;
        let plain = self.cache.mask(compiled.automaton(), compiled.index(), id)?;
        let from = Cursor { configuration: id, key_state: KeyState::OUTSIDE };
        let found = self.by_levels(from, &plain, &mut levels, (&[], rest));
        self.cache.keep_levels(id, Some(levels));
        let Some(WithinBudget { mask, holds, .. }) = found? else { return Ok(None) };
        let kept = KeptMask { holds, mask: mask.map(Arc::new) };
        self.cache.keep_within(id, needed, kept.clone());
        Ok(Some(kept))
    }

    /// The levels of a configuration; `None` if no bound is known after some token.
    fn new_levels(&mut self, id: ConfigurationId) -> Result<Option<Levels>> {
        let compiled = self.compiled;
        let (automaton, index) = (compiled.automaton(), Arc::clone(compiled.index()));
        let vocabulary = index.vocabulary();
        let allowed = self.cache.mask(automaton, &index, id)?.to_bits();
        let (mut groups, mut listed) = (Vec::new(), Vec::new());
        let partition = self.cache.partition((automaton, &index), compiled.sufficient(), id)?;
        let Some(at) = partition else {
            let from = Cursor { configuration: id, key_state: KeyState::OUTSIDE };
            let step = |locked: &mut Self, at: Cursor, _: &[u8], byte| locked.step_without_names(at, byte);
            let wanted = |token: TokenId| allowed[token.index()];
            let (found, _) = self.groups(vocabulary.trie(), from, step, wanted, usize::MAX)?;
            for Alike { at, tokens } in found {
                let Some(needed) = self.potential(at.configuration)? else { return Ok(None) };
                listed.push((needed, tokens));
            }
            return Ok(Some(Levels { partition: None, groups, listed }));
        };
        for group in at.partition.all() {
            let bound = group.bound.zip(at.after).map(|(bound, after)| after.saturating_add(bound as usize));
            match bound {
                Some(needed) => groups.push(Level { needed, is_rough: true }),
                None if group.bound.is_none() && !at.is_exact => return Ok(None),
                None => match self.needed_after(id, group)? {
                    Some(needed) => groups.push(Level { needed, is_rough: false }),
                    None => return Ok(None),
                },
            }
        }
        for &token in at.partition.leaving.iter().filter(|token| allowed[token.index()]) {
            let mut next = id;
            for &byte in vocabulary.bytes(token).unwrap_or_default() {
                next = self.cache.lazy(automaton).step(next, byte)?;
            }
            let Some(needed) = self.potential(next)? else { return Ok(None) };
            match listed.iter_mut().find(|(known, _): &&mut (usize, Vec<TokenId>)| *known == needed) {
                Some((_, tokens)) => tokens.push(token),
                None => listed.push((needed, vec![token])),
            }
        }
        Ok(Some(Levels { partition: Some(at), groups, listed }))
    }

    /// An upper bound on the tokens needed after the tokens of a group, from the configuration that they lead to.
    fn needed_after(&mut self, from: ConfigurationId, group: &TokenGroup) -> Result<Option<usize>> {
        let mut next = from;
        for &byte in &group.text {
            next = self.cache.lazy(self.compiled.automaton()).step(next, byte)?;
        }
        if next == ConfigurationId::DEAD { Ok(None) } else { self.potential(next) }
    }

    /// The mask from the levels of the configuration; `None` if no bound is known after some token. The tokens `names`
    /// are weighed with the names read.
    fn by_levels(
        &mut self,
        from: Cursor,
        plain: &TokenMask,
        levels: &mut Levels,
        (names, rest): (&[TokenId], usize),
    ) -> Result<Option<WithinBudget>> {
        let mut weighing = Weighing::new(rest);
        let (mut named, mut is_general) = (Vec::new(), true);
        for &token in names {
            let Some(next) = unless_limited(self.after_token(from, token))?.flatten() else {
                return Ok(None);
            };
            is_general &= self.names.to_differ(next.key_state).is_none();
            let Some(needed) = unless_limited(self.sufficient(next))?.flatten() else { return Ok(None) };
            named.push((token, weighing.allows(needed)));
        }
        if levels.most() > rest
            && let Some(partition) = levels.partition().map(Arc::clone)
        {
            for (level, group) in levels.groups.iter_mut().zip(partition.all()) {
                if level.needed > rest && level.is_rough {
                    let Some(needed) =
                        unless_limited(self.needed_after(from.configuration, group))?.flatten()
                    else {
                        return Ok(None);
                    };
                    *level = Level { needed: needed.min(level.needed), is_rough: false };
                }
            }
        }
        let groups: Vec<bool> = levels.groups.iter().map(|level| weighing.allows(level.needed)).collect();
        let listed: Vec<bool> = levels.listed.iter().map(|(needed, _)| weighing.allows(*needed)).collect();
        let holds = weighing.holds;
        let all = |verdicts: &[bool]| verdicts.iter().all(|&allowed| allowed);
        if all(&groups) && all(&listed) && named.iter().all(|&(_, allowed)| allowed) {
            return Ok(Some(WithinBudget { mask: None, holds, leads: Vec::new(), is_general }));
        }
        let plain = plain.to_bits();
        let partition = levels.partition();
        let counts =
            partition.map_or((0, 0), |partition| (partition.groups.len(), partition.by_length.len()));
        let (lists, lengths) = (&groups[..counts.0], &groups[counts.0..counts.0 + counts.1]);
        // the tokens of no other group
        let others = groups.get(counts.0 + counts.1).copied().unwrap_or(true);
        let mut mask = if others { plain.clone() } else { BitVec::repeat(false, plain.len()) };
        let mut set = |place: usize, allowed: bool| mask.set(place, allowed && plain[place]);
        if let Some(partition) = partition {
            for ((_, of), &allowed) in partition.by_length.iter().zip(lengths) {
                let tokens = of.tokens(self.compiled.index()).iter().filter(|_| allowed != others);
                tokens.for_each(|&token| set(token as usize, allowed));
            }
            for ((_, tokens), &allowed) in partition.groups.iter().zip(lists) {
                tokens.iter().for_each(|token| set(token.index(), allowed));
            }
        }
        for ((_, tokens), &allowed) in levels.listed.iter().zip(&listed) {
            tokens.iter().for_each(|token| set(token.index(), allowed));
        }
        named.iter().for_each(|&(token, allowed)| set(token.index(), allowed));
        if self.cache.tables.is_accepting(from.configuration) {
            let by_id = self.tokens_by_id(from.configuration)?;
            let eos = self.compiled.vocabulary().eos().iter().filter(|end| !by_id.contains_key(end));
            eos.for_each(|token| set(token.index(), true));
        }
        let mask = Some(TokenMask::of_bits(mask));
        Ok(Some(WithinBudget { mask, holds, leads: Vec::new(), is_general }))
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

    /// Walks the trie, and weighs each group of tokens that lead to one cursor. Where no bound is known, a completion
    /// is searched for.
    fn by_groups(&mut self, from: Cursor, plain: &TokenMask, rest: usize) -> Result<WithinBudget> {
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let bits = plain.to_bits();
        let limited = Cell::new(false);
        let wanted = |token: TokenId| bits[token.index()];
        let (groups, whole) = self.groups(vocabulary.trie(), from, steps(&limited), wanted, rest)?;
        let reach = self.reach(rest);
        let most = self.compiled.automaton().limits().completion_search.saturating_mul(SEARCHES);
        let before = self.cache.places_searched();
        let (mut weighing, mut leads, mut tokens) = (Weighing::new(rest), Vec::new(), Vec::new());
        let (mut is_general, mut names, mut refused) = (whole && !limited.get(), 0, !whole || limited.get());
        let is_text = |token: &TokenId| !vocabulary.is_eos(*token);
        let since = |token: TokenId| {
            Some(token).filter(is_text).and_then(|token| vocabulary.bytes(token)).unwrap_or_default()
        };
        for Alike { at, tokens: alike } in groups {
            let Some((&first, others)) = alike.split_first() else { continue };
            is_general &= self.names.to_differ(at.key_state).is_none();
            if let Some(needed) = unless_limited(self.sufficient(at))?.flatten() {
                match weighing.allows(needed) {
                    true => tokens.extend_from_slice(&alike),
                    false => refused = true,
                }
                continue;
            }
            let least = unless_limited(self.cache.least_bytes(self.compiled.automaton(), at.configuration))?;
            if reach < FAR && least.is_none_or(|least| least > reach) {
                is_general = false;
                refused = true;
                continue;
            }
            let searched = self.cache.places_searched() - before;
            if searched > most {
                (is_general, refused) = (false, true);
                continue;
            }
            let effort = if searched <= most / 4 { Effort::All } else { Effort::Short };
            is_general &= effort == Effort::All;
            let ahead = self.ahead_within(at, since(first), rest, effort)?;
            let needed = ahead.tokens.known().unwrap_or(usize::MAX);
            // a second name may equal the unfinished name at this place
            let are_alike = ahead.names <= 1;
            is_general &= are_alike && (at.key_state.is_outside() || ahead.names == 0);
            let is_within = weighing.allows(needed);
            refused |= !is_within;
            tokens.extend(is_within.then_some(first));
            if are_alike {
                tokens.extend(others.iter().filter(|_| is_within));
                continue;
            }
            refused |= !others.is_empty();
            let mut later = None;
            if let Some(completion) = &ahead.completion {
                later = unless_limited(self.later_names(at.configuration, completion))?.flatten();
            }
            let mut found: Vec<Arc<[TokenId]>> = ahead.completion.into_iter().collect();
            for &token in others {
                // the names after an unfinished one differ from it whatever follows in it
                if let (Some(later), Some(completion)) = (&later, found.first())
                    && completion.len() <= rest
                    && self.begins_none_of(later, since(token))
                {
                    tokens.push(token);
                    leads.push((token, Arc::clone(completion)));
                    continue;
                }
                // tokens of a group may have begun different names
                let Some(at) = unless_limited(self.after_token(from, token))?.flatten() else { continue };
                let mut lead = None;
                for completion in found.iter().filter(|completion| completion.len() <= rest) {
                    let read = unless_limited(self.read_completion(at, since(token), completion))?;
                    if read.flatten().is_some() {
                        lead = Some(Arc::clone(completion));
                        break;
                    }
                }
                if lead.is_none() && names < SEARCHES_BY_NAMES {
                    names += 1;
                    lead = self.ahead_within(at, since(token), rest, Effort::Short)?.completion;
                    found.extend(lead.clone());
                }
                if let Some(lead) = lead.filter(|lead| lead.len() <= rest) {
                    tokens.push(token);
                    leads.push((token, lead));
                }
            }
        }
        let holds = weighing.holds;
        if !refused {
            return Ok(WithinBudget { mask: None, holds, leads, is_general });
        }
        if self.cache.tables.is_accepting(from.configuration) {
            // an end token that token edges take need not end the text, and was examined like any other token
            let by_id = self.tokens_by_id(from.configuration)?;
            tokens.extend(vocabulary.eos().iter().filter(|end| !by_id.contains_key(end)));
        }
        let mask = Some(TokenMask::of(&tokens, vocabulary.width()));
        Ok(WithinBudget { mask, holds, leads, is_general })
    }
}
