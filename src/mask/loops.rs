//! Masks of configurations that come back to themselves on a loop language: inside a string, a comment, free
//! text, whitespace.
//!
//! Whether a configuration does is checked by running the loop's small automaton and the configuration in
//! lockstep. If it does, every token inside the loop is allowed, a token that leaves the loop is allowed if its
//! rest is accepted where it leaves, and only tokens that do not begin in the loop are looked for in the trie
//! of all tokens. The result is the walk's, bit for bit.

use super::allowed::Allowed;
use super::walk::Walk;
use crate::automaton::{Automaton, ConfigurationId, Tables};
use crate::error::Result;
use crate::vocabulary::Vocabulary;
use crate::vocabulary::loops::{LoopLanguage, STATES};

/// The configuration in each state of a loop.
type Simulation = [ConfigurationId; STATES];

/// The tokens allowed in a configuration that loops; `None` if it does not.
pub(super) fn compute(
    tables: &mut Tables,
    automaton: &Automaton,
    vocabulary: &Vocabulary,
    configuration: ConfigurationId,
) -> Result<Option<Allowed>> {
    if tables.waits_for_one_byte(automaton, configuration) {
        return Ok(None);
    }
    for language in vocabulary.loops() {
        let Some(at) = simulate(tables, automaton, language, configuration)? else { continue };
        let width = vocabulary.width();
        let mut allowed = Allowed::starting_with(width, &language.inside, language.inside_words.as_ref());
        let mut walk = Walk::new(tables, automaton);
        for (rests, &at) in language.rests.iter().zip(&at) {
            if let Some(rests) = rests.as_ref().filter(|_| at != ConfigurationId::DEAD) {
                walk.run(rests, at, |_| true, &mut allowed)?;
            }
        }
        let outside = |byte: u8| !language.begins[usize::from(byte)];
        walk.run(vocabulary.trie(), configuration, outside, &mut allowed)?;
        return Ok(Some(allowed));
    }
    Ok(None)
}

/// Runs a loop and a configuration in lockstep: the configuration in each state of the loop, if it comes back
/// to itself however the loop is run through.
fn simulate(
    tables: &mut Tables,
    automaton: &Automaton,
    language: &LoopLanguage,
    configuration: ConfigurationId,
) -> Result<Option<Simulation>> {
    if tables.step(automaton, configuration, language.probe)? != configuration {
        return Ok(None);
    }
    let mut at = [ConfigurationId::DEAD; STATES];
    at[0] = configuration;
    let mut done = [false; STATES];
    // states are reached from states that are done: at most one round a state
    while let Some(from) = (0..STATES).find(|&s| at[s] != ConfigurationId::DEAD && !done[s]) {
        done[from] = true;
        for transition in language.transitions.iter().filter(|t| t.from == from) {
            for class in automaton.class_of(transition.low)..=automaton.class_of(transition.high) {
                let byte = automaton.class_representatives()[class];
                let next = tables.step(automaton, at[from], byte)?;
                let known = &mut at[transition.to];
                if next == ConfigurationId::DEAD || (*known != ConfigurationId::DEAD && *known != next) {
                    return Ok(None);
                }
                *known = next;
            }
        }
    }
    Ok(Some(at))
}
