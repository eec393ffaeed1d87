//! Parts of the grammar that are bounded in tokens.
//!
//! The stacks of a configuration show which parts are open; the tokens left for them are counted here, separately. A
//! text may be read in several ways, so the count is kept per *reading*: a configuration whose stacks all have the same
//! part open, or none. A token counts for the part in which it begins. A reading with an open part is followed only if
//! a way out of the part is known that needs no more tokens than are left. The way out is carried along, because a
//! search after one of its tokens may not find the rest. So if all readings of a text have an open part, the text can
//! still leave such a part in time. Readings of one configuration are merged, with the largest number of tokens left.
//!
//! Once no part is open and none can follow, the mask is the one without bounds, at the same cost.

use super::open_parts::{BoundedPart, BoundedReading, Parts, StepReadings};
use super::state::{self, Locked, Matcher};
use super::weighing::SEARCHES;
use crate::automaton::{ConfigurationId, OpenPart, PartId};
use crate::error::Result;
use crate::grammar::Expression;
use crate::mask::{CompiledGrammar, Effort, PartContext, TokenMask, WayOut};
use crate::vocabulary::TokenId;
use crate::work::Budget;
use bitvec::vec::BitVec;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The next piece of a text: bytes that are read as text, and a token that token edges may take.
#[derive(Clone, Copy)]
struct Next<'a> {
    bytes: Option<&'a [u8]>,
    token: Option<TokenId>,
}

