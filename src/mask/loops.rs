//! Masks of configurations that come back to themselves on a loop language: inside a string, a comment, free
//! text, whitespace.
//!
//! Whether a configuration does is checked by running the loop's small automaton and the configuration in
//! lockstep. If it does, every token inside the loop is allowed, a token that leaves the loop is allowed if its
//! rest is accepted where it leaves, and only tokens that do not begin in the loop are looked for in the trie
//! of all tokens. Where rounds are counted the same is done by the number of characters. The result is the
//! walk's, bit for bit.

use super::allowed::Allowed;
use super::walk::Walk;
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::vocabulary::loops::{
    COUNTED, Counted, LEAVING, LoopLanguage, Rests, STATES, TrieId, leaving_group,
};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Configurations, by the state of the loop, among which a configuration may stay.
const MOST_REACHED: usize = 400;

/// The configuration in each state of a loop.
type Simulation = [ConfigurationId; STATES];

/// The tokens allowed in a configuration that loops; `None` if it does not.
pub(super) fn compute(
    walk: &mut Walk<'_>,
    configuration: ConfigurationId,
    candidates: &ByteSet,
) -> Result<Option<Allowed>> {
    for language in &walk.vocabulary.loops().languages {
        if !candidates.contains(language.probe) {
            continue;
        }
        let after = walk.step(configuration, language.probe)?;
        if after == ConfigurationId::DEAD {
            continue;
        }
        let mut allowed = match &language.counted {
            _ if after == configuration => uncounted(walk, language, configuration)?,
            Some(parts) => counted(walk, (language, parts), configuration)?,
            None => entered(walk, language, configuration)?,
        };
        if allowed.is_none() {
            allowed = closed(walk, language, configuration)?;
        }
        if let Some(mut allowed) = allowed {
            let outside = |byte: u8| !language.begins[usize::from(byte)];
            walk.run(TrieId::ALL, configuration, outside, &mut allowed)?;
            return Ok(Some(allowed));
        }
    }
    Ok(None)
}

