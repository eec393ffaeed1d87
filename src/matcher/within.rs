//! Masks within a budget of tokens, and queries about single tokens.
//!
//! A token is allowed if a completion of few enough tokens is known after it. If the budget is at least what any
//! allowed token may need, the result is the mask without a budget. Otherwise the tokens are weighed (`weighing.rs`).

use super::keys::Cursor;
use super::promises::Lead;
use super::state::{self, Locked, Matcher};
use super::sufficient::{letters_of_names, unless_too_large};
use super::weighing::WithinBudget;
use super::within_parts::{self, AfterToken};
use super::{end_tokens, errors, masks, part_potential, path, steps};
use crate::automaton::ConfigurationId;
use crate::automaton::keys::tracker::KeyState;
use crate::error::Result;
use crate::mask::{Distance, Effort, KeptMask, TokenMask, unless_limited};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// How many times [`Matcher::ample_budget`] continues the exploration of the key supply.
const LOOKS_AT_NAMES: usize = 16;

/// A completion, if one was found; its distance; and a lower bound on the tokens of any completion.
type Searched = (Option<Arc<[TokenId]>>, Distance, usize);

pub(super) fn mask_within(m: &mut Matcher, budget: usize) -> Result<Arc<TokenMask>> {
    let plain = masks::mask(m)?;
    if m.path.has_ended() {
        return Ok(plain);
    }
    let is_bounded = state::is_bounded(m);
    if !is_bounded && let Some(kept) = kept_within(m, &plain, budget)? {
        return Ok(kept);
    }
    let is_ample = match is_bounded {
        true => part_potential::is_ample_beside_parts(m, budget)?,
        false => unless_too_large(ample_budget(m))?.flatten().is_some_and(|ample| ample <= budget),
    };
    if is_ample {
        return Ok(plain);
    }
    promise(m, budget)?;
    let Some(rest) = budget.checked_sub(1) else { return ends_here(m) };
    let found = match is_bounded {
        true => within_parts::bounded_mask_within(m, &plain, rest),
        false => unbounded_mask_within(m, &plain, rest),
    };
    let (mask, leads) = match unless_too_large(found)? {
        Some(found) => found,
        None => (ends_here(m)?, Vec::new()),
    };
    m.promises.lead(m.path.step_count(), leads);
    let mask = if is_bounded { mask } else { end_tokens::with_given_ends_within(m, mask)? };
    let mask = with_next(m, mask, budget)?;
    m.promises.masked(m.path.step_count(), budget, &mask);
    Ok(mask)
}

/// The mask within a budget, if it is kept with the configuration, and the names read do not matter. `plain` is the
/// mask without the budget.
fn kept_within(m: &mut Matcher, plain: &Arc<TokenMask>, budget: usize) -> Result<Option<Arc<TokenMask>>> {
    let key_state = m.path.key_state();
    let letters = match key_state.is_outside() {
        true => Some(0),
        false if end_tokens::exchanges_ends(m) => None,
        false => letters_of_names(&m.compiled, &path::lock(&m.path.names()), key_state),
    };
    let Some(letters) = letters else { return Ok(None) };
    match m.compiled.snapshot().mask_within(m.path.at(), budget, letters) {
        None => Ok(None),
        Some(None) => Ok(Some(Arc::clone(plain))),
        Some(Some(mask)) if key_state.is_outside() => end_tokens::with_given_ends_within(m, mask).map(Some),
        // if names have none of its tokens, the names decide
        Some(Some(mask)) => Ok(Some(Arc::new(mask.and(plain))).filter(|mask| !mask.is_empty())),
    }
}

/// The end tokens that end the text here.
fn ends_here(m: &mut Matcher) -> Result<Arc<TokenMask>> {
    let mut ends = Vec::new();
    for token in m.compiled.end_tokens().to_vec() {
        ends.extend(steps::ends_text(m, token)?.then_some(token.get()));
    }
    Ok(Arc::new(TokenMask::sparse(ends, m.compiled.vocabulary().width())))
}

/// The mask within a budget where no bounds of parts matter, if `rest` tokens may come after the next one. Also
/// returns tokens with a completion after each.
fn unbounded_mask_within(
    m: &mut Matcher,
    plain: &Arc<TokenMask>,
    rest: usize,
) -> Result<(Arc<TokenMask>, Vec<Lead>)> {
    // masks are kept per configuration, without given end tokens
    let exchanges_ends = end_tokens::exchanges_ends(m);
    m.with_lock(|locked, at| {
        let from = locked.cursor(at);
        let outside = from.key_state.is_outside();
        if !outside
            && !exchanges_ends
            && !locked.cache.has_within(at, rest.saturating_add(1))
            && let Some(kept) = locked.regardless_of_names(at, rest)?
        {
            let letters = letters_of_names(locked.compiled, locked.names, from.key_state);
            let least = letters.and_then(|letters| rest.checked_sub(letters));
            let mask = kept.mask.as_ref().map_or_else(|| Arc::clone(plain), |mask| Arc::new(mask.and(plain)));
            if least.is_some_and(|least| kept.holds_from(least, rest)) && !mask.is_empty() {
                return Ok((mask, Vec::new()));
            }
        }
        let WithinBudget { mask, holds, leads, is_general } = locked.within(from, plain, rest)?;
        let mask = mask.map(Arc::new);
        if is_general && outside && !exchanges_ends {
            let needed = unless_limited(locked.sufficient(from))?.flatten().unwrap_or(usize::MAX);
            locked.cache.keep_within(at, needed, KeptMask { holds, mask: mask.clone() });
        }
        Ok((mask.unwrap_or_else(|| Arc::clone(plain)), leads))
    })
}

