//! Given end tokens, which replace those of the vocabulary: how they change a mask.
//!
//! All matchers of a grammar share its masks, so each matcher replaces the end tokens in its own copy. The copy differs
//! from the shared mask only if the text may end.

use super::matcher::Matcher;
use crate::error::Result;
use crate::mask::TokenMask;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl Matcher {
    /// Whether given end tokens replace those of the vocabulary in the mask here, so that the mask may differ from the
    /// shared mask.
    pub(super) fn exchanges_ends(&self) -> bool {
        self.compiled.given_ends().is_some() && self.is_accepting()
    }

    /// Replaces the vocabulary's end tokens in a mask by the given ones, if the text may end.
    pub(super) fn with_given_ends(&mut self, mask: Arc<TokenMask>) -> Result<Arc<TokenMask>> {
        let Some(ends) = self.compiled.given_ends().filter(|_| self.is_accepting()).map(Arc::clone) else {
            return Ok(mask);
        };
        let mut removed = FxHashSet::default();
        for &token in &ends.removed {
            // a token that a token terminal lists stays allowed
            if !self.is_token_allowed(token)? {
                removed.insert(token.get());
            }
        }
        Ok(Arc::new(mask.without(removed).with(&ends.added)))
    }

    /// Like `with_given_ends`, for a mask within a budget without bounds of parts.
    pub(super) fn with_given_ends_within(&mut self, mask: Arc<TokenMask>) -> Result<Arc<TokenMask>> {
        let Some(ends) = self.compiled.given_ends().filter(|_| self.is_accepting()).map(Arc::clone) else {
            return Ok(mask);
        };
        // an end token that token edges take need not end the text; the mask already says whether it fits the budget
        let by_id = self.with_lock(|locked, at| locked.tokens_by_id(at))?;
        let is_plain = |token: &&TokenId| !by_id.contains_key(token);
        let removed = ends.removed.iter().filter(is_plain).map(|token| token.get()).collect();
        let added: Vec<TokenId> = ends.added.iter().filter(is_plain).copied().collect();
        Ok(Arc::new(mask.without(removed).with(&added)))
    }
}
