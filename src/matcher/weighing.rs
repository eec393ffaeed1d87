//! The tokens after which a search finds a completion within a budget.
//!
//! Searches serve tokens after which no bound is known (`levels.rs`). The trie is walked with the names read so far, and
//! the tokens are grouped by the cursors that they lead to.

use super::keys::Cursor;
use super::promises::Lead;
use super::state::Locked;
use super::token_groups::{Alike, FAR, steps};
use crate::error::Result;
use crate::mask::{Effort, TokenMask, unless_limited};
use crate::vocabulary::{TokenId, TokenTrie};
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

/// A trie of their own is made for tokens that are at most this fraction of the vocabulary.
const FEW: usize = 8;

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

impl WithinBudget {
    /// Adds the tokens that a search found among those after which no bound was known, `searched`.
    pub(super) fn with(self, found: WithinBudget, searched: BitVec<u32>, plain: &TokenMask) -> WithinBudget {
        let mut mask = self.mask.map_or_else(|| plain.to_bits(), |mask| mask.to_bits());
        mask |= found.mask.map_or(searched, |mask| mask.to_bits());
        let mask = TokenMask::of_bits(mask);
        WithinBudget {
            mask: (mask.len() < plain.len()).then_some(mask),
            holds: (self.holds.0.max(found.holds.0), self.holds.1.min(found.holds.1)),
            leads: found.leads,
            is_general: self.is_general && found.is_general,
        }
    }
}

/// Compares what tokens need with what is left after them.
pub(super) struct Weighing {
    rest: usize,
    /// As [`WithinBudget::holds`].
    pub(super) holds: (usize, usize),
}

impl Weighing {
    pub(super) fn new(rest: usize) -> Weighing {
        Weighing { rest, holds: (0, usize::MAX) }
    }

    /// Whether tokens that need this many tokens after them are allowed.
    pub(super) fn allows(&mut self, needed: usize) -> bool {
        let allowed = needed <= self.rest;
        match allowed {
            true => self.holds.0 = self.holds.0.max(needed),
            false => self.holds.1 = self.holds.1.min(needed),
        }
        allowed
    }
}

impl Locked<'_> {
    /// As [`within`](Locked::within), by searching: walks the trie, and weighs each group of tokens of `plain` that lead
    /// to one cursor. Where no bound is known, a completion is searched for.
    pub(super) fn by_groups(&mut self, from: Cursor, plain: &TokenMask, rest: usize) -> Result<WithinBudget> {
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let bits = plain.to_bits();
        let limited = Cell::new(false);
        let wanted = |token: TokenId| bits[token.index()];
        let (groups, whole) = match plain.len() * FEW <= vocabulary.len() {
            true => {
                let with_bytes = |token| Some((vocabulary.bytes(token)?, token));
                let mut few: Vec<(&[u8], TokenId)> = plain.iter().filter_map(with_bytes).collect();
                few.sort_unstable();
                let trie = TokenTrie::from_sorted(&few);
                self.groups(&trie, from, steps(&limited), wanted, usize::MAX)?
            }
            false => self.groups(vocabulary.trie(), from, steps(&limited), wanted, rest)?,
        };
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