pub(super) fn ample_budget(m: &mut Matcher) -> Result<Option<usize>> {
    if m.path.has_ended() {
        return Ok(Some(0));
    }
    if state::is_bounded(m) {
        return Ok(None);
    }
    for _ in 0..LOOKS_AT_NAMES {
        m.compiled.explore_key_supply();
    }
    Ok(m.with_lock(|locked, at| locked.find_ceiling(locked.cursor(at)))?
        .map(|ceiling| ceiling.saturating_add(1)))
}

/// Adds to a mask within a budget the next token of the completion that is carried along, because a search may not
/// find that completion again. If no completion is carried along and the mask is empty, adds the letters by which
/// the upper bound of the configuration falls.
fn with_next(m: &mut Matcher, mask: Arc<TokenMask>, budget: usize) -> Result<Arc<TokenMask>> {
    let promised = m.promises.ahead(m.path.step_count()).and_then(|ahead| ahead.first().copied());
    let width = m.compiled.vocabulary().width();
    match promised {
        Some(promised) if !mask.contains(promised) => {
            let tokens: Vec<TokenId> = mask.iter().chain([promised]).collect();
            Ok(Arc::new(TokenMask::of(&tokens, width)))
        }
        None if mask.is_empty() => {
            let rest = budget.saturating_sub(1);
            let letters = m.with_lock(|locked, at| locked.letters_within(locked.cursor(at), rest));
            let letters = unless_too_large(letters)?.unwrap_or_default();
            if !letters.is_empty() {
                return Ok(Arc::new(TokenMask::of(&letters, width)));
            }
            let (completion, tokens, _) = searched(m, budget)?;
            match completion.filter(|completion| (1..=budget).contains(&completion.len())) {
                Some(completion) => {
                    let mask = TokenMask::of([&completion[0]], width);
                    m.promises.add(m.path.step_count(), completion);
                    Ok(Arc::new(mask))
                }
                // a word that no end token ends, because each is part of the text
                None if state::is_accepting(m) => Ok(mask),
                None => Err(errors::budget(budget, tokens, 0, m.path.byte_count())),
            }
        }
        _ => Ok(mask),
    }
}

pub(super) fn fill_mask_within(m: &mut Matcher, budget: usize, words: &mut [u32]) -> Result<()> {
    let filled = mask_within(m, budget).and_then(|mask| mask.write_to(words));
    filled.inspect_err(|_| words.fill(0))
}

pub(super) fn check_budget(m: &mut Matcher, budget: usize) -> Result<()> {
    if m.path.has_ended() { Ok(()) } else { promise(m, budget) }
}

pub(super) fn is_token_allowed_within(m: &mut Matcher, token: TokenId, budget: usize) -> Result<bool> {
    let steps = m.path.step_count();
    if let Some(mask) = m.promises.mask(steps, budget) {
        return Ok(mask.contains(token));
    }
    let is_next = |ahead: &[TokenId]| ahead.len() <= budget && ahead.first() == Some(&token);
    if m.promises.ahead(steps).is_some_and(is_next)
        || m.promises.lead_after(steps, token).is_some_and(|lead| lead.len() < budget)
    {
        return Ok(true);
    }
    let vocabulary = Arc::clone(m.compiled.vocabulary());
    if m.path.has_ended() {
        return Ok(false);
    }
    if m.compiled.is_end(token) {
        let by_id = m.with_lock(|locked, at| locked.tokens_by_id(at))?;
        if !by_id.contains_key(&token) {
            return steps::is_token_allowed(m, token);
        }
    }
    let Some(rest) = budget.checked_sub(1) else {
        return Ok(state::is_accepting(m) && steps::ends_text(m, token)?);
    };
    if state::is_bounded(m) {
        return Ok(match within_parts::after_bounded(m, token, rest)? {
            AfterToken::Refused | AfterToken::Unknown => false,
            AfterToken::Bound => true,
            AfterToken::Completion(completion) => {
                m.promises.lead(steps, vec![(token, completion)]);
                true
            }
        });
    }
    let bytes = vocabulary.bytes(token).unwrap_or_default();
    let found = m.with_lock(|locked, at| match locked.after_token(locked.cursor(at), token)? {
        Some(next) => {
            if let Some(needed) = locked.sufficient(next)? {
                return Ok((needed <= rest, None));
            }
            let ahead = locked.ahead_within(next, bytes, rest, Effort::All)?.completion;
            let ahead = ahead.filter(|completion| completion.len() <= rest);
            Ok((ahead.is_some(), ahead))
        }
        None => Ok((false, None)),
    });
    let (may_come, completion) = unless_too_large(found)?.unwrap_or_default();
    // saves the search at the next token
    if let Some(completion) = completion {
        m.promises.lead(steps, vec![(token, completion)]);
    }
    // a mask has the next token of the completion that it carries along, however tight the bound after it is
    Ok(may_come || promise(m, budget).is_ok() && m.promises.ahead(steps).is_some_and(is_next))
}

