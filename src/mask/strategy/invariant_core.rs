//! Configurations that stay alive on every text of a loop, for example where a pattern is searched for, whatever has
//! been read.
//!
//! Some of the items of such a configuration recur after every character. With these alone the configuration would
//! never become dead, and the other items can only add to it. So all tokens of the loop are allowed, and the many
//! configurations that they lead to need not be examined.

use super::task::{InLoop, Needs, Outcome, Strategy, Task};
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::mask::token_set::TokenSet;
use crate::mask::tuning::CORE_ROUNDS;
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Collected, NodeBudget};
use crate::mask::walk::partitions::BEYOND_ASCII;
use crate::token_index::loops::LoopLanguage;
use std::sync::Arc;

/// The row of [`STRATEGIES`](super::STRATEGIES).
pub(super) const STRATEGY: Strategy =
    Strategy { name: "invariant-core", needs: Needs::Loop, is_budgeted: true, try_compute };

/// The tokens of a configuration that stays alive on every text of a loop; not applicable if this cannot be shown, or
/// if a residual may return within the loop.
pub(super) fn try_compute(walk: &mut Walk<'_>, task: &Task<'_>, _: NodeBudget) -> Result<Outcome> {
    let Some(InLoop { language, .. }) = task.in_loop else { return Ok(Outcome::NotApplicable) };
    if !has_invariant_core(walk, language, task.configuration)? {
        return Ok(Outcome::NotApplicable);
    }
    if task.target.notes_returns() {
        let bytes = |ranges: &[(u8, u8)]| {
            ranges.iter().fold(ByteSet::EMPTY, |all, &(low, high)| all.union(&ByteSet::range(low, high)))
        };
        let beyond: &[(u8, u8)] = if language.beyond { &[(0x80, u8::MAX)] } else { &[] };
        let bytes = bytes(language.ascii).union(&bytes(beyond));
        if walk.lazy.may_return_within(task.configuration, &bytes) {
            return Ok(Outcome::NotApplicable);
        }
    }
    // the walks have no budget: once all tokens of the loop are known to be allowed, no shorter method remains
    let inside = TokenSet::of_words(Arc::clone(&language.accepted));
    let mut out = Collected::new(task.target, NodeBudget::UNLIMITED).with(inside);
    walk.run_escaping(language, task.configuration, &mut out)?;
    walk.run_outside(language, task.configuration, &mut out)?;
    Ok(Outcome::of(out, walk))
}

/// Whether some items of a configuration recur after each character of a loop. False if [`CORE_ROUNDS`] rounds do not
/// show it.
fn has_invariant_core(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<bool> {
    let mut lasting = configuration;
    for _ in 0..CORE_ROUNDS {
        let Some(left) = invariant_items(walk, language, lasting)? else { return Ok(false) };
        if left == lasting {
            return Ok(true);
        }
        lasting = left;
    }
    Ok(false)
}

/// The items of a configuration that recur after each character of a loop; `None` if there are none or it cannot be
/// decided.
fn invariant_items(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<ConfigurationId>> {
    let after = walk.step(configuration, language.probe)?;
    let Some(mut left) = walk.lazy.common(configuration, after) else { return Ok(None) };
    let mut after = walk.lazy.after_ascii(configuration, language.ascii)?;
    if language.beyond {
        let beyond = walk.lazy.after_characters(configuration, &BEYOND_ASCII)?;
        let Some(beyond) = beyond.known() else { return Ok(None) };
        after.extend(beyond);
    }
    for after in after {
        match walk.lazy.common(left, after) {
            Some(common) => left = common,
            None => return Ok(None),
        }
    }
    Ok(Some(left))
}
