//! Masks of a matcher: known ones are read without a lock, others are computed under the engine's lock.

use super::state::{self, Locked, Matcher};
use super::{end_tokens, explored, keys, parts};
use crate::error::Result;
use crate::mask::TokenMask;
use std::sync::Arc;

pub(super) fn fill_mask(m: &mut Matcher, words: &mut [u32]) -> Result<()> {
    let filled = with_mask(m, |mask| mask.write_to(words)).flatten();
    if filled.is_err() {
        words.fill(0);
    }
    filled
}

pub(super) fn with_mask<R>(m: &mut Matcher, mut look: impl FnMut(&TokenMask) -> R) -> Result<R> {
    let free = m.path.key_state().is_outside() && !keys::holds_two_names(&m.compiled);
    if !m.path.has_ended() && free && !state::is_bounded(m) && !end_tokens::exchanges_ends(m) {
        if let Some(mask) = explored::mask(&m.compiled, &m.path) {
            return Ok(look(mask));
        }
        let snapshot = m.compiled.snapshot();
        if let Some(mask) = snapshot.mask(m.path.at()) {
            return Ok(look(mask));
        }
    }
    Ok(look(&*mask(m)?))
}

pub(super) fn mask(m: &mut Matcher) -> Result<Arc<TokenMask>> {
    if m.path.has_ended() {
        let width = m.compiled.vocabulary().width();
        return Ok(Arc::new(TokenMask::sparse(Vec::new(), width)));
    }
    if state::is_bounded(m)
        && let Some(mask) = parts::bounded_mask(m)?
    {
        let mask = keys::without_repeated_keys(m, mask)?;
        return end_tokens::with_given_ends(m, mask);
    }
    let known = explored::mask(&m.compiled, &m.path).map(Arc::clone);
    let known = known.or_else(|| m.compiled.snapshot().mask(m.path.at()).map(Arc::clone));
    let mask = match known {
        Some(mask) => mask,
        None => m.with_lock(|Locked { compiled, cache, .. }, configuration| {
            cache.mask(compiled.automaton(), compiled.index(), configuration)
        })?,
    };
    let mask = keys::without_repeated_keys(m, mask)?;
    end_tokens::with_given_ends(m, mask)
}

/// Whether the mask of the configuration is stored, ignoring names read so far and given end tokens. False if
/// bounds of parts may matter.
pub(super) fn knows_mask(m: &Matcher) -> bool {
    !state::is_bounded(m)
        && (explored::mask(&m.compiled, &m.path).is_some()
            || m.compiled.snapshot().mask(m.path.at()).is_some())
}
