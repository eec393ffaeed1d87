//! Subtrees of the trie of all tokens that a configuration takes whole.
//!
//! Inside a string that must match a pattern, or whose words and characters are counted, letters lead on whatever they are,
//! for some characters at least. A subtree that holds letters only, and no more of them in a row than lead on so, needs no
//! walk: every token in it is allowed. How far the characters of a class lead on from a configuration is found by going
//! through the configurations that they lead to, breadth first.

use super::walk::Walk;
use crate::automaton::ConfigurationId;
use crate::error::Result;
use crate::vocabulary::TokenTrie;
use crate::vocabulary::loops::BEYOND_ASCII;
use crate::vocabulary::subtrees::Class;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Configurations within the characters that begin with one byte.
const MOST_REACHED: usize = 32;

/// One configuration may be looked at, and one more for so many nodes of a subtree.
const NODES_PER_LOOK: u32 = 128;

/// But no more than this.
const MOST_LOOKS: u32 = 64;

/// A configuration, the characters that are read there, and whether the part must not return on the way.
type Place = (ConfigurationId, Class, bool);

/// Where more configurations are come to, characters are not followed.
const MOST_COME_TO: usize = 512;

/// What is known of the characters of classes.
#[derive(Debug, Default)]
pub(super) struct Uniform {
    after: FxHashMap<Place, After>,
    reaches: FxHashMap<Place, Reach>,
}

/// The configurations after any character of a class; `None` if some are not allowed, or the part may return there.
type After = Option<SmallVec<[ConfigurationId; 4]>>;

/// How far the characters of a class lead on.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// At least so many.
    characters: u32,
    /// No more are found, unless more configurations than this may be looked at.
    looks: u32,
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
        let Some(subtree) = self.vocabulary.loops().subtrees.get(node) else { return Ok(false) };
        let place = (configuration, subtree.class, self.returns.is_some());
        let looks = (1 + (trie.subtree_end(node) - node) / NODES_PER_LOOK).min(MOST_LOOKS);
        match self.uniform.reaches.get(&place) {
            Some(reach) if reach.characters >= subtree.characters => Ok(true),
            Some(reach) if reach.looks >= looks => Ok(false),
            _ => self.lead_on(place, subtree.characters, looks),
        }
    }

    /// Whether so many characters of a class lead on, whatever they are; false if it takes too many looks to know.
    fn lead_on(&mut self, start: Place, characters: u32, most_looks: u32) -> Result<bool> {
        let (_, class, quiet) = start;
        let mut looks = 0;
        let mut seen = FxHashSet::from_iter([start.0]);
        // with how many characters each was come to
        let mut order = vec![(start.0, 0)];
        let mut done = 0;
        while let Some(&(at, read)) = order.get(done).filter(|&&(_, read)| read < characters) {
            done += 1;
            let place = (at, class, quiet);
            let is_known = self.uniform.after.contains_key(&place);
            if order.len() > MOST_COME_TO || !is_known && looks == most_looks {
                self.note(start, &order, Reach { characters: read, looks: most_looks });
                return Ok(false);
            }
            if !is_known {
                looks += 1;
                let after = self.after(at, class)?;
                self.uniform.after.insert(place, after);
            }
            match self.uniform.after.get(&place) {
                Some(Some(after)) => {
                    let new = after.iter().filter(|&&next| seen.insert(next));
                    order.extend(new.map(|&next| (next, read + 1)));
                }
                // that is all, however much one looks
                _ => {
                    self.note(start, &order, Reach { characters: read, looks: u32::MAX });
                    return Ok(false);
                }
            }
        }
        let characters = if done == order.len() { u32::MAX } else { characters };
        self.note(start, &order, Reach { characters, looks: 0 });
        Ok(true)
    }

    /// Notes how far characters lead on from a start, and from the configurations that were come to on the way.
    fn note(&mut self, start: Place, order: &[(ConfigurationId, u32)], reach: Reach) {
        let (_, class, quiet) = start;
        for &(at, read) in order {
            // else the start would not lead on so far
            let characters = reach.characters.saturating_sub(read);
            let known =
                self.uniform.reaches.entry((at, class, quiet)).or_insert(Reach { characters, looks: 0 });
            known.characters = known.characters.max(characters);
        }
        self.uniform.reaches.insert(start, reach);
    }

    /// The configurations after any character of a class.
    fn after(&mut self, at: ConfigurationId, class: Class) -> Result<After> {
        // where something is remembered, characters do not lead on alike
        if at <= ConfigurationId::UNSURE || self.tables.remembers(at) {
            return Ok(None);
        }
        let mut after = SmallVec::new();
        for &range in class.ascii() {
            for next in self.tables.after_range(self.automaton, at, range)? {
                if !self.goes_on(next) {
                    return Ok(None);
                }
                if !after.contains(&next) {
                    after.push(next);
                }
            }
        }
        // within characters beyond ASCII: with the state there
        let mut reached: SmallVec<[(usize, ConfigurationId); 8]> = SmallVec::new();
        for &(low, high) in class.beyond_ascii() {
            for transition in BEYOND_ASCII.iter().filter(|transition| transition.from == 0) {
                let bytes = (transition.low.max(low), transition.high.min(high));
                if bytes.0 <= bytes.1 && !self.read((at, bytes), transition.to, &mut reached)? {
                    return Ok(None);
                }
            }
        }
        let mut done = 0;
        while let Some(&(state, at)) = reached.get(done) {
            done += 1;
            if state == 0 {
                if !after.contains(&at) {
                    after.push(at);
                }
                continue;
            }
            for transition in BEYOND_ASCII.iter().filter(|transition| transition.from == state) {
                let bytes = (transition.low, transition.high);
                if !self.read((at, bytes), transition.to, &mut reached)? {
                    return Ok(None);
                }
            }
        }
        Ok(Some(after))
    }

    /// Whether a configuration allows something and the part does not return there.
    fn goes_on(&self, at: ConfigurationId) -> bool {
        at > ConfigurationId::UNSURE && !(self.returns.is_some() && self.tables.is_accepting(at))
    }

    /// Adds the configurations after some bytes, with the state that they lead to; false if some are not allowed, or there are
    /// too many.
    fn read(
        &mut self,
        (at, bytes): (ConfigurationId, (u8, u8)),
        state: usize,
        reached: &mut SmallVec<[(usize, ConfigurationId); 8]>,
    ) -> Result<bool> {
        if self.tables.remembers(at) {
            return Ok(false);
        }
        for next in self.tables.after_range(self.automaton, at, bytes)? {
            if !self.goes_on(next) || reached.len() >= MOST_REACHED {
                return Ok(false);
            }
            if !reached.contains(&(state, next)) {
                reached.push((state, next));
            }
        }
        Ok(true)
    }
}
