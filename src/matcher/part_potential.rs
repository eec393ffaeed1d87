//! Upper bounds on the tokens of completions where bounds of parts matter.
//!
//! A reading with an open part carries a way out of the part. The bound is the number of its tokens, and the bound of
//! the configuration after it, which is a potential (`sufficient.rs`). So it is a potential, too: it falls by one along
//! the way out, which the matcher keeps as long as it is followed, and then along the way of the configuration. A
//! budget that is at least the bound is therefore kept without a completion that is carried along.
//!
//! A configuration outside of parts, from which a part can still be entered, has such a bound only if its way to a word
//! enters none: on the way of a configuration nothing counts the tokens of a part.

use super::keys::Cursor;
use super::open_parts::BoundedReading;
use super::parts::{self, bound};
use super::state::{self, Locked, Matcher};
use super::sufficient::unless_too_large;
use crate::automaton::keys::tracker::KeyState;
use crate::automaton::{ConfigurationId, PartId};
use crate::error::Result;
use crate::mask::{Effort, PartCeiling, PartContext, PartGroups, TokenMask, WayOut};
use crate::vocabulary::TokenId;
use bitvec::vec::BitVec;
use std::sync::Arc;

/// An upper bound on the tokens of a completion that keeps the bounds of parts; `None` if none is known. Unless it
/// is 0, some token leads to a place with a lower bound.
pub(super) fn tokens_to_end(m: &mut Matcher) -> Result<Option<usize>> {
    if m.path.has_ended() {
        return Ok(Some(0));
    }
    // the bounds of readings ignore names
    if state::is_bounded(m) && !m.path.key_state().is_outside() {
        return Ok(None);
    }
    let least = parts::with_readings(m, |locked, readings| {
        let mut least: Option<usize> = None;
        for reading in readings {
            least = least.into_iter().chain(locked.bound_of(reading)?).min();
        }
        Ok(least)
    })?;
    match least {
        Some(least) => Ok(least),
        None => m.with_lock(|locked, at| locked.sufficient(locked.cursor(at))),
    }
}

/// Whether [`tokens_to_end`] is known and at most `most`.
pub(super) fn ends_within(m: &mut Matcher, most: usize) -> Result<bool> {
    Ok(unless_too_large(tokens_to_end(m))?.flatten().is_some_and(|tokens| tokens <= most))
}

