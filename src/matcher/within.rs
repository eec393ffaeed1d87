//! Masks within a budget of tokens, and queries about single tokens.
//!
//! A token is allowed if a completion of few enough tokens is known after it. If the budget is at least what any
//! allowed token may need, the result is the mask without a budget. Otherwise the tokens are weighed (`weighing.rs`).

use super::errors;
use super::keys::Cursor;
use super::matcher::{Locked, Matcher};
use super::path;
use super::promises::Lead;
use super::steps::known_run;
use super::sufficient::{letters_of_names, unless_too_large};
use super::weighing::WithinBudget;
use super::within_parts::AfterToken;
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

impl Matcher {
    /// The mask of the tokens that may come next if at most `budget` tokens are still to come, including the next one
    /// and without the end-of-sequence token: the tokens after which a completion of at most `budget - 1` tokens is
    /// known, and the end-of-sequence tokens if the text may end here. With a budget of 0 only the latter are allowed.
    /// A token is missing if only a completion other than the known one is short enough.
    ///
    /// If a mask is returned, then after each of its tokens there is a mask for a budget smaller by one, so the text
    /// can always be completed within the budget. The mask is empty after the end, and after a word within whose budget
    /// no more tokens fit if token terminals take every end-of-sequence token, and nowhere else. A completion is not
    /// known if the search for it reaches a limit.
    ///
    /// # Errors
    /// `matcher/budget` if no completion of at most `budget` tokens is known; `limit/exceeded` if the mask without a
    /// budget exceeds a limit such as `mask_work` or `cache_bytes`.
    pub fn mask_within(&mut self, budget: usize) -> Result<Arc<TokenMask>> {
        let plain = self.mask()?;
        if self.path.has_ended() {
            return Ok(plain);
        }
        let is_bounded = self.is_bounded();
        if !is_bounded && let Some(kept) = self.kept_within(&plain, budget)? {
            return Ok(kept);
        }
        let is_ample = match is_bounded {
            true => self.is_ample_beside_parts(budget)?,
            false => unless_too_large(self.ample_budget())?.flatten().is_some_and(|ample| ample <= budget),
        };
        if is_ample {
            return Ok(plain);
        }
        self.promise(budget)?;
        let Some(rest) = budget.checked_sub(1) else { return self.ends_here() };
        let found = match is_bounded {
            true => self.bounded_mask_within(&plain, rest),
            false => self.unbounded_mask_within(&plain, rest),
        };
        let (mask, leads) = match unless_too_large(found)? {
            Some(found) => found,
            None => (self.ends_here()?, Vec::new()),
        };
        self.promises.lead(self.steps(), leads);
        let mask = if is_bounded { mask } else { self.with_given_ends_within(mask)? };
        let mask = self.with_next(mask, budget)?;
        self.promises.masked(self.steps(), budget, &mask);
        Ok(mask)
    }

    /// The mask within a budget, if it is kept with the configuration, and the names read do not matter. `plain` is the
    /// mask without the budget.
    fn kept_within(&mut self, plain: &Arc<TokenMask>, budget: usize) -> Result<Option<Arc<TokenMask>>> {
        let key_state = self.path.key_state();
        let letters = match key_state.is_outside() {
            true => Some(0),
            false if self.exchanges_ends() => None,
            false => letters_of_names(&self.compiled, &path::lock(&self.path.names()), key_state),
        };
        let Some(letters) = letters else { return Ok(None) };
        match self.compiled.snapshot().mask_within(self.path.at(), budget, letters) {
            None => Ok(None),
            Some(None) => Ok(Some(Arc::clone(plain))),
            Some(Some(mask)) if key_state.is_outside() => self.with_given_ends_within(mask).map(Some),
            // if names have none of its tokens, the names decide
            Some(Some(mask)) => Ok(Some(Arc::new(mask.and(plain))).filter(|mask| !mask.is_empty())),
        }
    }

    /// The end tokens that end the text here.
    fn ends_here(&mut self) -> Result<Arc<TokenMask>> {
        let mut ends = Vec::new();
        for token in self.compiled.end_tokens().to_vec() {
            ends.extend(self.ends_text(token)?.then_some(token.get()));
        }
        Ok(Arc::new(TokenMask::sparse(ends, self.compiled.vocabulary().width())))
    }

