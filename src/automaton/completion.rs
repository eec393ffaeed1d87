//! The search for a completion of a lockstep's tuple.
//!
//! It goes breadth first, so that completions are short. Where that comes through many tuples (a pattern of 24 digits, to
//! be found somewhere in a string of 35 characters), those are looked at first from which each operand by itself has the
//! least way to go: a greedy best-first search (Doran and Michie, 1966).

use super::Automaton;
use super::closure::Item;
use super::distinct::TapeId;
use super::state::{Lockstep, State};
use super::successors::Marks;
use super::table::{ConfigurationId, Tables};
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// After so many tuples the search is directed.
const PATIENCE: usize = 128;

/// Of more operands the way of each by itself says little, and takes long to find.
const FEW_OPERANDS: usize = 2;

/// To see how many bytes an item takes to its end, so many others are looked at, and so many for all items of a search.
const MOST_LOOKED_AT: usize = 256;
const MOST_LOOKED_AT_IN_ALL: usize = 768;

/// A tuple, and how many bytes were read to come to it.
pub(super) type Reached = (u32, u32);

/// By how many bytes are to come at least, then by how many were read.
type Estimate = Reverse<(u32, u32)>;

/// Tuples that were come to, and those of them that are still to be looked at.
#[derive(Debug)]
pub(super) struct Frontier {
    /// How each was come to: from which one, and with which byte.
    pub(super) ways: FxHashMap<u32, (u32, u8)>,
    queue: VecDeque<Reached>,
    directed: BinaryHeap<(Estimate, Reached)>,
    /// Items that were looked at to direct it.
    looked_at: usize,
}

impl Frontier {
    /// From one tuple on.
    pub(super) fn new(tuple: u32) -> Frontier {
        let ways = FxHashMap::from_iter([(tuple, (tuple, 0))]);
        Frontier { ways, queue: VecDeque::from([(tuple, 0)]), directed: BinaryHeap::new(), looked_at: 0 }
    }

    /// Adds a tuple that another leads to.
    pub(super) fn push(&mut self, tuple: u32, (from, read): Reached, byte: u8) {
        self.ways.insert(tuple, (from, byte));
        self.queue.push_back((tuple, read + 1));
    }
}

impl Tables {
    /// The next tuple to be looked at.
    pub(super) fn next_tuple(
        &mut self,
        automaton: &Automaton,
        lockstep: &Lockstep,
        frontier: &mut Frontier,
    ) -> Result<Option<Reached>> {
        let few = lockstep.operands.len() <= FEW_OPERANDS;
        if lockstep.complement || !few || frontier.ways.len() <= PATIENCE {
            return Ok(frontier.queue.pop_front());
        }
        while let Some((tuple, read)) = frontier.queue.pop_front() {
            let mut left = 0;
            for place in 0..self.tuples.get(tuple).len() {
                let operand = self.tuples.get(tuple)[place];
                left = left.max(self.least_bytes(automaton, operand, &mut frontier.looked_at)?);
            }
            frontier.directed.push((Reverse((left, read)), (tuple, read)));
        }
        Ok(frontier.directed.pop().map(|(_, reached)| reached))
    }

    /// How many bytes a configuration takes to accept, at least.
    fn least_bytes(
        &mut self,
        automaton: &Automaton,
        id: ConfigurationId,
        looked_at: &mut usize,
    ) -> Result<u32> {
        if self.is_accepting(id) {
            return Ok(0);
        }
        let mut least = u32::MAX;
        for place in 0..self.items(id).len() {
            let item = self.items(id)[place];
            least = least.min(self.least_of_item(automaton, item, looked_at)?);
        }
        Ok(least)
    }

    /// How many bytes an item takes by itself, at least: breadth first over single items. Noted of all on the way.
    fn least_of_item(&mut self, automaton: &Automaton, item: Item, looked_at: &mut usize) -> Result<u32> {
        if let Some(&known) = self.tuples.least.get(&item) {
            return Ok(known);
        }
        if *looked_at >= MOST_LOOKED_AT_IN_ALL {
            return Ok(u32::MAX);
        }
        let mut seen = FxHashSet::from_iter([item]);
        // each with the place of the one before it, and how many bytes it took
        let mut order = vec![(item, 0, 0)];
        // of the shortest way: how many bytes it has, the place of the last item on it, and how many bytes it takes from there
        let mut best: (u32, usize, u32) = (u32::MAX, 0, u32::MAX);
        let mut done = 0;
        while let Some(&(at, _, depth)) = order.get(done).filter(|next| next.2 + 1 < best.0) {
            if order.len() > MOST_LOOKED_AT || matches!(automaton.state(at.state), State::Lockstep(_)) {
                best = (depth, done, 0);
                break;
            }
            let single = self.intern(&[at], Marks::default(), TapeId::NONE);
            for next in self.after_any(automaton, single)? {
                if next == ConfigurationId::UNSURE || self.is_accepting(next) {
                    best = (depth + 1, done, 1);
                    break;
                }
                for &item in self.items(next) {
                    match self.tuples.least.get(&item).map(|more| more.saturating_add(1)) {
                        Some(more) => best = best.min((depth.saturating_add(more), done, more)),
                        None if seen.insert(item) => order.push((item, done, depth + 1)),
                        None => {}
                    }
                }
            }
            done += 1;
        }
        *looked_at += done;
        let (_, mut place, mut bytes) = best;
        loop {
            let (item, before, _) = order[place];
            self.tuples.least.insert(item, bytes);
            if place == 0 {
                return Ok(bytes);
            }
            (place, bytes) = (before, bytes.saturating_add(1));
        }
    }
}