/// Whether after each token that may come next such a bound is known and less than `budget`. The configurations of
/// the readings show this; false if they do not.
pub(super) fn is_ample_beside_parts(m: &mut Matcher, budget: usize) -> Result<bool> {
    if budget == 0 || !m.path.key_state().is_outside() {
        return Ok(false);
    }
    let are_ample = parts::with_readings(m, |locked, readings| {
        // beside another reading, names that a token has begun are not outside of parts
        if readings.len() > 1 && locked.compiled.automaton().has_names() {
            return Ok(false);
        }
        for reading in readings {
            if !locked.is_ample(reading, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    });
    Ok(unless_too_large(are_ample)?.flatten().unwrap_or_default())
}

impl Locked<'_> {
    fn bound_of(&mut self, reading: &BoundedReading) -> Result<Option<usize>> {
        let at = self.cache.id(reading.at)?;
        match &reading.open {
            None => self.free_potential(at),
            Some(open) => self.tokens_along(at, open.part, open.way_out.clone()),
        }
    }

    /// Whether `budget` suffices whichever token of the reading comes next, and along the way out that it carries.
    fn is_ample(&mut self, reading: &BoundedReading, budget: usize) -> Result<bool> {
        let at = self.cache.id(reading.at)?;
        if reading.open.is_none() && !self.cache.is_part_ahead(self.compiled.automaton(), at)? {
            let ceiling = self.find_ceiling(Cursor { configuration: at, key_state: KeyState::OUTSIDE })?;
            return Ok(ceiling.is_some_and(|ceiling| ceiling < budget));
        }
        let left = reading.open.as_ref().map_or(0, |open| open.left.saturating_sub(1));
        let Some(PartCeiling { inside, total }) = self.part_total(at)? else { return Ok(false) };
        if inside > left || total >= budget {
            return Ok(false);
        }
        match reading.open {
            None => Ok(true),
            Some(_) => Ok(self.bound_of(reading)?.is_some_and(|tokens| tokens <= budget)),
        }
    }

    /// The tokens of a way out of a part, and those needed after it; `None` if that is unknown. `at` is the reading
    /// where the way begins.
    fn tokens_along(
        &mut self,
        mut at: ConfigurationId,
        mut part: PartId,
        mut way: WayOut,
    ) -> Result<Option<usize>> {
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let tokens = way.tokens().len();
        while let Some(&token) = way.tokens().first() {
            let by_bytes = match vocabulary.bytes(token) {
                Some(bytes) => self.run_bytes(at, bytes)?,
                None => ConfigurationId::DEAD,
            };
            let to = self.by_token(at, by_bytes, token)?.unwrap_or(by_bytes);
            if to == ConfigurationId::DEAD {
                return Ok(None);
            }
            let readings = self.cache.readings(self.compiled.automaton(), to)?;
            if way.tokens().len() == 1 {
                let Some(end) = readings.iter().find(|reading| reading.part.is_none()) else {
                    return Ok(None);
                };
                let after = self.free_potential(end.configuration)?;
                return Ok(after.map(|after| after.saturating_add(tokens)));
            }
            let next = readings.iter().find_map(|reading| {
                let open = reading.part.filter(|open| open.is_new || open.part == part)?;
                Some((reading.configuration, open.part, way.after_next(open.part, open.is_new)?))
            });
            let Some(next) = next else { return Ok(None) };
            (at, part, way) = next;
        }
        Ok(None)
    }

    /// An upper bound on the tokens that complete the text from a configuration outside of parts, if its way to a word
    /// enters no part. Names are ignored.
    fn free_potential(&mut self, from: ConfigurationId) -> Result<Option<usize>> {
        let automaton = self.compiled.automaton();
        let Some(tokens) = self.potential(from)? else { return Ok(None) };
        if tokens == 0 || !self.cache.is_part_ahead(automaton, from)? {
            return Ok(Some(tokens));
        }
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let begin = self.cache.begin_of_way(automaton, from)?;
        let Some(way) = self.cache.way(begin, &vocabulary) else { return Ok(None) };
        let mut at = from;
        for token in way {
            at = self.run_bytes(at, vocabulary.bytes(token).unwrap_or_default())?;
            let readings = self.cache.readings(automaton, at)?;
            if !matches!(&readings[..], [only] if only.part.is_none() && only.configuration == at) {
                return Ok(None);
            }
        }
        Ok(Some(tokens))
    }

    /// What is needed to complete the text after any token that may come next in a reading; `None` if unknown. It is
    /// computed once for each reading, with the ways out that are known for any number of tokens left.
    fn part_total(&mut self, from: ConfigurationId) -> Result<Option<PartCeiling>> {
        if let Some(known) = self.cache.part_total(from) {
            return Ok(known);
        }
        let groups = self.part_groups(from)?;
        let mut most = Some(PartCeiling { inside: 0, total: 0 });
        for (to, tokens) in groups.iter() {
            let others = match tokens {
                None => self.other_tokens(from, &groups)?,
                Some(_) => Vec::new(),
            };
            let tokens = tokens.as_deref().unwrap_or(&others);
            let ceiling = self.ceiling_after(from, *to, tokens)?;
            most = most.zip(ceiling).map(|(most, after)| PartCeiling {
                inside: most.inside.max(after.inside),
                total: most.total.max(after.total),
            });
            if most.is_none() {
                break;
            }
        }
        self.cache.keep_part_total(from, most);
        Ok(most)
    }

    /// What is needed to complete the text after any of `tokens`, which lead from the reading `from` to `to`.
    fn ceiling_after(
        &mut self,
        from: ConfigurationId,
        to: ConfigurationId,
        tokens: &[TokenId],
    ) -> Result<Option<PartCeiling>> {
        let automaton = self.compiled.automaton();
        let readings = self.cache.readings(automaton, to)?;
        let mut names = 0;
        if automaton.has_names() && readings.iter().any(|reading| reading.part.is_none()) {
            let is_free = matches!(&readings[..], [only] if only.part.is_none() && only.configuration == to)
                && !self.cache.is_part_ahead(automaton, to)?;
            for &token in tokens {
                let from = Cursor { configuration: from, key_state: KeyState::OUTSIDE };
                let Some(next) = self.after_token(from, token)? else { continue };
                if next.key_state.is_outside() {
                    continue;
                }
                let Some(needed) = self.sufficient(next)?.filter(|_| is_free) else { return Ok(None) };
                names = names.max(needed);
            }
        }
        let mut least: Option<PartCeiling> = None;
        for reading in readings.iter() {
            let (inside, total) = match reading.part {
                None => (0, self.free_potential(reading.configuration)?),
                Some(part) => {
                    let compiled = self.compiled;
                    let bound = |part| bound(compiled, part);
                    let most = if part.is_new { bound(part.part) } else { usize::MAX };
                    let (automaton, index) = (compiled.automaton(), compiled.index());
                    let within = PartContext { automaton, index, bound: &bound };
                    let way = self.cache.whole_way_out(within, part.inside, most, Effort::All)?;
                    let Some(way) = way.filter(|way| way.len() <= most) else { continue };
                    let inside = if part.is_new { 0 } else { way.len() };
                    (inside, self.tokens_along(reading.configuration, part.part, WayOut::new(way))?)
                }
            };
            let Some(total) = total else { continue };
            let found = PartCeiling { inside, total: total.max(names) };
            let size = |ceiling: &PartCeiling| (ceiling.inside, ceiling.total);
            if least.is_none_or(|least| size(&found) < size(&least)) {
                least = Some(found);
            }
        }
        Ok(least)
    }

    /// The groups of the tokens that may come next in a reading; computed once.
    pub(super) fn part_groups(&mut self, from: ConfigurationId) -> Result<Arc<PartGroups>> {
        if let Some(known) = self.cache.part_groups(from) {
            return Ok(known);
        }
        let step = |locked: &mut Self, at: Cursor, _: &[u8], byte| locked.step_without_names(at, byte);
        let start = Cursor { configuration: from, key_state: KeyState::OUTSIDE };
        let trie = self.compiled.vocabulary().trie();
        let (found, _) = self.groups(trie, start, step, |_| true, usize::MAX)?;
        let vocabulary = self.compiled.vocabulary();
        let is_text = |tokens: &[TokenId]| !tokens.iter().any(|&token| vocabulary.is_eos(token));
        let texts = found.iter().enumerate().filter(|(_, alike)| is_text(&alike.tokens));
        let mut largest = texts.max_by_key(|(_, alike)| alike.tokens.len()).map(|(place, _)| place);
        let mut groups = Vec::with_capacity(found.len());
        for (place, alike) in found.into_iter().enumerate() {
            let listed = largest.take_if(|largest| *largest == place).is_none();
            groups.push((alike.at.configuration, listed.then_some(alike.tokens)));
        }
        let groups: Arc<PartGroups> = groups.into();
        self.cache.keep_part_groups(from, &groups);
        Ok(groups)
    }

    /// The tokens of a reading's mask that its groups do not list, without end-of-sequence tokens.
    pub(super) fn other_tokens(
        &mut self,
        from: ConfigurationId,
        groups: &PartGroups,
    ) -> Result<Vec<TokenId>> {
        let bits = self.other_bits(from, groups)?;
        Ok(bits.iter_ones().map(|token| TokenId::new(token as u32)).collect())
    }

    /// As [`other_tokens`](Locked::other_tokens), as bits.
    pub(super) fn other_bits(&mut self, from: ConfigurationId, groups: &PartGroups) -> Result<BitVec<u32>> {
        let index = Arc::clone(self.compiled.index());
        let plain: Arc<TokenMask> = self.cache.mask(self.compiled.automaton(), &index, from)?;
        let mut bits = plain.to_bits();
        let listed = groups.iter().flat_map(|(_, tokens)| tokens).flatten();
        for token in listed.chain(index.vocabulary().eos()) {
            bits.set(token.index(), false);
        }
        Ok(bits)
    }
}
