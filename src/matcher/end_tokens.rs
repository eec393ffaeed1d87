//! End tokens given in place of the vocabulary's: how they change a mask.
//!
//! All matchers of a grammar share its masks, so each matcher replaces the end tokens in its own copy. The masks differ
//! only if the text may end.

use super::matcher::Matcher;
use crate::error::Result;
use crate::mask::TokenMask;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl Matcher {
    /// Whether the mask here differs from the shared mask because of given end tokens.
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
            // kept if a token terminal lists it
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
        // a token of a token edge does not end the text: the mask says whether it is within the budget
        let by_id = self.with_lock(|locked, at| locked.tokens_by_id(at))?;
        let is_plain = |token: &&TokenId| !by_id.contains_key(token);
        let removed = ends.removed.iter().filter(is_plain).map(|token| token.get()).collect();
        let added: Vec<TokenId> = ends.added.iter().filter(is_plain).copied().collect();
        Ok(Arc::new(mask.without(removed).with(&added)))
    }
}