/// The tokens that begin in a loop through which the configuration comes back to itself.
fn uncounted(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<Allowed>> {
    let Some(Round { at, next }) = round(walk, language, configuration)? else {
        return Ok(None);
    };
    if next != configuration {
        return Ok(None);
    }
    let mut allowed = Allowed::of_words(Arc::clone(&language.inside));
    leave(walk, language, &language.rests, &at, &mut allowed)?;
    Ok(Some(allowed))
}

/// The tokens that begin in a loop through which a configuration comes back to itself after the first character: what
/// may come instead of the loop and what may come after it need not be the same.
fn entered(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<Allowed>> {
    let Some(first) = round(walk, language, configuration)? else { return Ok(None) };
    let Some(second) = round(walk, language, first.next)? else { return Ok(None) };
    if second.next != first.next || first.at[1..] != second.at[1..] {
        return Ok(None);
    }
    let mut allowed = Allowed::of_words(Arc::clone(&language.inside));
    leave(walk, language, &language.rests, &second.at, &mut allowed)?;
    Ok(Some(allowed))
}

/// The tokens that begin in a loop whose rounds each lead to one configuration: a counted loop, or the way into
/// one that is not.
fn counted(
    walk: &mut Walk<'_>,
    (language, parts): (&LoopLanguage, &Counted),
    configuration: ConfigurationId,
) -> Result<Option<Allowed>> {
    let mut rounds: Vec<Simulation> = Vec::new();
    let mut at = configuration;
    while rounds.len() < COUNTED {
        match round(walk, language, at)? {
            Some(round) if round.next == ConfigurationId::DEAD && !rounds.is_empty() => break,
            Some(round) if round.next != ConfigurationId::DEAD => {
                rounds.push(round.at);
                at = round.next;
            }
            _ => return Ok(None),
        }
    }
    let longest = rounds.len();
    let Some(last) = round(walk, language, at)? else { return Ok(None) };
    rounds.push(last.at);
    let mut allowed = match longest {
        COUNTED => Allowed::of_words(Arc::clone(&parts.words)),
        _ => Allowed::of_ids(&parts.inside[..parts.starts[longest + 1]]),
    };
    for (rests, at) in parts.rests.iter().zip(&rounds) {
        leave(walk, language, rests, at, &mut allowed)?;
    }
    if let Some(longer) = parts.longer {
        walk.run(longer, configuration, |_| true, &mut allowed)?;
    }
    Ok(Some(allowed))
}

/// The tokens that begin in a loop under which a configuration stays among few that are not dead, or does so for
/// as many characters as are precomputed: before a word that is searched for is found, say, or where words are counted.
fn closed(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<Allowed>> {
    let Some(counted) = &language.counted else { return Ok(None) };
    // each with the state of the loop, and how many characters were begun
    let mut reached = vec![(0, configuration, 0)];
    let mut known: FxHashSet<(usize, ConfigurationId)> = FxHashSet::default();
    let mut done = 0;
    let mut left_by = [false; LEAVING];
    let mut cut_short = false;
    while let Some(&(state, at, begun)) = reached.get(done) {
        done += 1;
        let mut stays = ByteSet::EMPTY;
        for transition in language.transitions.iter().filter(|t| t.from == state) {
            stays = stays.union(&ByteSet::range(transition.low, transition.high));
            for next in walk.tables.after_range(walk.automaton, at, (transition.low, transition.high))? {
                if next <= ConfigurationId::UNSURE || walk.tables.remembers(next) {
                    return Ok(None);
                }
                let begun = begun + usize::from(state == 0);
                if begun >= COUNTED && transition.to == 0 {
                    cut_short |= !known.contains(&(0, next));
                } else if known.insert((transition.to, next)) {
                    if reached.len() >= MOST_REACHED {
                        return Ok(None);
                    }
                    reached.push((transition.to, next, begun));
                }
                if walk.tables.is_accepting(next) {
                    walk.return_everywhere();
                }
            }
        }
        let candidates = walk.tables.candidate_bytes(walk.automaton, at);
        for byte in candidates.intersection(&stays.complement()).iter() {
            let left = &mut left_by[leaving_group(byte)];
            *left = *left || walk.step(at, byte)? != ConfigurationId::DEAD;
        }
    }
    let mut allowed =
        Allowed::of_words(Arc::clone(if cut_short { &counted.words } else { &language.inside }));
    for (leaving, left) in language.leaving.iter().zip(left_by) {
        if let Some(leaving) = leaving.filter(|_| left) {
            walk.run(leaving, configuration, |_| true, &mut allowed)?;
        }
    }
    if let Some(longer) = counted.longer.filter(|_| cut_short) {
        walk.run(longer, configuration, |_| true, &mut allowed)?;
    }
    Ok(Some(allowed))
}

/// Adds the tokens that leave a loop where their rests are accepted.
fn leave(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    rests: &Rests,
    at: &Simulation,
    allowed: &mut Allowed,
) -> Result<()> {
    for (&rests, &at) in rests.iter().zip(at) {
        if walk.tables.is_accepting(at) {
            match &language.places {
                Some(places) => walk.return_at(places),
                None => walk.return_everywhere(),
            }
        }
        if let Some(rests) = rests.filter(|_| at != ConfigurationId::DEAD) {
            walk.run(rests, at, |_| true, allowed)?;
        }
    }
    Ok(())
}

/// One character of a loop.
struct Round {
    /// The configuration in each state of the loop.
    at: Simulation,
    /// The configuration after any one character; dead if none is allowed.
    next: ConfigurationId,
}

/// Runs one character of a loop and a configuration in lockstep; `None` if characters lead to different
/// configurations, or some are allowed and some are not.
fn round(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<Round>> {
    let automaton = walk.automaton;
    let mut at = [ConfigurationId::DEAD; STATES];
    at[0] = configuration;
    let mut done = [false; STATES];
    let next = walk.step(configuration, language.probe)?;
    // bytes of one class lead to one configuration only where nothing is remembered
    let tells_apart = |walk: &Walk<'_>, id| id == ConfigurationId::UNSURE || walk.tables.remembers(id);
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
