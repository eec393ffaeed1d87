//! Whether names can run out. Names cannot run out if every prefix of a name can be extended to endlessly many names.
//!
//! To find out, all configurations within names are visited: from each of them that does not accept, an endless path
//! must exist. There may be thousands of configurations, so each mask that is computed examines only some of them.
//! Until the answer is known, names are assumed to be few.

use crate::automaton::program::automaton::Automaton;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::ConfigurationId;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::tuning::{KEY_BYTES, KEY_CONFIGURATIONS, KEY_WORK, KEYS_AT_ONCE};
use crate::collections::heap::map_bytes;
use crate::error::Result;
use crate::grammar::{ByteSet, EndlessNames, LONGEST_CHARACTER};
use crate::limits::Limits;
use crate::work::Budget;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// The state of the examination whether names can run out.
#[derive(Debug, Default)]
pub(crate) struct KeyExhaustion {
    tables: Cache,
    /// The number of finished starts of names; their names are endless.
    done: usize,
    found: EndlessNames,
    reached: NameGraph,
}

/// The configurations within the names that begin at one start.
#[derive(Debug, Default)]
struct NameGraph {
    places: FxHashMap<ConfigurationId, usize>,
    order: Vec<ConfigurationId>,
    /// Per configuration, its predecessors, each with whether a usable byte leads from the predecessor to the
    /// configuration.
    before: Vec<SmallVec<[(u32, bool); 2]>>,
    /// Per examined configuration, the number of its successors.
    ways: Vec<usize>,
    /// Configurations that a usable byte leads directly back to.
    loops: Vec<usize>,
}

impl KeyExhaustion {
    /// Examines some more configurations. Returns `None` while the answer is unknown, `Some(None)` if names are not
    /// endless or if that cannot be decided, and otherwise the bound for endless names. Names are spelled with `usable`
    /// bytes.
    pub(crate) fn look(&mut self, automaton: &Automaton, usable: &ByteSet) -> Option<Option<EndlessNames>> {
        for _ in 0..KEYS_AT_ONCE {
            if self.done == automaton.name_starts.len() {
                return Some(Some(self.found));
            }
            let looked = self.look_at_next(automaton, usable).unwrap_or(Some(None));
            let is_large =
                self.reached.order.len() > KEY_CONFIGURATIONS || self.tables.memory_usage() > KEY_BYTES;
            match looked {
                _ if is_large => return Some(None),
                Some(None) => return Some(None),
                Some(Some(endless)) => {
                    self.found = self.found.max(endless);
                    self.done += 1;
                    self.reached = NameGraph::default();
                }
                None => {}
            }
        }
        None
    }

    /// Renews the budget of work for the next call of `look`. If the budget does not suffice, names are assumed to be
    /// few.
    pub(crate) fn renew_work(&mut self, limits: &Limits) {
        self.tables.work = Budget::of_exploring(KEY_WORK, limits);
    }

    /// Bytes on the heap, approximately.
    pub(crate) fn memory_usage(&self) -> usize {
        let NameGraph { places, order, before, ways, loops } = &self.reached;
        let each = size_of::<SmallVec<[(u32, bool); 2]>>();
        let words = ways.capacity() + loops.capacity();
        let lists = order.capacity() * size_of::<ConfigurationId>() + words * 8;
        self.tables.memory_usage() + map_bytes(places) + lists + before.capacity() * each
    }

    /// Examines one more configuration. If none is left, returns the bound for the names from a start, or `Some(None)`
    /// if they are not endless.
    fn look_at_next(
        &mut self,
        automaton: &Automaton,
        usable: &ByteSet,
    ) -> Result<Option<Option<EndlessNames>>> {
        if let Some(&at) = self.reached.order.get(self.reached.ways.len()) {
            let mut lazy = Lazy::new(automaton, &mut self.tables);
            let (mut next, mut byte) = (SmallVec::<[_; 16]>::new(), Some(0));
            while let Some(low) = byte {
                let (after, last) = lazy.step_run(at, low)?;
                let is_usable = || (low..=last).any(|byte| usable.contains(byte));
                next.extend((after != ConfigurationId::DEAD).then(|| (after, is_usable())));
                byte = last.checked_add(1);
            }
            self.reached.leads_to(&next);
        } else if self.reached.order.is_empty() {
            let start = automaton.name_starts[self.done];
            let start = Lazy::new(automaton, &mut self.tables).start_of(Some(start), false)?;
            self.reached.place(start);
        } else {
            return Ok(Some(self.reached.go_on(&self.tables)));
        }
        Ok(None)
    }
}

