//! Whether an item can become a value that was not seen.
//!
//! The search is over the item alone and the earlier values that it may still become. If some byte rules out all these
//! values, every word that continues is another value. So the search is short unless few values are left.

use super::candidates::Candidates;
use super::memory::{Freedom, SeenItems};
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::ConfigurationId;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::tuning::{FREE_THROUGHOUT, FREEDOM_SEARCH, NESTED_SEARCHES, PLACE_COST};
use crate::collections::best_first::Trail;
use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// White space bytes are at most this byte. Texts after white space are examined last: if an item depends on its text,
/// more white space leads to ever new configurations.
const SPACE: u8 = b' ';

/// The goal of a search.
#[derive(Clone, Copy, PartialEq)]
enum Wanted {
    /// Only the existence of a word.
    Any,
    /// A complete word.
    Whole,
}

impl Cache {
    /// Whether an item may end as none of the candidates.
    fn is_new(&self, item: ConfigurationId, candidates: &Candidates) -> bool {
        self.is_accepting(item) && !self.memory.is_equal(candidates)
    }

    /// Stores `freedom` for the place number `on_path` and for all places on the path to it.
    fn free_from(&mut self, places: &[(ConfigurationId, usize, bool)], mut on_path: usize, freedom: Freedom) {
        loop {
            self.memory.free.insert(places[on_path].0, freedom);
            if on_path == 0 {
                return;
            }
            on_path = places[on_path].1;
        }
    }
}

