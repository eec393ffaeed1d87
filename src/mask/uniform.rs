//! Subtrees of the trie of all tokens that a configuration takes whole.
//!
//! Inside a string that must match a pattern, or whose words and characters are counted, most characters lead from a
//! configuration to one and the same, from there again to one, and so on. A subtree that holds no other characters, and
//! none of whose paths has more of them than lead on so, needs no walk: every token in it is allowed.

use super::walk::Walk;
use crate::automaton::{ConfigurationId, Dense};
use crate::error::Result;
use crate::vocabulary::TokenTrie;
use crate::vocabulary::loops::BEYOND_ASCII;
use crate::vocabulary::subtrees::{Leads, Subtree};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Configurations within the characters that begin with one byte.
const MOST_REACHED: usize = 32;

/// What most characters do, by configuration.
#[derive(Debug, Default)]
pub(super) struct Uniform {
    known: FxHashMap<ConfigurationId, Majority>,
}

/// The characters that lead from a configuration to the one that most ASCII characters lead to.
#[derive(Clone, Copy, Debug)]
struct Majority {
    /// The configuration after each of them; it is not dead.
    next: ConfigurationId,
    /// First bytes, each of which has no characters that lead elsewhere.
    leads: Leads,
    /// Whether those beyond ASCII have been looked at.
    complete: bool,
    /// Whether no configuration on the way to `next` and not `next` accepts.
    quiet: bool,
}

impl Walk<'_> {
    /// Whether all tokens below a node are allowed if `configuration` is reached there, as far as can be said without
    /// a walk. It cannot if the part may return below.
    pub(super) fn takes_whole(
        &mut self,
        trie: &TokenTrie,
        node: u32,
        configuration: ConfigurationId,
    ) -> Result<bool> {
        match self.row(configuration) {
            Some(row) => self.takes_all(trie, node, (configuration, row)),
            None => Ok(false),
        }
    }

    /// The same, given the successors.
    #[inline]
    pub(super) fn takes_all(
        &mut self,
        trie: &TokenTrie,
        node: u32,
        (configuration, row): (ConfigurationId, Dense<'_>),
    ) -> Result<bool> {
        let Some(subtree) = self.vocabulary.loops().subtrees.get(node) else { return Ok(false) };
        // two samples, which a walk would need as well
        let Some([first, second]) = trie.two_children(node) else { return Ok(false) };
        let mut samples = [ConfigurationId::DEAD; 2];
        for (sample, byte) in samples.iter_mut().zip([first, second]) {
            *sample = match row.step(self.automaton, byte) {
                Some(known) => known,
                None => self.step(configuration, byte)?,
            };
            if *sample <= ConfigurationId::UNSURE {
                return Ok(false);
            }
        }
        if first.is_ascii() && second.is_ascii() && samples[0] != samples[1] {
            return Ok(false);
        }
        self.leads_on(configuration, subtree)
    }

    /// Whether all characters of a subtree lead on alike, as often as they have to.
    fn leads_on(&mut self, configuration: ConfigurationId, subtree: &Subtree) -> Result<bool> {
        let mut at = configuration;
        for _ in 0..subtree.characters {
            let Some(majority) = self.majority(at, !subtree.leads.are_ascii())? else { return Ok(false) };
            if !subtree.leads.are_in(&majority.leads) || self.returns.is_some() && !majority.quiet {
                return Ok(false);
            }
            if majority.next == at {
                break;
            }
            at = majority.next;
        }
        Ok(true)
    }

    fn majority(&mut self, at: ConfigurationId, complete: bool) -> Result<Option<Majority>> {
        // where something is remembered, characters do not lead on alike
        if at == ConfigurationId::UNSURE || self.tables.remembers(at) {
            return Ok(None);
        }
        let known = self.uniform.known.get(&at).copied();
        if let Some(known) = known.filter(|known| known.complete || !complete) {
            return Ok((known.next != ConfigurationId::DEAD).then_some(known));
        }
        let mut majority = match known {
            Some(known) => known,
            None => self.ascii_majority(at)?,
        };
        if complete {
            self.look_beyond_ascii(at, &mut majority)?;
        }
        self.uniform.known.insert(at, majority);
        Ok((majority.next != ConfigurationId::DEAD).then_some(majority))
    }

    fn ascii_majority(&mut self, at: ConfigurationId) -> Result<Majority> {
        // where the bytes lead, and how many lead there
        let mut after = [ConfigurationId::DEAD; 0x80];
        let mut counts: SmallVec<[(ConfigurationId, usize); 8]> = SmallVec::new();
        let mut class = None;
        let mut next = ConfigurationId::DEAD;
        for (byte, after) in (0..).zip(&mut after) {
            if class.replace(self.automaton.class_of(byte)) != class {
                next = self.step(at, byte)?;
            }
            *after = next;
            match counts.iter_mut().rev().find(|(known, _)| *known == next) {
                Some((_, count)) => *count += 1,
                None => counts.push((next, 1)),
            }
        }
        let alive = counts.into_iter().filter(|&(next, _)| next > ConfigurationId::UNSURE);
        let next = alive.max_by_key(|&(_, count)| count).map_or(ConfigurationId::DEAD, |most| most.0);
        let mut leads = Leads::default();
        (0..).zip(after).filter(|&(_, after)| after == next).for_each(|(byte, _)| leads.insert(byte));
        let complete = next == ConfigurationId::DEAD;
        Ok(Majority { next, leads, complete, quiet: !self.tables.is_accepting(next) })
    }

    /// Adds the first bytes beyond ASCII whose characters all lead where the majority does.
    fn look_beyond_ascii(&mut self, at: ConfigurationId, majority: &mut Majority) -> Result<()> {
        majority.complete = true;
        let mut known: SmallVec<[((usize, ConfigurationId), bool); 16]> = SmallVec::new();
        for lead in BEYOND_ASCII.iter().filter(|transition| transition.from == 0) {
            for byte in lead.low..=lead.high {
                let begun = (lead.to, self.step(at, byte)?);
                let all = match known.iter().find(|(place, _)| *place == begun) {
                    Some(&(_, all)) => all,
                    None => {
                        let all = self.all_lead_to(begun, majority)?;
                        known.push((begun, all));
                        all
                    }
                };
                if all {
                    majority.leads.insert(byte);
                }
            }
        }
        Ok(())
    }

    /// Whether a character that is begun leads where the majority does, however it goes on.
    fn all_lead_to(&mut self, begun: (usize, ConfigurationId), majority: &mut Majority) -> Result<bool> {
        let mut reached: SmallVec<[(usize, ConfigurationId); 8]> = SmallVec::from_elem(begun, 1);
        let mut quiet = true;
        let mut done = 0;
        while let Some(&(state, at)) = reached.get(done) {
            done += 1;
            if at <= ConfigurationId::UNSURE || self.tables.remembers(at) {
                return Ok(false);
            }
            quiet &= !self.tables.is_accepting(at);
            for transition in BEYOND_ASCII.iter().filter(|transition| transition.from == state) {
                let classes =
                    self.automaton.class_of(transition.low)..=self.automaton.class_of(transition.high);
                for class in classes {
                    let next = self.step(at, self.automaton.class_representatives()[class])?;
                    let place = (transition.to, next);
                    if transition.to == 0 && next != majority.next {
                        return Ok(false);
                    }
                    if transition.to != 0 && !reached.contains(&place) {
                        if reached.len() >= MOST_REACHED {
                            return Ok(false);
                        }
                        reached.push(place);
                    }
                }
            }
        }
        majority.quiet &= quiet;
        Ok(true)
    }
}
