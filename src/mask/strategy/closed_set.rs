//! Configurations from which the characters of a loop language lead only to a small set of configurations, none of them
//! dead. Examples are a search for a word before it is found, and a count of words.
//!
//! Then all tokens in the loop language are allowed. If [`MAX_CHARS`] characters still lead to new configurations, this
//! holds only for the tokens with at most that many characters; longer ones are walked.

use super::task::{InLoop, Needs, Outcome, Strategy, Task};
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::mask::token_set::TokenSet;
use crate::mask::tuning::CLOSED_SET;
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Collected, Limit, NodeBudget, Target};
use crate::mask::walk::partitions::BEYOND_ASCII;
use crate::token_index::loops::{ESCAPES, escape_group};
use crate::token_index::tuning::MAX_CHARS;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// The row of [`STRATEGIES`](super::STRATEGIES).
pub(super) const STRATEGY: Strategy =
    Strategy { name: "closed-set", needs: Needs::Loop, is_budgeted: true, try_compute };

/// Configurations under a loop, each with the state of the loop and the number of characters begun.
struct Explored {
    all: Vec<(usize, ConfigurationId, usize)>,
    known: FxHashSet<(usize, ConfigurationId)>,
    /// Whether some configuration after [`MAX_CHARS`] characters was not known. Such a configuration is not examined.
    cut_short: bool,
}

impl Explored {
    /// Adds the configuration after a byte or a character, with the state of the loop there. Returns the reason to end
    /// the exploration, if there is one: the configuration is dead, unknown or history-dependent, there are too many,
    /// or a residual returns there.
    fn add(
        &mut self,
        walk: &Walk<'_>,
        target: Target,
        next: ConfigurationId,
        (to, begun): (usize, usize),
    ) -> Option<Outcome> {
        if !next.is_ordinary() || walk.lazy.is_history_dependent(next) {
            return Some(Outcome::NotApplicable);
        }
        if begun >= MAX_CHARS && to == 0 {
            self.cut_short |= !self.known.contains(&(0, next));
        } else if self.known.insert((to, next)) {
            if self.all.len() >= CLOSED_SET {
                return Some(Outcome::NotApplicable);
            }
            self.all.push((to, next, begun));
        }
        let returns = target.notes_returns() && walk.lazy.is_accepting(next);
        returns.then_some(Outcome::Limit(Limit::Returns))
    }
}

/// Marks in `left_by` the groups of those bytes that a configuration allows and that are in none of the sorted ranges
/// `stay`.
fn leave_between(
    walk: &mut Walk<'_>,
    at: ConfigurationId,
    stay: &[(u8, u8)],
    left_by: &mut [bool; ESCAPES],
) -> Result<()> {
    let mut first: u16 = 0;
    let ranges = stay.iter().map(|&(low, high)| (u16::from(low), u16::from(high)));
    for (low, high) in ranges.chain([(256, 256)]) {
        while first < low {
            let group = escape_group(first as u8);
            let mut last = low - 1;
            if !left_by[group] {
                let (next, same) = walk.lazy.step_run(at, first as u8)?;
                left_by[group] = next != ConfigurationId::DEAD;
                last = last.min(u16::from(same));
            }
            // quotes and backslashes are groups of their own
            let other = (first + 1..=last).find(|&byte| escape_group(byte as u8) != group);
            first = other.unwrap_or(last + 1);
        }
        first = first.max(high + 1);
    }
    Ok(())
}

/// The tokens of a configuration that stays within a small set under a loop; not applicable if it does not.
pub(super) fn try_compute(walk: &mut Walk<'_>, task: &Task<'_>, budget: NodeBudget) -> Result<Outcome> {
    let Some(InLoop { language, .. }) = task.in_loop else { return Ok(Outcome::NotApplicable) };
    let Some(counted) = &language.by_length else { return Ok(Outcome::NotApplicable) };
    let mut reached =
        Explored { all: vec![(0, task.configuration, 0)], known: FxHashSet::default(), cut_short: false };
    let mut done = 0;
    let mut left_by = [false; ESCAPES];
    while let Some(&(state, at, begun)) = reached.all.get(done) {
        done += 1;
        // by characters where they need not be distinguished byte by byte
        let (mut ascii, mut beyond) = (None, None);
        if state == 0 {
            ascii = Some(walk.lazy.after_ascii(at, language.ascii)?);
            if language.beyond {
                beyond = walk.lazy.after_characters(at, &BEYOND_ASCII)?.known();
            }
        }
        let next = ascii.iter().flatten().chain(beyond.iter().flatten());
        for &next in next {
            if let Some(end) = reached.add(walk, task.target, next, (0, begun + 1)) {
                return Ok(end);
            }
        }
        let transitions = || language.transitions.iter().filter(|t| t.from == state);
        for transition in transitions() {
            let are_known = if transition.low.is_ascii() { ascii.is_some() } else { beyond.is_some() };
            if are_known {
                continue;
            }
            let bytes = (transition.low, transition.high);
            for next in walk.lazy.after_range(at, bytes)? {
                let begun = begun + usize::from(state == 0);
                if let Some(end) = reached.add(walk, task.target, next, (transition.to, begun)) {
                    return Ok(end);
                }
            }
        }
        let mut stay: SmallVec<[(u8, u8); 16]> = transitions().map(|t| (t.low, t.high)).collect();
        stay.sort_unstable();
        leave_between(walk, at, &stay, &mut left_by)?;
    }
    let cut_short = reached.cut_short;
    let inside = Arc::clone(if cut_short { &counted.words } else { &language.accepted });
    let mut out = Collected::new(task.target, budget).with(TokenSet::of_words(inside));
    for (escaping, left) in language.escaping.iter().zip(left_by) {
        if let Some(escaping) = escaping.filter(|_| left) {
            walk.run(escaping, task.configuration, |_| true, &mut out)?;
        }
    }
    if let Some(longer) = counted.longer.filter(|_| cut_short) {
        walk.run(longer, task.configuration, |_| true, &mut out)?;
    }
    walk.run_outside(language, task.configuration, &mut out)?;
    Ok(Outcome::of(out, walk))
}
