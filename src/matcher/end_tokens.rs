//! End tokens that were given in place of the vocabulary's: what that changes in a mask.
//!
//! Masks are shared by all matchers of a grammar, so each matcher exchanges the end tokens in its own copy. They differ only
//! where the text may end.

use super::matcher::Matcher;
use crate::error::Result;
use crate::mask::TokenMask;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashSet;
use std::sync::Arc;

impl Matcher {
    /// Whether the mask is not the one that matchers share.
    pub(super) fn exchanges_ends(&self) -> bool {
        self.compiled.given_ends().is_some() && self.is_accepting()
    }

    /// A mask of the tokens that may come next, with the end tokens that were given.
    pub(super) fn with_given_ends(&mut self, mask: Arc<TokenMask>) -> Result<Arc<TokenMask>> {
        let Some(ends) = self.compiled.given_ends().filter(|_| self.is_accepting()).map(Arc::clone) else {
            return Ok(mask);
        };
        let mut removed = FxHashSet::default();
        for &token in &ends.removed {
            // a token terminal may list it
            if !self.may_come(token)? {
                removed.insert(token.get());
            }
        }
        Ok(Arc::new(mask.without(removed).with(&ends.added)))
    }

    /// The same of a mask within a budget, where no bounds of parts matter.
    pub(super) fn with_given_ends_within(&mut self, mask: Arc<TokenMask>) -> Result<Arc<TokenMask>> {
        let Some(ends) = self.compiled.given_ends().filter(|_| self.is_accepting()).map(Arc::clone) else {
            return Ok(mask);
        };
        // a token that token edges take does not end the text: the mask says whether it is within the budget
        let by_id = self.with_lock(|locked, at| locked.tokens_by_id(at))?;
        let is_plain = |token: &&TokenId| !by_id.contains_key(token);
        let removed = ends.removed.iter().filter(is_plain).map(|token| token.get()).collect();
        let added: Vec<TokenId> = ends.added.iter().filter(is_plain).copied().collect();
        Ok(Arc::new(mask.without(removed).with(&added)))
    }
}
