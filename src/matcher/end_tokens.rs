//! Given end tokens, which replace those of the vocabulary: how they change a mask.
//!
//! All matchers of a grammar share its masks, so each matcher replaces the end tokens in its own copy. The copy differs
//! from the shared mask only if the text may end.

use super::state::{self, Matcher};
use super::steps;
use crate::error::Result;
use crate::mask::TokenMask;
use crate::vocabulary::TokenId;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Whether given end tokens replace those of the vocabulary in the mask here, so that the mask may differ from the
/// shared mask.
pub(super) fn exchanges_ends(m: &Matcher) -> bool {
    m.compiled.given_ends().is_some() && state::is_accepting(m)
}

/// Replaces the vocabulary's end tokens in a mask by the given ones, if the text may end.
pub(super) fn with_given_ends(m: &mut Matcher, mask: Arc<TokenMask>) -> Result<Arc<TokenMask>> {
    let Some(ends) = m.compiled.given_ends().filter(|_| state::is_accepting(m)).map(Arc::clone) else {
        return Ok(mask);
    };
    let mut removed = FxHashSet::default();
    for &token in &ends.removed {
        // a token that a token terminal lists stays allowed
        if !steps::is_token_allowed(m, token)? {
            removed.insert(token.get());
        }
    }
    Ok(Arc::new(mask.without(removed).with(&ends.added)))
}

/// Like `with_given_ends`, for a mask within a budget without bounds of parts.
pub(super) fn with_given_ends_within(m: &mut Matcher, mask: Arc<TokenMask>) -> Result<Arc<TokenMask>> {
    let Some(ends) = m.compiled.given_ends().filter(|_| state::is_accepting(m)).map(Arc::clone) else {
        return Ok(mask);
    };
    // an end token that token edges take need not end the text; the mask already says whether it fits the budget
    let by_id = m.with_lock(|locked, at| locked.tokens_by_id(at))?;
    let is_plain = |token: &&TokenId| !by_id.contains_key(token);
    let removed = ends.removed.iter().filter(is_plain).map(|token| token.get()).collect();
    let added: Vec<TokenId> = ends.added.iter().filter(is_plain).copied().collect();
    Ok(Arc::new(mask.without(removed).with(&added)))
}