impl Lazy<'_> {
    /// Whether an item that may still become the candidates can become another value.
    pub(super) fn may_differ(&mut self, item: ConfigurationId, candidates: &Candidates) -> Result<bool> {
        let automaton = self.automaton;
        if candidates.is_empty() {
            return Ok(true);
        }
        if self.memory.searches >= NESTED_SEARCHES {
            let limit = automaton.limits().lockstep_search;
            let found = "deeper nested lists of different items";
            return Err(Limits::exceeded(LimitKind::LockstepSearch, limit, found));
        }
        self.memory.searches += 1;
        let found = self.may_differ_here(item, candidates);
        self.memory.searches -= 1;
        found
    }

    fn may_differ_here(&mut self, item: ConfigurationId, candidates: &Candidates) -> Result<bool> {
        match self.freedom(item)? {
            Freedom::Letters => return Ok(true),
            Freedom::Digits if !self.memory.is_in_exponent(candidates) => return Ok(true),
            _ => {}
        }
        if let Some(&known) = self.memory.elsewhere.get(&(item, *candidates)) {
            return Ok(known);
        }
        let found = self.search(item, *candidates, Wanted::Any)?.is_some();
        self.memory.elsewhere.insert((item, *candidates), found);
        Ok(found)
    }

    /// Whether an item exists that differs from the items seen.
    pub(super) fn is_another(&mut self, after: SeenItems) -> Result<bool> {
        let item = self.item_alone(after.list, after.count)?;
        let candidates = self.memory.values_seen(&after);
        Ok(item != ConfigurationId::DEAD && self.may_differ(item, &candidates)?)
    }

    /// The number of different items that the first place of a list allows, counted up to `most`; `most` if there are
    /// endlessly many.
    pub(crate) fn different_items(&mut self, list: u32, most: u32) -> Result<u32> {
        let item = self.item_alone(list, 0)?;
        if self.freedom(item)? != Freedom::No {
            return Ok(most);
        }
        let mut came = SeenItems::default();
        for count in 0..most {
            let candidates = self.memory.values_seen(&came);
            let Some(word) = self.search(item, candidates, Wanted::Whole)? else {
                return Ok(count);
            };
            came = self.memory.with_value(came, &word).unwrap_or(came);
        }
        Ok(most)
    }

    /// The rest of a word that is none of the candidates. For [`Wanted::Any`], some text that need not be such a rest.
    /// `None` if there is no such word.
    fn search(
        &mut self,
        item: ConfigurationId,
        candidates: Candidates,
        wanted: Wanted,
    ) -> Result<Option<Vec<u8>>> {
        let automaton = self.automaton;
        if item == ConfigurationId::DEAD {
            return Ok(None);
        }
        if candidates.is_empty() && wanted == Wanted::Any || self.is_new(item, &candidates) {
            return Ok(Some(Vec::new()));
        }
        let mut known = FxHashSet::from_iter([(item, candidates)]);
        let mut places = Trail::new((item, candidates));
        let (mut open, mut spaced) = (VecDeque::from([0]), VecDeque::new());
        let mut straight_on = false;
        // a complete word should be short; ruling out all candidates may be faster depth first or breadth first, so
        // alternate
        let mut next = |open: &mut VecDeque<usize>| {
            straight_on = !straight_on && wanted == Wanted::Any;
            if straight_on { open.pop_back() } else { open.pop_front() }
        };
        while let Some(at) = next(&mut open).or_else(|| spaced.pop_front()) {
            let (before, values) = *places.place(at);
            for byte in self.candidate_bytes(before).iter() {
                self.work.spend(1)?;
                let item = self.step(before, byte)?;
                if item == ConfigurationId::DEAD {
                    continue;
                }
                let candidates = self.memory.advanced(&values, byte);
                if candidates.is_empty() && wanted == Wanted::Any {
                    return Ok(Some(Vec::new()));
                }
                let found = self.is_new(item, &candidates);
                if found || known.insert((item, self.memory.widened(candidates))) {
                    let open = if byte <= SPACE { &mut spaced } else { &mut open };
                    open.push_back(places.push((item, candidates), at, byte));
                }
                if found {
                    return Ok(Some(places.letters(places.len() - 1)));
                }
            }
            let limit = automaton.limits().lockstep_search;
            if places.len() > limit / PLACE_COST {
                let found = "a list of different items with no other item found so far";
                return Err(Limits::exceeded(LimitKind::LockstepSearch, limit, found));
            }
        }
        Ok(None)
    }

    /// How many values begin with the text read of an item. If a letter can repeat, it does so in a string or in text
    /// that is not JSON; if a digit can repeat, there are endlessly many numbers, unless it is in the exponent of zero.
    /// Returns `No` if neither is found within a bound.
    fn freedom(&mut self, item: ConfigurationId) -> Result<Freedom> {
        if let Some(&known) = self.memory.free.get(&item) {
            return Ok(known);
        }
        // nested queries on the way do not know the answer yet
        self.memory.free.insert(item, Freedom::No);
        let freedom = self.find_freedom(item);
        if freedom.is_err() {
            self.memory.free.remove(&item);
        }
        freedom
    }

    fn find_freedom(&mut self, item: ConfigurationId) -> Result<Freedom> {
        let automaton = self.automaton;
        // each place with its predecessor, and whether the exponent of a number was begun on the path
        let mut places = vec![(item, 0, false)];
        let mut seen = FxHashSet::from_iter([item]);
        let mut digits = None;
        let mut at = 0;
        while let Some(&(from, _, in_exponent)) = places.get(at) {
            let known = self.memory.free.get(&from).copied().filter(|_| at > 0);
            let mut comes_back = |byte| Ok(self.step(from, byte)? == from);
            if known == Some(Freedom::Letters) || comes_back(b'a')? && comes_back(b'b')? {
                self.free_from(&places, at, Freedom::Letters);
                return Ok(Freedom::Letters);
            }
            if digits.is_none()
                && !in_exponent
                && (known == Some(Freedom::Digits) || comes_back(b'1')? && comes_back(b'2')?)
            {
                digits = Some(at);
            }
            if known.is_none() && !self.is_history_dependent(from) {
                for &byte in automaton.class_representatives() {
                    let next = self.step(from, byte)?;
                    if next != ConfigurationId::DEAD && places.len() < FREEDOM_SEARCH && seen.insert(next) {
                        let in_number = byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.');
                        let in_exponent = matches!(byte, b'e' | b'E') || in_exponent && in_number;
                        places.push((next, at, in_exponent));
                    }
                }
            }
            at += 1;
        }
        match digits {
            Some(at) => {
                self.free_from(&places, at, Freedom::Digits);
                Ok(Freedom::Digits)
            }
            None => {
                self.memory.free.insert(item, Freedom::No);
                Ok(Freedom::No)
            }
        }
    }

    /// Whether endlessly many values begin with any text of an item at the unlisted places of a list, until the item
    /// ends. False if that is not found within a bound.
    pub(super) fn is_free_throughout(&mut self, list: u32) -> Result<bool> {
        let automaton = self.automaton;
        let start = automaton.unique(list).further_item();
        let mut places = vec![self.start_of(Some(start), false)?];
        let mut done = Vec::new();
        while let Some(&from) = places.get(done.len()) {
            let mut is_done = true;
            for &byte in automaton.class_representatives() {
                let next = self.step(from, byte)?;
                is_done &= next == ConfigurationId::DEAD;
                if next != ConfigurationId::DEAD && !places.contains(&next) {
                    places.push(next);
                }
            }
            if places.len() > FREE_THROUGHOUT || self.is_history_dependent(from) {
                return Ok(false);
            }
            done.push(is_done);
        }
        for (from, is_done) in places.into_iter().zip(done) {
            let free = match self.freedom(from)? {
                Freedom::Letters => true,
                // numbers without an exponent
                Freedom::Digits => {
                    let (lower, upper) = (self.step(from, b'e')?, self.step(from, b'E')?);
                    lower == ConfigurationId::DEAD && upper == ConfigurationId::DEAD
                }
                Freedom::No => is_done,
            };
            if !free {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
