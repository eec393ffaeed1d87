//! Masks of configurations that return to themselves on a loop language: inside a string, a comment, free text, white
//! space.
//!
//! The check runs the loop's small automaton and the configuration in lockstep. If the configuration returns to itself,
//! every token of the loop is allowed, and a token that leaves the loop is allowed if its suffix is accepted where it
//! leaves. Only tokens that do not begin in the loop are looked up in the trie of all tokens. If rounds are counted,
//! the same is done by the number of characters. The result is the same as for a full walk, bit by bit.

use super::task::{InLoop, Needs, Outcome, Strategy, Task};
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::mask::token_set::TokenSet;
use crate::mask::walk::Walk;
use crate::mask::walk::collected::{Collected, NodeBudget};
use crate::token_index::loops::{ByLength, LoopLanguage, Suffixes};
use crate::token_index::tuning::MAX_CHARS;
use crate::token_index::utf8::STATES;
use std::sync::Arc;

/// The row of [`STRATEGIES`](super::STRATEGIES).
pub(super) const STRATEGY: Strategy =
    Strategy { name: "loop-language", needs: Needs::Loop, is_budgeted: true, try_compute };

/// The configuration in each state of a loop.
pub(in crate::mask) type Simulation = [ConfigurationId; STATES];

/// The tokens of a configuration that returns to itself on a loop; not applicable if it does not.
pub(super) fn try_compute(walk: &mut Walk<'_>, task: &Task<'_>, budget: NodeBudget) -> Result<Outcome> {
    let Some(InLoop { language, after }) = task.in_loop else { return Ok(Outcome::NotApplicable) };
    let mut out = Collected::new(task.target, budget);
    let loops = match &language.by_length {
        _ if after == task.configuration => uncounted(walk, language, task.configuration, &mut out)?,
        Some(parts) => counted(walk, (language, parts), task.configuration, &mut out)?,
        None => entered(walk, language, task.configuration, &mut out)?,
    };
    if !loops {
        return Ok(Outcome::NotApplicable);
    }
    walk.run_outside(language, task.configuration, &mut out)?;
    Ok(Outcome::of(out, walk))
}

/// Adds the tokens that begin in a loop on which the configuration returns to itself. Returns whether it does.
fn uncounted(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
    out: &mut Collected,
) -> Result<bool> {
    let Some(Round { at, next }) = round(walk, language, configuration)? else {
        return Ok(false);
    };
    if next != configuration {
        return Ok(false);
    }
    out.tokens = TokenSet::of_words(Arc::clone(&language.accepted));
    leave(walk, language, &language.suffixes, &at, out)?;
    Ok(true)
}

/// Adds the tokens that begin in a loop on which a configuration returns to itself after the first character. The
/// alternatives to the loop may differ from the continuations after it. Returns whether the configuration does so.
fn entered(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
    out: &mut Collected,
) -> Result<bool> {
    let Some(first) = round(walk, language, configuration)? else { return Ok(false) };
    let Some(second) = round(walk, language, first.next)? else { return Ok(false) };
    if second.next != first.next || first.at[1..] != second.at[1..] {
        return Ok(false);
    }
    out.tokens = TokenSet::of_words(Arc::clone(&language.accepted));
    leave(walk, language, &language.suffixes, &second.at, out)?;
    Ok(true)
}

/// Adds the tokens that begin in a loop, if at each of the next [`MAX_CHARS`] characters, or until no character may
/// follow, all characters of the loop lead to the same configuration: in a counted loop, or after the entry into an
/// uncounted one. Returns whether that is so; false also if no character may follow at once, or if a configuration on
/// the way is unknown or depends on the history.
fn counted(
    walk: &mut Walk<'_>,
    (language, parts): (&LoopLanguage, &ByLength),
    configuration: ConfigurationId,
    out: &mut Collected,
) -> Result<bool> {
    let mut rounds: Vec<Simulation> = Vec::new();
    let mut at = configuration;
    while rounds.len() < MAX_CHARS {
        match round(walk, language, at)? {
            Some(round) if round.next == ConfigurationId::DEAD && !rounds.is_empty() => break,
            Some(round) if round.next != ConfigurationId::DEAD => {
                rounds.push(round.at);
                at = round.next;
            }
            _ => return Ok(false),
        }
    }
    let longest = rounds.len();
    let Some(last) = round(walk, language, at)? else { return Ok(false) };
    rounds.push(last.at);
    out.tokens = match longest {
        MAX_CHARS => TokenSet::of_words(Arc::clone(&parts.words)),
        _ => TokenSet::of_ids(&parts.accepted[..parts.starts[longest + 1]]),
    };
    for (suffixes, at) in parts.suffixes.iter().zip(&rounds) {
        leave(walk, language, suffixes, at, out)?;
    }
    if let Some(longer) = parts.longer {
        walk.run(longer, configuration, |_| true, out)?;
    }
    Ok(true)
}

/// Adds the tokens that leave a loop and whose suffixes are accepted. `at` has the configuration in each state of the
/// loop. Also records where the residual may return.
fn leave(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    suffixes: &Suffixes,
    at: &Simulation,
    out: &mut Collected,
) -> Result<()> {
    for (&suffixes, &at) in suffixes.iter().zip(at) {
        if walk.lazy.is_accepting(at) {
            match &language.places {
                Some(places) => out.continue_at_nodes(walk.vocabulary.trie(), places),
                None => out.continue_everywhere(),
            }
        }
        if let Some(suffixes) = suffixes.filter(|_| at != ConfigurationId::DEAD) {
            walk.run(suffixes, at, |_| true, out)?;
        }
    }
    Ok(())
}

/// One character of a loop.
pub(in crate::mask) struct Round {
    /// The configuration in each state of the loop.
    pub(in crate::mask) at: Simulation,
    /// The configuration after any one character; dead if no character is allowed.
    pub(in crate::mask) next: ConfigurationId,
}

/// Runs one character of a loop and a configuration in lockstep; `None` if characters lead to different configurations,
/// if only some are allowed, or if a configuration is unknown or depends on the history.
pub(in crate::mask) fn round(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<Round>> {
    let automaton = walk.lazy.automaton;
    let mut at = [ConfigurationId::DEAD; STATES];
    at[0] = configuration;
    let mut done = [false; STATES];
    let next = walk.step(configuration, language.probe)?;
    // bytes of one class lead to one configuration only if it does not depend on the history
    let tells_apart =
        |walk: &Walk<'_>, id| id == ConfigurationId::UNKNOWN || walk.lazy.is_history_dependent(id);
    if tells_apart(walk, configuration) || tells_apart(walk, next) {
        return Ok(None);
    }
    while let Some(from) = (0..STATES).find(|&s| at[s] != ConfigurationId::DEAD && !done[s]) {
        done[from] = true;
        for transition in language.transitions.iter().filter(|t| t.from == from) {
            for class in automaton.class_of(transition.low)..=automaton.class_of(transition.high) {
                let byte = automaton.class_representatives()[class];
                let after = walk.step(at[from], byte)?;
                if tells_apart(walk, after) {
                    return Ok(None);
                }
                let agrees = match transition.to {
                    0 => after == next,
                    to if at[to] == ConfigurationId::DEAD => {
                        at[to] = after;
                        (after == ConfigurationId::DEAD) == (next == ConfigurationId::DEAD)
                    }
                    to => after == at[to],
                };
                if !agrees {
                    return Ok(None);
                }
            }
        }
    }
    Ok(Some(Round { at, next }))
}
