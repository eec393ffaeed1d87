//! The state of a best-first search: the places reached, the paths to them, and the queue of places to visit.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

/// The places that a search has reached, each with its predecessor and the letter that leads from the predecessor to
/// the place. The first place is the start.
#[derive(Debug)]
pub(crate) struct Trail<P, L> {
    reached: Vec<(P, usize, Option<L>)>,
}

impl<P, L: Clone> Trail<P, L> {
    pub(crate) fn new(start: P) -> Trail<P, L> {
        Trail { reached: vec![(start, 0, None)] }
    }

    /// Adds a place that `letter` leads to from the place number `from`, and returns the number of the new place.
    pub(crate) fn push(&mut self, place: P, from: usize, letter: L) -> usize {
        self.reached.push((place, from, Some(letter)));
        self.reached.len() - 1
    }

    pub(crate) fn place(&self, number: usize) -> &P {
        &self.reached[number].0
    }

    pub(crate) fn len(&self) -> usize {
        self.reached.len()
    }

    /// The numbers of a place and of its predecessors, from the place back to the start.
    pub(crate) fn backwards(&self, number: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(number), |&at| (at > 0).then(|| self.reached[at].1))
    }

    /// The letters on the path from the start to a place, in order.
    pub(crate) fn letters(&self, number: usize) -> Vec<L> {
        let mut letters: Vec<L> =
            self.backwards(number).filter_map(|number| self.reached[number].2.clone()).collect();
        letters.reverse();
        letters
    }
}

/// The places of a best-first search: A* (Hart, Nilsson and Raphael 1968) if the keys estimate whole paths, Dijkstra's
/// algorithm (1959) if the keys are costs, breadth-first search if every step costs the same. The least key comes
/// first; among equal keys, the place reached first.
#[derive(Debug)]
pub(crate) struct Frontier<P, L, C, K = C> {
    trail: Trail<(P, C), L>,
    least: FxHashMap<P, C>,
    open: BinaryHeap<Reverse<(K, usize)>>,
}

impl<P: Clone + Eq + Hash, L: Clone, C: Copy + Ord, K: Ord> Frontier<P, L, C, K> {
    pub(crate) fn new(start: P, cost: C, key: K) -> Frontier<P, L, C, K> {
        let least = FxHashMap::from_iter([(start.clone(), cost)]);
        Frontier { trail: Trail::new((start, cost)), least, open: BinaryHeap::from([Reverse((key, 0))]) }
    }

    /// Removes the queued place with the least key, and returns the key and the number of the place; `None` if the
    /// queue is empty.
    pub(crate) fn pop(&mut self) -> Option<(K, usize)> {
        self.open.pop().map(|Reverse(next)| next)
    }

    /// Whether a cheaper path to the same place was found than the path of this number.
    pub(crate) fn is_outdone(&self, number: usize) -> bool {
        let (place, cost) = self.trail.place(number);
        self.least[place] < *cost
    }

    /// Whether a place is reached for the first time or at a lower cost than before. If so, records the cost; the
    /// caller must then [push](Frontier::push) the place.
    pub(crate) fn is_cheaper(&mut self, place: &P, cost: C) -> bool {
        match self.least.get_mut(place) {
            Some(known) if *known <= cost => return false,
            Some(known) => *known = cost,
            None => drop(self.least.insert(place.clone(), cost)),
        }
        true
    }

    /// Adds a place that `letter` leads to from the place number `from`, and queues it.
    pub(crate) fn push(&mut self, key: K, (place, cost): (P, C), from: usize, letter: L) {
        let number = self.trail.push((place, cost), from, letter);
        self.open.push(Reverse((key, number)));
    }

    /// Queues the place of a number again, with the given key.
    pub(crate) fn put_back(&mut self, key: K, number: usize) {
        self.open.push(Reverse((key, number)));
    }

    /// Replaces the key of each queued place by its image under `key`.
    pub(crate) fn change_keys(&mut self, key: impl Fn(K) -> K) {
        let open = std::mem::take(&mut self.open).into_iter();
        self.open = open.map(|Reverse((old, number))| Reverse((key(old), number))).collect();
    }

    /// The places reached, with the paths to them and the costs of these paths.
    pub(crate) fn trail(&self) -> &Trail<(P, C), L> {
        &self.trail
    }

    /// The least known cost of each place.
    pub(crate) fn costs(&self) -> &FxHashMap<P, C> {
        &self.least
    }

    pub(crate) fn into_costs(self) -> FxHashMap<P, C> {
        self.least
    }
}