#[cfg(feature = "testing")]
pub(super) fn potential(m: &mut Matcher) -> Result<Option<usize>> {
    part_potential::tokens_to_end(m)
}

/// Ensures that a completion of at most `budget` tokens is carried along, unless the configuration itself
/// guarantees one. Fails with `matcher/budget` if none is known.
fn promise(m: &mut Matcher, budget: usize) -> Result<()> {
    let steps = m.path.step_count();
    if m.promises.ahead(steps).is_some_and(|ahead| ahead.len() <= budget)
        || part_potential::ends_within(m, budget)?
    {
        return Ok(());
    }
    let (completion, tokens, least) = match state::is_bounded(m) {
        true => {
            let completion = unless_too_large(within_parts::bounded_completion(m, budget))?.flatten();
            let tokens = completion.as_ref().map(|completion| Distance::AtMost(completion.len()));
            (completion, tokens.unwrap_or(Distance::Unknown), 0)
        }
        // in tables too small for the bound, a search may still find a completion
        false => searched(m, budget)?,
    };
    match completion.filter(|completion| completion.len() <= budget) {
        Some(completion) => {
            m.promises.add(steps, completion);
            Ok(())
        }
        None => Err(errors::budget(budget, tokens, least, m.path.byte_count())),
    }
}

/// Searches for a completion of at most `budget` tokens.
fn searched(m: &mut Matcher, budget: usize) -> Result<Searched> {
    let found = m.with_lock(|locked, at| {
        let at = locked.cursor(at);
        let least = locked.least_tokens(at)?;
        // if `least` exceeds the budget, a search serves only to name a budget that suffices in the error
        let effort = if least > budget { Effort::Quick } else { Effort::All };
        let ahead = locked.ahead_within(at, &[], budget, effort)?;
        Ok((ahead.completion, ahead.tokens, least))
    });
    Ok(unless_too_large(found)?.unwrap_or((None, Distance::Unknown, 0)))
}

impl Locked<'_> {
    /// The cursor after bytes that follow the path; `None` if they are not allowed or repeat a name in an object.
    pub(super) fn run(&mut self, mut at: Cursor, bytes: &[u8]) -> Result<Option<Cursor>> {
        for (read, &byte) in bytes.iter().enumerate() {
            match self.step(at, &bytes[..read], byte)? {
                Some(next) => at = next,
                None => return Ok(None),
            }
        }
        Ok(Some(at))
    }

    /// The cursor after a token that follows the path, by its bytes, along token edges, or both; `None` if the token is
    /// not allowed. The bytes of an end-of-sequence token of the vocabulary are not read as text.
    pub(super) fn after_token(&mut self, at: Cursor, token: TokenId) -> Result<Option<Cursor>> {
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        let bytes = vocabulary.bytes(token).filter(|_| !vocabulary.is_eos(token));
        let by_bytes = bytes.map_or(Ok(None), |bytes| self.run(at, bytes))?;
        self.by_id_too(at, by_bytes, token)
    }

    /// The cursor after a token whose bytes lead to `by_bytes` (`None` if they are not allowed), including its token
    /// edges.
    pub(super) fn by_id_too(
        &mut self,
        at: Cursor,
        by_bytes: Option<Cursor>,
        token: TokenId,
    ) -> Result<Option<Cursor>> {
        let known = by_bytes.map_or(ConfigurationId::DEAD, |at| at.configuration);
        let taken = self.by_token(at.configuration, known, token)?;
        // names are tracked along bytes; if the token's bytes are not allowed here, nothing is tracked
        let key_state = by_bytes.map_or(KeyState::OUTSIDE, |at| at.key_state);
        Ok(taken.map(|configuration| Cursor { configuration, key_state }).or(by_bytes))
    }

    /// A lower bound on the number of tokens of a completion.
    fn least_tokens(&mut self, at: Cursor) -> Result<usize> {
        let least = self.cache.least_bytes(self.compiled.automaton(), at.configuration)?;
        Ok(least.div_ceil((self.compiled.vocabulary().longest() as usize).max(1)))
    }

    /// The maximum number of bytes of `tokens` tokens.
    pub(super) fn reach(&self, tokens: usize) -> usize {
        tokens.saturating_mul((self.compiled.vocabulary().longest() as usize).max(1))
    }
}