/// Calls `work` with the readings of the text so far, if bounds of parts matter. Otherwise, and after the end,
/// returns `None`.
pub(super) fn with_readings<R>(
    m: &mut Matcher,
    mut work: impl FnMut(&mut Locked<'_>, &[BoundedReading]) -> Result<R>,
) -> Result<Option<R>> {
    if !state::is_bounded(m) || m.path.has_ended() {
        return Ok(None);
    }
    let last = m.parts.last.clone();
    let (node, result) = m.with_lock(|locked, at| {
        let node = locked.node(at, last.clone())?;
        let result = node.readings.as_ref().map(|readings| work(locked, readings)).transpose()?;
        Ok((node, result))
    })?;
    m.parts.last = Some(node);
    Ok(result)
}

/// The mask of the tokens after which some reading continues, ignoring names read so far. `None` if no bounds
/// matter.
pub(super) fn bounded_mask(m: &mut Matcher) -> Result<Option<Arc<TokenMask>>> {
    with_readings(m, |locked, readings| locked.mask_of(readings))
}

/// Accepts a token, or bytes as one step, by calling `step`, if some reading continues with it. Otherwise an
/// end-of-sequence token is accepted if the text may end. If no bounds matter, and after the end, only `step`
/// decides. Returns whether the step was accepted.
pub(super) fn step_bounded(
    m: &mut Matcher,
    bytes: Option<&[u8]>,
    token: Option<TokenId>,
    step: impl FnOnce(&mut Matcher) -> Result<bool>,
) -> Result<bool> {
    let after = with_readings(m, |locked, readings| locked.after(readings, Next { bytes, token }))?;
    let Some(after) = after else { return step(m) };
    if after.is_empty() {
        let is_eos = token.is_some_and(|token| m.compiled.is_end(token));
        return Ok(is_eos && state::accept_end(m));
    }
    if !step(m)? {
        return Ok(false);
    }
    match m.with_lock(|locked, at| locked.are_free(&after, at)) {
        Ok(is_free) => {
            m.parts.push(m.path.step_count(), (!is_free).then_some(after));
            Ok(true)
        }
        Err(error) => {
            // on an error the matcher must not have moved
            m.path.pop(1);
            Err(error)
        }
    }
}

impl Locked<'_> {
    /// The readings after the last step of the path, which led to `at`. `last` is the latest known node; its readings
    /// may be of dropped tables.
    fn node(
        &mut self,
        at: ConfigurationId,
        mut last: Option<Arc<StepReadings>>,
    ) -> Result<Arc<StepReadings>> {
        let is_known = |node: &StepReadings, locked: &Locked<'_>| match &node.readings {
            Some(readings) => readings.iter().all(|reading| locked.cache.has(reading.at)),
            None => true,
        };
        while let Some(node) = last.take_if(|node| !is_known(node, self)) {
            last = node.before.clone();
        }
        let steps = self.path.step_count();
        if let Some(node) = &last
            && (node.steps == steps || node.readings.is_none())
        {
            return Ok(Arc::clone(node));
        }
        let known = last.as_ref().map_or(0, |node| node.steps);
        let work = Budget::of_steps(self.compiled.automaton().limits(), steps.saturating_sub(known));
        let work = std::mem::replace(&mut self.cache.tables.work, work);
        let made = self.made_again(at, last);
        self.cache.tables.work = work;
        made
    }

    fn made_again(
        &mut self,
        at: ConfigurationId,
        last: Option<Arc<StepReadings>>,
    ) -> Result<Arc<StepReadings>> {
        let mut parts = Parts { last };
        if parts.last.is_none() {
            let start = self.cache.start(self.compiled.automaton())?;
            let start = self.cache.id(start)?;
            let mut readings = Vec::new();
            self.add_readings(start, None, Next { bytes: None, token: None }, &mut readings)?;
            parts.push(0, Some(readings));
        }
        let known = parts.last.as_ref().map_or(0, |node| node.steps);
        for (place, (bytes, way)) in (known + 1..).zip(self.path.steps_after(known)) {
            let next = Next { bytes: way.is_text().then_some(&*bytes), token: way.token() };
            let before = parts.last.clone();
            let readings = before.as_ref().and_then(|node| node.readings.as_deref()).unwrap_or_default();
            // each step had its own budget of search work when it was first accepted
            self.cache.renew_search_work();
            let after = self.after(readings, next)?;
            parts.push(place, Some(after));
        }
        let last = parts.last.take();
        let last = last.unwrap_or_else(|| Arc::new(StepReadings { steps: 0, readings: None, before: None }));
        match &last.readings {
            Some(readings) if self.are_free(readings, at)? => {
                Ok(Arc::new(StepReadings { steps: last.steps, readings: None, before: last.before.clone() }))
            }
            _ => Ok(last),
        }
    }

    /// Whether the only reading is the whole configuration `at`, and no part is open or can follow.
    fn are_free(&mut self, readings: &[BoundedReading], at: ConfigurationId) -> Result<bool> {
        match readings {
            [BoundedReading { at: only, open: None }]
                if self.cache.has(*only) && self.cache.id(*only)? == at =>
            {
                Ok(!self.cache.is_part_ahead(self.compiled.automaton(), at)?)
            }
            _ => Ok(false),
        }
    }

    /// The readings after the next piece of the text; empty if no reading continues.
    fn after(&mut self, readings: &[BoundedReading], next: Next<'_>) -> Result<Vec<BoundedReading>> {
        if next.token.is_none() && next.bytes.is_none_or(|bytes| bytes.is_empty()) {
            return Ok(readings.to_vec());
        }
        let mut after = Vec::new();
        for reading in readings {
            let at = self.cache.id(reading.at)?;
            let by_bytes = match next.bytes {
                Some(bytes) => self.run_bytes(at, bytes)?,
                None => ConfigurationId::DEAD,
            };
            let to = match next.token {
                Some(token) => self.by_token(at, by_bytes, token)?.unwrap_or(by_bytes),
                None => by_bytes,
            };
            if to != ConfigurationId::DEAD {
                self.add_readings(to, reading.open.as_ref(), next, &mut after)?;
            }
        }
        Ok(after)
    }

    /// The configuration after bytes, ignoring names; [`ConfigurationId::DEAD`] if the bytes are not allowed.
    pub(super) fn run_bytes(&mut self, mut at: ConfigurationId, bytes: &[u8]) -> Result<ConfigurationId> {
        let automaton = self.compiled.automaton();
        for &byte in bytes {
            at = self.cache.lazy(automaton).step(at, byte)?;
            if at == ConfigurationId::DEAD {
                break;
            }
        }
        Ok(at)
    }

    /// The configuration after a token, if token edges take it; otherwise `None`. `by_bytes` is the configuration after
    /// the token's bytes, or [`ConfigurationId::DEAD`].
    pub(super) fn by_token(
        &mut self,
        at: ConfigurationId,
        by_bytes: ConfigurationId,
        token: TokenId,
    ) -> Result<Option<ConfigurationId>> {
        let automaton = self.compiled.automaton();
        if !automaton.has_terminals() {
            return Ok(None);
        }
        let by_bytes = (by_bytes != ConfigurationId::DEAD).then(|| self.cache.located(by_bytes));
        let taken = self.cache.step_token(automaton, self.cache.located(at), by_bytes, token)?;
        taken.map(|taken| self.cache.id(taken)).transpose()
    }

    /// Adds the readings of configuration `to`, reached by `next` from a reading whose open part was `before`. Leaves
    /// out readings with an open part that no known way leaves in time.
    fn add_readings(
        &mut self,
        to: ConfigurationId,
        before: Option<&BoundedPart>,
        next: Next<'_>,
        readings: &mut Vec<BoundedReading>,
    ) -> Result<()> {
        for reading in self.cache.readings(self.compiled.automaton(), to)?.iter() {
            let open = match reading.part {
                None => None,
                Some(part) => {
                    let left = match before.filter(|_| !part.is_new) {
                        Some(before) => before.left.saturating_sub(1),
                        None => bound(self.compiled, part.part),
                    };
                    let followed = before.filter(|open| self.follows(open, next));
                    let kept = followed.and_then(|open| open.way_out.after_next(part.part, part.is_new));
                    let way_out = match kept.filter(|way| way.tokens_inside() <= left) {
                        Some(way) => Some(way),
                        None => self.way_out((reading.configuration, part), left, Effort::All)?,
                    };
                    let Some(way_out) = way_out else { continue };
                    Some(BoundedPart { part: part.part, left, way_out })
                }
            };
            let at = self.cache.located(reading.configuration);
            match readings.iter_mut().find(|known| known.at == at) {
                None => readings.push(BoundedReading { at, open }),
                Some(known) => {
                    // both readings have the same configuration, so the way out of one is valid for the other
                    if let (Some(known), Some(open)) = (&mut known.open, open) {
                        known.left = known.left.max(open.left);
                        let size = |way: &WayOut| (way.tokens_inside(), way.tokens().len());
                        if size(&open.way_out) < size(&known.way_out) {
                            known.way_out = open.way_out;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the next piece of text is the next token of the way out of a part.
    fn follows(&self, open: &BoundedPart, next: Next<'_>) -> bool {
        let Some(&token) = open.way_left().first() else { return false };
        let same_bytes = next.bytes.is_some() && next.bytes == self.compiled.vocabulary().bytes(token);
        next.token == Some(token) || same_bytes && !self.compiled.automaton().has_terminals()
    }

    /// A known way out of the part of a reading, with at most `most` tokens inside the part.
    fn way_out(
        &mut self,
        reading: (ConfigurationId, OpenPart),
        most: usize,
        effort: Effort,
    ) -> Result<Option<WayOut>> {
        let (automaton, index) = (self.compiled.automaton(), self.compiled.index());
        let bound = |part| bound(self.compiled, part);
        self.cache.way_out(PartContext { automaton, index, bound: &bound }, reading, most, effort)
    }

    /// The number of tokens of a completion from inside a part to its end, searched for with `effort` and regardless of
    /// the bound; `None` if none is found.
    fn longer_way(&mut self, inside: ConfigurationId, effort: Effort) -> Result<Option<usize>> {
        let (automaton, index) = (self.compiled.automaton(), self.compiled.index());
        let known = self.cache.completion(automaton, index, inside, effort)?;
        Ok(known.completions(effort).next().map(|way| way.len()))
    }

    fn mask_of(&mut self, readings: &[BoundedReading]) -> Result<Arc<TokenMask>> {
        let (automaton, index) = (self.compiled.automaton(), Arc::clone(self.compiled.index()));
        let mut masks = Vec::with_capacity(readings.len());
        for reading in readings {
            let at = self.cache.id(reading.at)?;
            let rest = reading.open.as_ref().map_or(0, |open| open.left.saturating_sub(1));
            let plain = self.cache.mask(automaton, &index, at)?;
            let is_plain = reading.open.is_none() && !self.cache.is_part_ahead(automaton, at)?
                || self.cache.part_ceiling(at).is_some_and(|ceiling| ceiling <= rest);
            if is_plain {
                masks.push(plain);
                continue;
            }
            let (mut tokens, ceiling) = self.tokens_within(at, rest)?;
            if let Some(ceiling) = ceiling {
                self.cache.keep_part_ceiling(at, ceiling);
                if ceiling <= rest {
                    masks.push(plain);
                    continue;
                }
            }
            let next = reading.open.as_ref().and_then(|open| open.way_left().first());
            let ends = index.vocabulary().eos().iter().filter(|_| reading.at.is_accepting());
            next.into_iter().chain(ends).for_each(|token| tokens.set(token.index(), true));
            masks.push(Arc::new(TokenMask::of_bits(tokens)));
        }
        if let [only] = &masks[..] {
            return Ok(Arc::clone(only));
        }
        let width = index.vocabulary().width();
        let (mut all, mut words) = (vec![0u32; width.div_ceil(32)], vec![0u32; width.div_ceil(32)]);
        for mask in masks {
            mask.write_to(&mut words)?;
            all.iter_mut().zip(&words).for_each(|(all, &word)| *all |= word);
        }
        Ok(Arc::new(TokenMask::near(all.into(), Vec::new(), Vec::new(), width)))
    }

    /// The tokens that may come next in a reading and after which a way to continue is known if `rest` tokens are then
    /// left for the open part. Also returns the smallest `rest` known to allow all tokens that may come next; `None` if
    /// unknown. Names are excluded later, from the mask of all readings.
    fn tokens_within(&mut self, from: ConfigurationId, rest: usize) -> Result<(BitVec<u32>, Option<usize>)> {
        let most = self.compiled.automaton().limits().completion_search.saturating_mul(SEARCHES);
        let before = self.cache.places_searched();
        let mut allowed = BitVec::repeat(false, self.compiled.vocabulary().width());
        let mut ceiling = Some(0);
        let groups = self.part_groups(from)?;
        for (to, tokens) in groups.iter() {
            let searched = self.cache.places_searched() - before;
            if searched > most {
                return Ok((allowed, None));
            }
            let effort = if searched <= most / 4 { Effort::All } else { Effort::Short };
            let needed = self.needed(*to, rest, effort)?;
            match tokens {
                _ if needed.is_none_or(|needed| needed > rest) => {}
                Some(tokens) => tokens.iter().for_each(|token| allowed.set(token.index(), true)),
                None => allowed |= self.other_bits(from, &groups)?,
            }
            ceiling = ceiling.zip(needed).map(|(most, needed)| most.max(needed));
        }
        Ok((allowed, ceiling))
    }

    /// The tokens that token edges take, each with the set of terminals that contain it: bit `i` is set for terminal
    /// `i` of the configuration. If the configuration has 64 or more terminals, all bits of every token are set.
    ///
    /// # Errors
    /// `limit/exceeded` if `mask_work` is exceeded.
    pub(super) fn tokens_by_id(&mut self, at: ConfigurationId) -> Result<FxHashMap<TokenId, u64>> {
        let mut tokens: FxHashMap<TokenId, u64> = FxHashMap::default();
        let terminals = self.cache.lazy(self.compiled.automaton()).terminals(at);
        for (place, &terminal) in terminals.iter().enumerate() {
            // with 64 or more terminals all bits are set, so the tokens are not distinguished by terminal
            let bit = if terminals.len() < 64 { 1 << place } else { u64::MAX };
            let mut count = 1;
            self.compiled.terminals().each(terminal, |token| {
                *tokens.entry(token).or_default() |= bit;
                count += 1;
            });
            self.cache.tables.work.spend(count)?;
        }
        Ok(tokens)
    }

    /// The number of tokens that must be left for the part that was open, so that a way to continue is known from `to`.
    /// It is 0 if some reading of `to` is in no part, or in a newly entered part with a known way out; `None` if no
    /// number is known to suffice.
    fn needed(&mut self, to: ConfigurationId, rest: usize, effort: Effort) -> Result<Option<usize>> {
        let mut least: Option<usize> = None;
        for reading in self.cache.readings(self.compiled.automaton(), to)?.iter() {
            let needed = match reading.part {
                None => Some(0),
                Some(part) => {
                    let most = if part.is_new { bound(self.compiled, part.part) } else { rest };
                    let way = self.way_out((reading.configuration, part), most, effort)?;
                    match (way, part.is_new) {
                        (Some(_), true) => Some(0),
                        (Some(way), false) => Some(way.tokens_inside()),
                        (None, true) => None,
                        (None, false) => self.longer_way(part.inside, effort)?,
                    }
                }
            };
            least = match (least, needed) {
                (Some(least), Some(needed)) => Some(least.min(needed)),
                (least, needed) => least.or(needed),
            };
            if least == Some(0) {
                break;
            }
        }
        Ok(least)
    }
}

/// The maximum number of tokens that may begin in a part.
pub(super) fn bound(compiled: &CompiledGrammar, part: PartId) -> usize {
    match compiled.grammar().expression(part.expression()) {
        Expression::MaxTokens { most, .. } => *most as usize,
        _ => usize::MAX,
    }
}