impl NameGraph {
    fn place(&mut self, configuration: ConfigurationId) -> usize {
        let place = *self.places.entry(configuration).or_insert(self.order.len());
        if place == self.order.len() {
            self.order.push(configuration);
            self.before.push(SmallVec::new());
        }
        place
    }

    /// Records the successors of the next configuration, and whether a usable byte leads to each.
    fn leads_to(&mut self, all: &[(ConfigurationId, bool)]) {
        let from = self.ways.len();
        let mut next: SmallVec<[(usize, bool); 16]> = SmallVec::new();
        for &(to, is_usable) in all {
            let place = self.place(to);
            match next.iter_mut().find(|(known, _)| *known == place) {
                Some((_, known)) => *known |= is_usable,
                None => next.push((place, is_usable)),
            }
        }
        for &(place, is_usable) in &next {
            self.before[place].push((from as u32, is_usable));
            self.loops.extend((is_usable && place == from).then_some(from));
        }
        self.ways.push(next.len());
    }

    /// Returns a bound on the letters that lead to other names, if every configuration without an endless path accepts;
    /// otherwise `None`.
    fn go_on(&self, tables: &Cache) -> Option<EndlessNames> {
        let mut ways = self.ways.clone();
        let mut ended: Vec<usize> = (0..ways.len()).filter(|&place| ways[place] == 0).collect();
        while let Some(place) = ended.pop() {
            if !tables.is_accepting(self.order[place]) {
                return None;
            }
            for &(from, _) in &self.before[place] {
                let from = from as usize;
                ways[from] -= 1;
                if ways[from] == 0 {
                    ended.push(from);
                }
            }
        }
        let goes_on = |place: &usize| ways[*place] > 0;
        let words = (0..ways.len()).filter(|&place| tables.is_accepting(self.order[place]));
        let farthest = |letters: Vec<u32>| (0..ways.len()).filter(goes_on).map(|place| letters[place]).max();
        let to_end = farthest(self.letters_to(words)).unwrap_or(0);
        let to_loop = farthest(self.letters_to(self.loops.iter().copied())).unwrap_or(0);
        let all = ways.len() as u32;
        let are_usable = self.before.iter().flatten().all(|(_, is_usable)| *is_usable);
        Some(match (to_loop, to_end) {
            (_, u32::MAX) => EndlessNames::UNKNOWN,
            // a repeated byte is a character, or half of one after a backslash
            (0..u32::MAX, _) => EndlessNames { base: to_loop.saturating_add(to_end), each: 2 },
            (u32::MAX, _) if !are_usable => EndlessNames::UNKNOWN,
            (u32::MAX, _) => {
                EndlessNames { base: all.saturating_add(to_end), each: all.max(LONGEST_CHARACTER) }
            }
        })
    }

    /// Per configuration, the fewest usable bytes that lead from it to one of the goals; `u32::MAX` if no usable bytes
    /// do.
    fn letters_to(&self, goals: impl Iterator<Item = usize>) -> Vec<u32> {
        let mut letters = vec![u32::MAX; self.order.len()];
        let mut open: VecDeque<usize> = goals.collect();
        open.iter().for_each(|&goal| letters[goal] = 0);
        while let Some(place) = open.pop_front() {
            let before = self.before[place].iter().filter(|(_, is_usable)| *is_usable);
            for from in before.map(|&(from, _)| from as usize) {
                if letters[from] == u32::MAX {
                    letters[from] = letters[place] + 1;
                    open.push_back(from);
                }
            }
        }
        letters
    }
}
