//! The search for a completion of a product state.
//!
//! The search is breadth first, so that completions are short. If it visits many product states (a pattern of 24 digits
//! to be found anywhere in a string of 35 characters), it continues with the product states whose operands, each on its
//! own, have the shortest way to go: a greedy best-first search (Doran and Michie, 1966).
//!
//! If one of two operands only bounds the length of the words of the other, the search is directed from the start, and
//! product states that need more than the remaining length are not examined. So it ends with the first completion even
//! if the part nests without bound.

use super::product_states::{LONGEST_TRIED, ProductState, Word};
use super::unique::memory::HistoryId;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::registers::{Product, RegisterKind};
use crate::automaton::program::state::State;
use crate::automaton::run::configuration::{ConfigurationId, Item};
use crate::automaton::run::frame_value::ProductStateId;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::transitions::{Dense, Flags, Transitions};
use crate::automaton::tuning::{
    ESTIMATED_ITEMS, ESTIMATED_ITEMS_IN_ALL, FEW_OPERANDS, SHORT_COMPLETION, UNDIRECTED_SEARCH,
};
use crate::error::Result;
use crate::grammar::{ByteSet, Unit};
use crate::limits::{LimitKind, Limits};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// A product state, and the number of bytes read to reach it.
type Reached = (ProductStateId, u32);

/// An estimate of the bytes still to read (of the bound's unit in products with a bound), then the number of bytes
/// read. The least estimate comes first.
type Estimate = Reverse<(u32, u32)>;

/// The product states that a search has reached, and the reached product states that are still to be examined.
#[derive(Debug)]
struct Frontier {
    /// Per product state, its predecessor, and the byte that leads from the predecessor to it.
    ways: FxHashMap<ProductStateId, (ProductStateId, u8)>,
    queue: VecDeque<Reached>,
    directed: BinaryHeap<(Estimate, Reached)>,
    /// The number of items examined to direct the search.
    looked_at: usize,
}

impl Frontier {
    /// A frontier of one product state.
    fn new(tuple: ProductStateId) -> Frontier {
        let ways = FxHashMap::from_iter([(tuple, (tuple, 0))]);
        Frontier { ways, queue: VecDeque::from([(tuple, 0)]), directed: BinaryHeap::new(), looked_at: 0 }
    }

    /// Adds the product state `tuple`, to which `byte` leads from `from`.
    fn push(&mut self, tuple: ProductStateId, (from, read): Reached, byte: u8) {
        self.ways.insert(tuple, (from, byte));
        self.queue.push_back((tuple, read + 1));
    }
}

/// The known successors of a product state's operands.
enum Rows<'a> {
    /// Only this byte is possible.
    Only(u8),
    All(SmallVec<[OperandRow<'a>; 4]>),
}

/// The configuration of an operand, with its row of successors if it has one.
struct OperandRow<'a> {
    configuration: ConfigurationId,
    dense: Option<Dense<'a>>,
}

impl Rows<'_> {
    /// The classes of bytes that may continue, without classes known to have the same successor as the class before
    /// them.
    fn classes(&self, automaton: &Automaton, product: &Product) -> ByteSet {
        let rows = match self {
            Rows::Only(byte) => return ByteSet::from_iter([automaton.class_of(*byte) as u8]),
            Rows::All(rows) => rows,
        };
        let all = ByteSet::range(0, (automaton.class_count() - 1) as u8);
        let (mut changes, mut dead) = (ByteSet::EMPTY, ByteSet::EMPTY);
        for row in rows {
            let known = row.dense.map_or((all, ByteSet::EMPTY), Dense::changes);
            changes = changes.union(&known.0);
            dead = dead.union(&known.1);
        }
        match product.complement {
            true => changes,
            false => changes.intersection(&dead.complement()),
        }
    }
}

impl OperandRow<'_> {
    #[inline]
    fn entry(&self, class: usize) -> Option<ConfigurationId> {
        self.dense?.entry(class)
    }

    /// Whether the bytes of a class are known to have the same successor as the bytes of the class before.
    #[inline]
    fn is_as_before(&self, class: usize) -> bool {
        self.dense.is_some_and(|row| row.is_as_before(class))
    }
}

