//! Masks of configurations that come back to themselves on a loop language: inside a string, a comment, free
//! text, whitespace.
//!
//! Whether a configuration does is checked by running the loop's small automaton and the configuration in
//! lockstep. If it does, every token inside the loop is allowed, a token that leaves the loop is allowed if its
//! rest is accepted where it leaves, and only tokens that do not begin in the loop are looked for in the trie
//! of all tokens. Where rounds are counted the same is done by the number of characters. The result is the
//! walk's, bit for bit.

use super::absorbing;
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::grammar::ByteSet;
use crate::mask::token_set::TokenSet;
use crate::mask::walk::Walk;
use crate::mask::walk::partitions::BEYOND_ASCII;
use crate::token_index::loops::{
    ByLength, ESCAPES, LoopLanguage, MAX_CHARS, STATES, Suffixes, TrieId, escape_group,
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// Configurations, by the state of the loop, among which a configuration may stay.
const MOST_REACHED: usize = 80;

/// The configuration in each state of a loop.
type Simulation = [ConfigurationId; STATES];

/// The tokens allowed in a configuration that loops; `None` if it does not.
pub(in crate::mask) fn compute(
    walk: &mut Walk<'_>,
    configuration: ConfigurationId,
    candidates: &ByteSet,
) -> Result<Option<TokenSet>> {
    for language in &walk.vocabulary.loops().languages {
        if !candidates.contains(language.probe) {
            continue;
        }
        let after = walk.step(configuration, language.probe)?;
        if after == ConfigurationId::DEAD {
            continue;
        }
        let mut allowed = match &language.by_length {
            _ if after == configuration => uncounted(walk, language, configuration)?,
            Some(parts) => counted(walk, (language, parts), configuration)?,
            None => entered(walk, language, configuration)?,
        };
        if allowed.is_none() {
            allowed = absorbing::compute(walk, language, configuration)?;
        }
        if allowed.is_none() {
            allowed = closed(walk, language, configuration)?;
        }
        if let Some(mut allowed) = allowed {
            let outside = |byte: u8| !language.first_bytes[usize::from(byte)];
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
) -> Result<Option<TokenSet>> {
    let Some(Round { at, next }) = round(walk, language, configuration)? else {
        return Ok(None);
    };
    if next != configuration {
        return Ok(None);
    }
    let mut allowed = TokenSet::of_words(Arc::clone(&language.accepted));
    leave(walk, language, &language.suffixes, &at, &mut allowed)?;
    Ok(Some(allowed))
}

/// The tokens that begin in a loop through which a configuration comes back to itself after the first character: what
/// may come instead of the loop and what may come after it need not be the same.
fn entered(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<TokenSet>> {
    let Some(first) = round(walk, language, configuration)? else { return Ok(None) };
    let Some(second) = round(walk, language, first.next)? else { return Ok(None) };
    if second.next != first.next || first.at[1..] != second.at[1..] {
        return Ok(None);
    }
    let mut allowed = TokenSet::of_words(Arc::clone(&language.accepted));
    leave(walk, language, &language.suffixes, &second.at, &mut allowed)?;
    Ok(Some(allowed))
}

/// The tokens that begin in a loop whose rounds each lead to one configuration: a counted loop, or the way into
/// one that is not.
fn counted(
    walk: &mut Walk<'_>,
    (language, parts): (&LoopLanguage, &ByLength),
    configuration: ConfigurationId,
) -> Result<Option<TokenSet>> {
    let mut rounds: Vec<Simulation> = Vec::new();
    let mut at = configuration;
    while rounds.len() < MAX_CHARS {
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
        MAX_CHARS => TokenSet::of_words(Arc::clone(&parts.words)),
        _ => TokenSet::of_ids(&parts.accepted[..parts.starts[longest + 1]]),
    };
    for (suffixes, at) in parts.suffixes.iter().zip(&rounds) {
        leave(walk, language, suffixes, at, &mut allowed)?;
    }
    if let Some(longer) = parts.longer {
        walk.run(longer, configuration, |_| true, &mut allowed)?;
    }
    Ok(Some(allowed))
}

/// Configurations under a loop, each with the state of the loop and how many characters were begun.
struct Reached {
    all: Vec<(usize, ConfigurationId, usize)>,
    known: FxHashSet<(usize, ConfigurationId)>,
    /// Whether more characters than are precomputed lead to others.
    cut_short: bool,
}

impl Reached {
    /// Adds the configuration after a byte or a character that leads to a state of the loop; false if it is dead, or not
    /// known, or there are too many.
    fn add(&mut self, walk: &mut Walk<'_>, next: ConfigurationId, to: usize, begun: usize) -> bool {
        if !next.is_ordinary() || walk.lazy.is_history_dependent(next) {
            return false;
        }
        if begun >= MAX_CHARS && to == 0 {
            self.cut_short |= !self.known.contains(&(0, next));
        } else if self.known.insert((to, next)) {
            if self.all.len() >= MOST_REACHED {
                return false;
            }
            self.all.push((to, next, begun));
        }
        if walk.lazy.is_accepting(next) {
            walk.continue_everywhere();
        }
        true
    }
}

/// Notes in which groups are bytes that a configuration allows, of those that are in none of some ranges, in order.
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

/// The tokens that begin in a loop under which a configuration stays among few that are not dead, or does so for
/// as many characters as are precomputed: before a word that is searched for is found, say, or where words are counted.
fn closed(
    walk: &mut Walk<'_>,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<TokenSet>> {
    let Some(counted) = &language.by_length else { return Ok(None) };
    let mut reached =
        Reached { all: vec![(0, configuration, 0)], known: FxHashSet::default(), cut_short: false };
    let mut done = 0;
    let mut left_by = [false; ESCAPES];
    while let Some(&(state, at, begun)) = reached.all.get(done) {
        done += 1;
        // by characters, as far as they need not be distinguished byte by byte
        let (mut ascii, mut beyond) = (None, None);
        if state == 0 {
            ascii = Some(walk.lazy.after_ascii(at, language.ascii)?);
            if language.beyond {
                beyond = walk.lazy.after_characters(at, &BEYOND_ASCII)?.known();
            }
        }
        let next = ascii.iter().flatten().chain(beyond.iter().flatten());
        for &next in next {
            if !reached.add(walk, next, 0, begun + 1) {
                return Ok(None);
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
                if !reached.add(walk, next, transition.to, begun + usize::from(state == 0)) {
                    return Ok(None);
                }
            }
        }
        let mut stay: SmallVec<[(u8, u8); 16]> = transitions().map(|t| (t.low, t.high)).collect();
        stay.sort_unstable();
        leave_between(walk, at, &stay, &mut left_by)?;
    }
    let cut_short = reached.cut_short;
    let mut allowed =
        TokenSet::of_words(Arc::clone(if cut_short { &counted.words } else { &language.accepted }));
    for (escaping, left) in language.escaping.iter().zip(left_by) {
        if let Some(escaping) = escaping.filter(|_| left) {
            walk.run(escaping, configuration, |_| true, &mut allowed)?;
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
    suffixes: &Suffixes,
    at: &Simulation,
    allowed: &mut TokenSet,
) -> Result<()> {
    for (&suffixes, &at) in suffixes.iter().zip(at) {
        if walk.lazy.is_accepting(at) {
            match &language.places {
                Some(places) => walk.continue_at_nodes(places),
                None => walk.continue_everywhere(),
            }
        }
        if let Some(suffixes) = suffixes.filter(|_| at != ConfigurationId::DEAD) {
            walk.run(suffixes, at, |_| true, allowed)?;
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
    let automaton = walk.lazy.automaton;
    let mut at = [ConfigurationId::DEAD; STATES];
    at[0] = configuration;
    let mut done = [false; STATES];
    let next = walk.step(configuration, language.probe)?;
    // bytes of one class lead to one configuration only where nothing is remembered
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
