//! Whether names can run out: whether every beginning of a name can become endlessly many names.
//!
//! To see that, all configurations within names are traversed: from each a way must continue that does not end. There may
//! be thousands, so some are examined whenever a mask is made, rather than all at once; until it is known, names are taken
//! to be few.

use crate::automaton::run::byte_runs::Configurations;
use crate::automaton::tuning::{KEY_BYTES, KEY_CONFIGURATIONS, KEYS_AT_ONCE};
use crate::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use crate::error::Result;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How far that was found out.
#[derive(Debug, Default)]
pub(crate) struct KeyExhaustion {
    tables: Cache,
    /// How many starts of names are done; their names are endless.
    done: usize,
    reached: Reached,
}

/// The configurations within the names from one start on.
#[derive(Debug, Default)]
struct Reached {
    places: FxHashMap<ConfigurationId, usize>,
    order: Vec<ConfigurationId>,
    /// Per configuration, those before it.
    before: Vec<SmallVec<[usize; 2]>>,
    /// How many follow each, of those that were examined.
    ways: Vec<usize>,
}

impl KeyExhaustion {
    /// Looks at some more configurations. Whether names are endless, once that is known; false if that is not to be found out.
    pub(crate) fn look(&mut self, automaton: &Automaton) -> Option<bool> {
        for _ in 0..KEYS_AT_ONCE {
            if self.done == automaton.name_starts.len() {
                return Some(true);
            }
            let is_endless = self.look_at_next(automaton).unwrap_or(Some(false));
            let is_large =
                self.reached.order.len() > KEY_CONFIGURATIONS || self.tables.memory_usage() > KEY_BYTES;
            if is_endless == Some(false) || is_large {
                return Some(false);
            }
            if is_endless == Some(true) {
                self.done += 1;
                self.reached = Reached::default();
            }
        }
        None
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        let Reached { places, order, before, ways } = &self.reached;
        let each = size_of::<SmallVec<[usize; 2]>>();
        let lists = (order.capacity() * size_of::<ConfigurationId>()) + (ways.capacity() * 8);
        self.tables.memory_usage() + places.capacity() * 17 + lists + before.capacity() * each
    }

    /// Looks at one more configuration; if there is none left, says whether the names from a start on are endless.
    fn look_at_next(&mut self, automaton: &Automaton) -> Result<Option<bool>> {
        if let Some(&at) = self.reached.order.get(self.reached.ways.len()) {
            let next = Lazy::new(automaton, &mut self.tables).after_any(at)?;
            self.reached.leads_to(next);
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

impl Reached {
    fn place(&mut self, configuration: ConfigurationId) -> usize {
        let place = *self.places.entry(configuration).or_insert(self.order.len());
        if place == self.order.len() {
            self.order.push(configuration);
            self.before.push(SmallVec::new());
        }
        place
    }

    /// Notes what follows the next configuration.
    fn leads_to(&mut self, all: Configurations) {
        let from = self.ways.len();
        let mut next: SmallVec<[usize; 16]> = SmallVec::new();
        for to in all {
            let place = self.place(to);
            if !next.contains(&place) {
                next.push(place);
                self.before[place].push(from);
            }
        }
        self.ways.push(next.len());
    }

    /// Whether from each configuration a way stays alive that does not end, unless nothing can follow it.
    fn go_on(&mut self, tables: &Cache) -> bool {
        let ways = &mut self.ways;
        let mut ended: Vec<usize> = (0..ways.len()).filter(|&place| ways[place] == 0).collect();
        while let Some(place) = ended.pop() {
            if !tables.is_accepting(self.order[place]) {
                return false;
            }
            for &from in &self.before[place] {
                ways[from] -= 1;
                if ways[from] == 0 {
                    ended.push(from);
                }
            }
        }
        true
    }
}