    /// The mask within a budget where no bounds of parts matter, if `rest` tokens may come after the next one. Also
    /// returns tokens with a completion after each.
    fn unbounded_mask_within(
        &mut self,
        plain: &Arc<TokenMask>,
        rest: usize,
    ) -> Result<(Arc<TokenMask>, Vec<Lead>)> {
        // masks are kept per configuration, without given end tokens
        let exchanges_ends = self.exchanges_ends();
        self.with_lock(|locked, at| {
            let from = locked.cursor(at);
            let outside = from.key_state.is_outside();
            if !outside
                && !exchanges_ends
                && !locked.cache.has_within(at, rest.saturating_add(1))
                && let Some(kept) = locked.regardless_of_names(at, rest)?
            {
                let letters = letters_of_names(locked.compiled, locked.names, from.key_state);
                let least = letters.and_then(|letters| rest.checked_sub(letters));
                let mask =
                    kept.mask.as_ref().map_or_else(|| Arc::clone(plain), |mask| Arc::new(mask.and(plain)));
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

    /// A budget at and above which the [mask within a budget](Matcher::mask_within) equals the mask without a budget
    /// here. It is an upper bound: smaller budgets may suffice. `None` if the grammar does not show one, or if bounds
    /// of parts may matter; 0 after the end.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn ample_budget(&mut self) -> Result<Option<usize>> {
        if self.path.has_ended() {
            return Ok(Some(0));
        }
        if self.is_bounded() {
            return Ok(None);
        }
        for _ in 0..LOOKS_AT_NAMES {
            self.compiled.explore_key_supply();
        }
        Ok(self
            .with_lock(|locked, at| locked.find_ceiling(locked.cursor(at)))?
            .map(|ceiling| ceiling.saturating_add(1)))
    }

    /// Adds to a mask within a budget the next token of the completion that is carried along, because a search may not
    /// find that completion again. If no completion is carried along and the mask is empty, adds the letters by which
    /// the upper bound of the configuration falls.
    fn with_next(&mut self, mask: Arc<TokenMask>, budget: usize) -> Result<Arc<TokenMask>> {
        let promised = self.promises.ahead(self.steps()).and_then(|ahead| ahead.first().copied());
        let width = self.compiled.vocabulary().width();
        match promised {
            Some(promised) if !mask.contains(promised) => {
                let tokens: Vec<TokenId> = mask.iter().chain([promised]).collect();
                Ok(Arc::new(TokenMask::of(&tokens, width)))
            }
            None if mask.is_empty() => {
                let rest = budget.saturating_sub(1);
                let letters = self.with_lock(|locked, at| locked.letters_within(locked.cursor(at), rest));
                let letters = unless_too_large(letters)?.unwrap_or_default();
                if !letters.is_empty() {
                    return Ok(Arc::new(TokenMask::of(&letters, width)));
                }
                let (completion, tokens, _) = self.searched(budget)?;
                match completion.filter(|completion| (1..=budget).contains(&completion.len())) {
                    Some(completion) => {
                        let mask = TokenMask::of([&completion[0]], width);
                        self.promises.add(self.steps(), completion);
                        Ok(Arc::new(mask))
                    }
                    // a word that no end token ends, because each is part of the text
                    None if self.is_accepting() => Ok(mask),
                    None => Err(errors::budget(budget, tokens, 0, self.byte_count())),
                }
            }
            _ => Ok(mask),
        }
    }

    /// Writes the [mask within a budget](Matcher::mask_within) as [`fill_mask`](Matcher::fill_mask) does. After an
    /// error all words are 0.
    ///
    /// # Errors
    /// `matcher/budget` if no completion of at most `budget` tokens is known; `mask/buffer-too-short` if `words` is too
    /// short for the mask; `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn fill_mask_within(&mut self, budget: usize, words: &mut [u32]) -> Result<()> {
        let filled = self.mask_within(budget).and_then(|mask| mask.write_to(words));
        filled.inspect_err(|_| words.fill(0))
    }

    /// Whether a token may come next: its bit of the mask, without computing the mask.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn is_token_allowed(&mut self, token: TokenId) -> Result<bool> {
        if self.path.has_ended() {
            return Ok(false);
        }
        if self.is_bounded() || self.compiled.automaton().has_terminals() && self.has_token_edges()? {
            return self.fork().try_accept(token);
        }
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        if self.compiled.is_end(token) {
            return Ok(self.is_accepting());
        }
        let Some(bytes) = vocabulary.bytes(token) else { return Ok(false) };
        if self.path.key_state().is_outside() {
            let known = known_run(&self.compiled, &self.path, bytes);
            if let Some((end, names)) = known
                && (end.is_none() || names.is_empty())
            {
                return Ok(end.is_some());
            }
        }
        self.with_lock(|locked, at| locked.run(locked.cursor(at), bytes).map(|end| end.is_some()))
    }

    /// Checks that a completion of at most `budget` tokens is known; the end-of-sequence token does not count. After
    /// the end every budget suffices.
    ///
    /// # Errors
    /// `matcher/budget` if none is known; the error names the smallest budget known to suffice, if there is one.
    /// `limit/exceeded` if finding the place of the text again exceeds a limit such as `cache_bytes`.
    pub fn check_budget(&mut self, budget: usize) -> Result<()> {
        if self.path.has_ended() { Ok(()) } else { self.promise(budget) }
    }

    /// Whether a token may come next [within a budget](Matcher::mask_within), for the cost of one completion after this
    /// token. The tokens of the last mask within the budget may come. A decoder may sample from the plain mask, call
    /// this with the token, and sample from the mask within the budget only if the result is false. Unless a search
    /// reached its limit, its texts have the same distribution as if it had sampled from the mask within the budget
    /// directly (rejection sampling).
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    pub fn is_token_allowed_within(&mut self, token: TokenId, budget: usize) -> Result<bool> {
        let steps = self.steps();
        if let Some(mask) = self.promises.mask(steps, budget) {
            return Ok(mask.contains(token));
        }
        let is_next = |ahead: &[TokenId]| ahead.len() <= budget && ahead.first() == Some(&token);
        if self.promises.ahead(steps).is_some_and(is_next)
            || self.promises.lead_after(steps, token).is_some_and(|lead| lead.len() < budget)
        {
            return Ok(true);
        }
        let vocabulary = Arc::clone(self.compiled.vocabulary());
        if self.path.has_ended() {
            return Ok(false);
        }
        if self.compiled.is_end(token) {
            let by_id = self.with_lock(|locked, at| locked.tokens_by_id(at))?;
            if !by_id.contains_key(&token) {
                return self.is_token_allowed(token);
            }
        }
        let Some(rest) = budget.checked_sub(1) else {
            return Ok(self.is_accepting() && self.ends_text(token)?);
        };
        if self.is_bounded() {
            return Ok(match self.after_bounded(token, rest)? {
                AfterToken::Refused | AfterToken::Unknown => false,
                AfterToken::Bound => true,
                AfterToken::Completion(completion) => {
                    self.promises.lead(steps, vec![(token, completion)]);
                    true
                }
            });
        }
        let bytes = vocabulary.bytes(token).unwrap_or_default();
        let found = self.with_lock(|locked, at| match locked.after_token(locked.cursor(at), token)? {
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
            self.promises.lead(steps, vec![(token, completion)]);
        }
        Ok(may_come)
    }

    /// The upper bound on the tokens of a completion by which masks within budgets decide, for tests that compare it with
    /// exhaustive search. `None` if none is known.
    ///
    /// # Errors
    /// `limit/exceeded` if a limit such as `mask_work` or `cache_bytes` is exceeded.
    #[cfg(feature = "testing")]
    #[doc(hidden)]
    pub fn potential(&mut self) -> Result<Option<usize>> {
        self.tokens_to_end()
    }

    /// Whether a token is an end-of-sequence token that ends the text here. If token edges take the token, the text may
    /// continue instead.
    pub(super) fn ends_text(&mut self, token: TokenId) -> Result<bool> {
        let mut ahead = self.fork();
        Ok(self.compiled.is_end(token) && ahead.try_accept(token)? && ahead.path.has_ended())
    }

    /// Ensures that a completion of at most `budget` tokens is carried along, unless the configuration itself
    /// guarantees one. Fails with `matcher/budget` if none is known.
    fn promise(&mut self, budget: usize) -> Result<()> {
        let steps = self.steps();
        if self.promises.ahead(steps).is_some_and(|ahead| ahead.len() <= budget)
            || self.ends_within(budget)?
        {
            return Ok(());
        }
        let (completion, tokens, least) = match self.is_bounded() {
            true => {
                let completion = unless_too_large(self.bounded_completion(budget))?.flatten();
                let tokens = completion.as_ref().map(|completion| Distance::AtMost(completion.len()));
                (completion, tokens.unwrap_or(Distance::Unknown), 0)
            }
            // in tables too small for the bound, a search may still find a completion
            false => self.searched(budget)?,
        };
        match completion.filter(|completion| completion.len() <= budget) {
            Some(completion) => {
                self.promises.add(steps, completion);
                Ok(())
            }
            None => Err(errors::budget(budget, tokens, least, self.byte_count())),
        }
    }
}

impl Matcher {
    /// Searches for a completion of at most `budget` tokens.
    fn searched(&mut self, budget: usize) -> Result<Searched> {
        let found = self.with_lock(|locked, at| {
            let at = locked.cursor(at);
            let least = locked.least_tokens(at)?;
            // if `least` exceeds the budget, a search serves only to name a budget that suffices in the error
            let effort = if least > budget { Effort::Quick } else { Effort::All };
            let ahead = locked.ahead_within(at, &[], budget, effort)?;
            Ok((ahead.completion, ahead.tokens, least))
        });
        Ok(unless_too_large(found)?.unwrap_or((None, Distance::Unknown, 0)))
    }
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