impl Lazy<'_> {
    /// Whether a non-empty word leads from a product state to acceptance. Caches the answer for the product states on
    /// the path of the word or, if there is no such word, for all product states visited.
    pub(in crate::automaton) fn search_non_emptiness(
        &mut self,
        l: u32,
        tuple: ProductStateId,
    ) -> Result<bool> {
        let automaton = self.automaton;
        let product = automaton.product(l);
        let limit = automaton.limits().lockstep_search;
        let transitions = Arc::clone(self.transitions());
        let mut frontier = Frontier::new(tuple);
        while let Some((current, read)) = self.next_product_state(product, &mut frontier)? {
            // the number of bytes to acceptance, and the last byte if the next product state accepts
            let (mut bytes, mut last) = (None, None);
            let rows = self.rows_of(product, current, &transitions);
            let mut before = None;
            for class in rows.classes(automaton, product).iter().map(usize::from) {
                let byte = automaton.class_representatives()[class];
                let next = match &rows {
                    Rows::Only(_) => self.step_product_state(product, current, byte)?,
                    Rows::All(rows) if rows.iter().all(|row| row.is_as_before(class)) => continue,
                    Rows::All(rows) => self.step_rows(product, rows, (class, byte))?,
                };
                self.work.spend(1)?;
                let Some(next) = next.filter(|_| next != before) else { continue };
                before = Some(next);
                if self.accepts(product, next) {
                    (bytes, last) = (Some(1), Some(byte));
                    break;
                }
                let known = self.products.co_accessible.get(&(l, next)).copied();
                if let Some(Some(more)) = known {
                    let through = more.saturating_add(1);
                    bytes = Some(bytes.map_or(through, |bytes| through.min(bytes)));
                    if through <= SHORT_COMPLETION {
                        break;
                    }
                }
                if known.is_none() && !frontier.ways.contains_key(&next) {
                    if !self.has_room(product, next)? {
                        self.products.co_accessible.insert((l, next), None);
                        continue;
                    }
                    if frontier.ways.len() >= limit {
                        return Err(Limits::exceeded(
                            LimitKind::LockstepSearch,
                            limit,
                            "an intersection or complement with no completion found so far",
                        ));
                    }
                    frontier.push(next, (current, read), byte);
                }
            }
            if let Some(bytes) = bytes {
                let (mut on_path, mut bytes) = (current, bytes);
                let mut word: Word = last.into_iter().collect();
                loop {
                    self.products.completed(l, on_path, bytes);
                    if on_path == tuple {
                        break;
                    }
                    let (parent, byte) = frontier.ways[&on_path];
                    word.push(byte);
                    on_path = parent;
                    bytes = bytes.saturating_add(1);
                }
                word.reverse();
                if last.is_some() && word.len() <= LONGEST_TRIED {
                    self.products.keep(l, word);
                }
                return Ok(true);
            }
            self.check_memory()?;
        }
        // none of the visited product states leads to acceptance
        for &dead in frontier.ways.keys() {
            self.products.co_accessible.insert((l, dead), None);
        }
        Ok(false)
    }

    /// The known successors of a product state's operands.
    fn rows_of<'a>(
        &mut self,
        product: &Product,
        tuple: ProductStateId,
        transitions: &'a Transitions,
    ) -> Rows<'a> {
        let automaton = self.automaton;
        let mut rows = SmallVec::new();
        for place in 0..product.operands.len() {
            let configuration = self.products.get(tuple)[place];
            let dense = self.row(configuration).map(|row| transitions.dense(row, automaton));
            if dense.is_none()
                && !product.complement
                && let Some(byte) = self.only_byte(configuration)
            {
                return Rows::Only(byte);
            }
            rows.push(OperandRow { configuration, dense });
        }
        Rows::All(rows)
    }

    /// The product state after the bytes of a class, as [`step_product_state`](Lazy::step_product_state) computes it.
    fn step_rows(
        &mut self,
        product: &Product,
        rows: &[OperandRow<'_>],
        (class, byte): (usize, u8),
    ) -> Result<Option<ProductStateId>> {
        let is_dead = |row: &OperandRow<'_>| row.entry(class) == Some(ConfigurationId::DEAD);
        if !product.complement && rows.iter().any(is_dead) {
            return Ok(None);
        }
        let mut after = ProductState::new();
        for row in rows {
            let next = match row.entry(class) {
                Some(known) => known,
                None => self.step(row.configuration, byte)?,
            };
            if next == ConfigurationId::DEAD && !product.complement {
                return Ok(None);
            }
            after.push(next);
        }
        Ok(Some(self.products.intern(&after)))
    }

    /// The next product state to be examined; `None` if none is left. Complements and products of more than
    /// [`FEW_OPERANDS`] operands are always searched breadth first.
    fn next_product_state(&mut self, product: &Product, frontier: &mut Frontier) -> Result<Option<Reached>> {
        let few = product.operands.len() <= FEW_OPERANDS;
        let is_bounded = product.bound.is_some();
        if product.complement || !few || !is_bounded && frontier.ways.len() <= UNDIRECTED_SEARCH {
            return Ok(frontier.queue.pop_front());
        }
        while let Some((tuple, read)) = frontier.queue.pop_front() {
            if let Some(bound) = product.bound {
                let part = self.products.get(tuple)[bound.part];
                let left = self.lower_bound(bound.unit, part)?;
                frontier.directed.push((Reverse((left, read)), (tuple, read)));
                continue;
            }
            let mut left = 0;
            for place in 0..self.products.get(tuple).len() {
                let operand = self.products.get(tuple)[place];
                left = left.max(self.least_bytes(operand, &mut frontier.looked_at)?);
            }
            frontier.directed.push((Reverse((left, read)), (tuple, read)));
        }
        Ok(frontier.directed.pop().map(|(_, reached)| reached))
    }

    /// Whether a bound has room for the least length that its part still needs; true if that is unknown, and for
    /// products without a bound.
    pub(in crate::automaton) fn has_room(
        &mut self,
        product: &Product,
        tuple: ProductStateId,
    ) -> Result<bool> {
        let Some(bound) = product.bound else { return Ok(true) };
        let [part, mut left] = [bound.part, bound.counter].map(|place| self.products.get(tuple)[place]);
        // inside a character, the remaining bytes of the character count nothing
        if !part.is_ordinary() || !self.is_accepting(left) {
            return Ok(true);
        }
        let least = self.lower_bound(bound.unit, part)?;
        for _ in 0..least {
            self.work.spend(1)?;
            left = self.step(left, b'a')?;
            if left == ConfigurationId::DEAD {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// An estimate of the bytes after which a configuration accepts, only used to order a search: item by item, or, once
    /// [`ESTIMATED_ITEMS_IN_ALL`] items were examined, the lower bound of all stacks, without which a search in a
    /// grammar that nests and is ambiguous does not end.
    fn least_bytes(&mut self, id: ConfigurationId, looked_at: &mut usize) -> Result<u32> {
        if self.is_accepting(id) {
            return Ok(0);
        }
        if *looked_at >= ESTIMATED_ITEMS_IN_ALL {
            return self.lower_bound(Unit::Bytes, id);
        }
        let mut least = u32::MAX;
        for place in 0..self.items(id).len() {
            let item = self.items(id)[place];
            least = least.min(self.least_of_item(item, looked_at)?);
        }
        Ok(least)
    }

    /// The estimate of [`least_bytes`](Lazy::least_bytes) for a single item: breadth first over single items. Caches
    /// the result for all items on the path.
    fn least_of_item(&mut self, item: Item, looked_at: &mut usize) -> Result<u32> {
        let automaton = self.automaton;
        if let Some(&known) = self.products.least.get(&item) {
            return Ok(known);
        }
        if *looked_at >= ESTIMATED_ITEMS_IN_ALL {
            return Ok(u32::MAX);
        }
        let mut seen = FxHashSet::from_iter([item]);
        // each item with the index of its predecessor and the number of bytes to it
        let mut order = vec![(item, 0, 0)];
        // the shortest path: its length in bytes, the index of its last item, and the number of bytes from there
        let mut best: (u32, usize, u32) = (u32::MAX, 0, u32::MAX);
        let mut done = 0;
        while let Some(&(at, _, depth)) = order.get(done).filter(|next| next.2 + 1 < best.0) {
            if order.len() > ESTIMATED_ITEMS
                || matches!(automaton.state(at.state), State::Register { kind: RegisterKind::Product, .. })
            {
                best = (depth, done, 0);
                break;
            }
            let single = self.intern(&[at], Flags::default(), HistoryId::NONE);
            for next in self.after_any(single)? {
                if next == ConfigurationId::UNKNOWN || self.is_accepting(next) {
                    best = (depth + 1, done, 1);
                    break;
                }
                for &item in self.items(next) {
                    match self.products.least.get(&item).map(|more| more.saturating_add(1)) {
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
            self.products.least.insert(item, bytes);
            if place == 0 {
                return Ok(bytes);
            }
            (place, bytes) = (before, bytes.saturating_add(1));
        }
    }
}
