//! Whether an item can become a value that was not seen.
//!
//! Breadth first over the item alone and the values that it may still become. Where it can leave all of them with a byte,
//! every word from there on is another value; so the search is short, unless few values are left.

use super::Register;
use super::likes::Likes;
use crate::automaton::Automaton;
use crate::automaton::table::{ConfigurationId, Tables};
use crate::error::Result;
use crate::limits::Limits;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Bytes that no string begins with are tried last.
const FIRST: u8 = b' ';

/// Configurations looked at to see whether what comes is free.
const LOOKED_AT: usize = 64;

/// A place takes so much longer to look at than a configuration of a lockstep.
const COST: usize = 16;

/// A place of the search: an item, what it may become, and the place and byte that it was reached by.
struct Place {
    item: ConfigurationId,
    like: Likes,
    from: usize,
    byte: u8,
}

/// What is searched for.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// That there is a word.
    Any,
    /// A whole word.
    Whole,
}

impl Tables {
    /// Whether, from `item` on, there are words of it that are none of the values `like`.
    pub(super) fn leads_elsewhere(
        &mut self,
        automaton: &Automaton,
        item: ConfigurationId,
        like: &Likes,
    ) -> Result<bool> {
        Ok(self.search(automaton, item, like.clone(), Wanted::Any)?.is_some())
    }

    /// Whether there is an item that is none of those that came.
    pub(super) fn is_another(&mut self, automaton: &Automaton, after: Register) -> Result<bool> {
        let item = self.item_alone(automaton, after.list, after.count)?;
        if self.is_free(automaton, item)? {
            return Ok(true);
        }
        let like = self.memory.values_seen(&after);
        Ok(self.search(automaton, item, like, Wanted::Any)?.is_some())
    }

    /// How many different items a list has, counted up to `most`.
    pub(crate) fn different_items(&mut self, automaton: &Automaton, list: u32, most: u32) -> Result<u32> {
        let item = self.item_alone(automaton, list, 0)?;
        if self.is_free(automaton, item)? {
            return Ok(most);
        }
        let mut came = Register::default();
        for count in 0..most {
            let like = self.memory.values_seen(&came);
            let Some(word) = self.search(automaton, item, like, Wanted::Whole)? else {
                return Ok(count);
            };
            came = self.memory.with_value(came, &word).unwrap_or(came);
        }
        Ok(most)
    }

    /// The rest of a word that is none of the values `like`, or nothing more than that there is one.
    fn search(
        &mut self,
        automaton: &Automaton,
        item: ConfigurationId,
        like: Likes,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>> {
        if item == ConfigurationId::DEAD {
            return Ok(None);
        }
        if like.is_empty() && wanted == Wanted::Any || self.is_new(item, &like) {
            return Ok(Some(Vec::new()));
        }
        let mut known = FxHashSet::from_iter([(item, like.clone())]);
        let mut places = vec![Place { item, like, from: 0, byte: 0 }];
        let mut open = VecDeque::from([0]);
        let mut straight_on = false;
        // a whole word had better be short; to leave all values behind it may be quicker to go straight on, or not
        let mut next = |open: &mut VecDeque<usize>| {
            straight_on = !straight_on && wanted == Wanted::Any;
            if straight_on { open.pop_back() } else { open.pop_front() }
        };
        while let Some(at) = next(&mut open) {
            let candidates = self.candidate_bytes(automaton, places[at].item);
            for byte in (FIRST..=u8::MAX).chain(0..FIRST).filter(|&byte| candidates.contains(byte)) {
                let item = self.step(automaton, places[at].item, byte)?;
                if item == ConfigurationId::DEAD {
                    continue;
                }
                let like = self.memory.advanced(&places[at].like, byte);
                if like.is_empty() && wanted == Wanted::Any {
                    return Ok(Some(Vec::new()));
                }
                let found = self.is_new(item, &like);
                if found || known.insert((item, like.coarse())) {
                    open.push_back(places.len());
                    places.push(Place { item, like, from: at, byte });
                }
                if found {
                    return Ok(Some(path(&places)));
                }
            }
            let limit = automaton.limits().lockstep_search;
            if places.len() > limit / COST {
                let found = "a list of different items with no other item found so far";
                return Err(Limits::exceeded("lockstep_search", limit, found));
            }
        }
        Ok(None)
    }

    /// Whether an item may end as none of the values.
    fn is_new(&self, item: ConfigurationId, like: &Likes) -> bool {
        self.is_accepting(item) && !like.is_equal(&self.memory.values)
    }

    /// Whether endlessly many values begin with what was read of an item: where a letter may come again and again, it does
    /// so in a string, or in what is no JSON. False if that is not found out soon.
    pub(super) fn is_free(&mut self, automaton: &Automaton, item: ConfigurationId) -> Result<bool> {
        if let Some(&known) = self.memory.free.get(&item) {
            return Ok(known);
        }
        let mut places = vec![(item, 0)];
        let mut seen = FxHashSet::from_iter([item]);
        let mut at = 0;
        while let Some(&(from, _)) = places.get(at) {
            let known = self.memory.free.get(&from).copied();
            let comes_back = |tables: &mut Tables, byte| Ok(tables.step(automaton, from, byte)? == from);
            if known == Some(true) || comes_back(self, b'a')? && comes_back(self, b'b')? {
                let mut on_path = at;
                loop {
                    self.memory.free.insert(places[on_path].0, true);
                    if on_path == 0 {
                        return Ok(true);
                    }
                    on_path = places[on_path].1;
                }
            }
            if known.is_none() && !self.remembers(from) {
                for &byte in automaton.class_representatives() {
                    let next = self.step(automaton, from, byte)?;
                    if next != ConfigurationId::DEAD && places.len() < LOOKED_AT && seen.insert(next) {
                        places.push((next, at));
                    }
                }
            }
            at += 1;
        }
        self.memory.free.insert(item, false);
        Ok(false)
    }
}

/// The bytes that led to the last place.
fn path(places: &[Place]) -> Vec<u8> {
    let mut word = Vec::new();
    let mut at = places.len() - 1;
    while at > 0 {
        word.push(places[at].byte);
        at = places[at].from;
    }
    word.reverse();
    word
}
