//! Locksteps at run time: an intersection or complement runs the configurations of its operands side by
//! side. The tuple of configurations is a register, the value of the lockstep's frame.
//!
//! Whether a tuple can still be completed does not follow from its parts (`a*b` and `a*c` have no common
//! word), so it is searched for ([`completion`](super::product_search)) over tuples, which are hash-consed, so the search ends
//! for regular operands and for others within the limit `lockstep_search`. Answers are kept.

use super::product_search;
use crate::automaton::program::state::Product;
use crate::automaton::run::cache::{Cache, ConfigurationId, items_of};
use crate::automaton::run::closure::{Closure, Item};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::stack_set::StackSetId;
use crate::error::Result;
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

/// So many words are tried on the next tuple before others are searched for.
const COMPLETIONS: usize = 8;

/// A word that completes a tuple.
pub(in crate::automaton) type Word = SmallVec<[u8; 8]>;

/// The configurations of a lockstep's operands.
pub(in crate::automaton) type ProductState = SmallVec<[ConfigurationId; 8]>;

/// Interned tuples, and which of them can be completed.
#[derive(Debug, Default)]
pub(in crate::automaton) struct ProductStates {
    operands: Vec<ConfigurationId>,
    /// Where the operands of each end.
    ends: Vec<u32>,
    ids: HashTable<u32>,
    /// Per lockstep and tuple: whether some word that is not empty leads to acceptance; of how many bytes, if so.
    pub(in crate::automaton) co_accessible: FxHashMap<(u32, u32), Option<u32>>,
    /// Per lockstep: the most bytes of those words, so far.
    completion_radius: FxHashMap<u32, u32>,
    /// How often that became more.
    radius_epoch: usize,
    /// Per lockstep: words that completed other tuples, the last one first.
    completions: FxHashMap<u32, VecDeque<Word>>,
    /// Of items of operands: how many bytes they take at least to be words.
    pub(in crate::automaton) least: FxHashMap<Item, u32>,
}

fn hash(tuple: &[ConfigurationId]) -> u64 {
    let mut hasher = FxHasher::default();
    tuple.hash(&mut hasher);
    hasher.finish()
}

impl ProductStates {
    pub(in crate::automaton) fn intern(&mut self, tuple: &[ConfigurationId]) -> u32 {
        let hash = hash(tuple);
        let (operands, ends) = (&self.operands, &self.ends);
        if let Some(&id) = self.ids.find(hash, |&id| items_of(operands, ends, id) == tuple) {
            return id;
        }
        let id = self.ends.len() as u32;
        self.operands.extend_from_slice(tuple);
        self.ends.push(self.operands.len() as u32);
        let (operands, ends) = (&self.operands, &self.ends);
        self.ids.insert_unique(hash, id, |&id| self::hash(items_of(operands, ends, id)));
        id
    }

    pub(in crate::automaton) fn get(&self, tuple: u32) -> &[ConfigurationId] {
        items_of(&self.operands, &self.ends, tuple)
    }

    /// The most bytes that it took to complete any tuple of a lockstep so far.
    pub(in crate::automaton) fn completion_radius(&self, l: u32) -> u32 {
        self.completion_radius.get(&l).copied().unwrap_or(0)
    }

    /// Keeps a word that completes a tuple for the next ones.
    pub(in crate::automaton) fn keep(&mut self, l: u32, word: Word) {
        let words = self.completions.entry(l).or_default();
        words.truncate(COMPLETIONS - 1);
        words.push_front(word);
    }

    pub(in crate::automaton) fn completed(&mut self, l: u32, tuple: u32, bytes: u32) {
        self.co_accessible.insert((l, tuple), Some(bytes));
        self.raise_completion_radius(l, bytes);
    }

    /// Notes that some tuple takes so many bytes to complete.
    pub(in crate::automaton) fn raise_completion_radius(&mut self, l: u32, bytes: u32) {
        let completion_radius = self.completion_radius.entry(l).or_insert(0);
        if *completion_radius < bytes {
            *completion_radius = bytes;
            self.radius_epoch += 1;
        }
    }

    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        (self.operands.capacity() + self.ends.capacity()) * 4
            + self.ids.capacity() * 5
            + self.co_accessible.capacity() * 17
            + self.completion_radius.capacity() * 9
            + self.completions.len() * COMPLETIONS * (size_of::<Word>() + product_search::LONGEST_TRIED)
            + self.least.capacity() * (size_of::<(Item, u32)>() + 1)
    }
}

impl Cache {
    /// How often it took more bytes to complete a tuple than those before it. Parts are looked at anew then.
    pub(crate) fn radius_epoch(&self) -> usize {
        self.products.radius_epoch
    }

    pub(in crate::automaton) fn accepts(&self, product: &Product, tuple: u32) -> bool {
        let all = self.products.get(tuple).iter().all(|&c| self.is_accepting(c));
        all != product.complement
    }
}

impl Lazy<'_> {
    /// The tuple after one byte, unless no acceptance can follow because an operand is dead.
    pub(in crate::automaton) fn step_product_state(
        &mut self,
        product: &Product,
        tuple: u32,
        byte: u8,
    ) -> Result<Option<u32>> {
        let mut next = ProductState::new();
        for place in 0..product.operands.len() {
            let configuration = self.products.get(tuple)[place];
            let after = self.step(configuration, byte)?;
            if after == ConfigurationId::DEAD && !product.complement {
                return Ok(None);
            }
            next.push(after);
        }
        Ok(Some(self.products.intern(&next)))
    }

    /// The run of bytes around one that are known to lead from a tuple to the same as it does: to that `after`. As far as
    /// it is `within` some bytes.
    fn known_run_of_product(
        &mut self,
        product: &Product,
        (tuple, after): (u32, Option<u32>),
        byte: u8,
        within: (u8, u8),
    ) -> Result<(u8, u8)> {
        let mut run = within;
        for place in 0..product.operands.len() {
            let operand = self.products.get(tuple)[place];
            if after.is_none() && self.step(operand, byte)? == ConfigurationId::DEAD {
                // one that is dead decides alone
                return Ok(self.known_run(operand, byte, within));
            }
            run = self.known_run(operand, byte, run);
        }
        Ok(run)
    }

    /// The tuple before the first byte.
    fn first_product_state(&mut self, product: &Product) -> Result<u32> {
        let mut tuple = ProductState::new();
        for operand in &product.operands {
            tuple.push(self.start_of(operand.start, operand.nullable)?);
        }
        Ok(self.products.intern(&tuple))
    }

    pub(in crate::automaton) fn enter_product(
        &mut self,
        closure: &mut Closure,
        l: u32,
        stack: StackSetId,
    ) -> Result<()> {
        let automaton = self.automaton;
        let product = automaton.product(l);
        let tuple = self.first_product_state(product)?;
        if self.is_co_accessible(l, tuple)? {
            let stack = self.stacks.push(product.state, tuple, stack);
            self.add(closure, product.state, stack);
        }
        Ok(())
    }

    /// Whether the words of a lockstep include one that is not empty.
    pub(in crate::automaton) fn product_has_words(&mut self, l: u32) -> Result<bool> {
        let automaton = self.automaton;
        let tuple = self.first_product_state(automaton.product(l))?;
        self.is_co_accessible(l, tuple)
    }

    /// Adds what follows a byte, and returns a run of bytes around it that lead to the same.
    pub(in crate::automaton) fn step_product(
        &mut self,
        closure: &mut Closure,
        l: u32,
        byte: u8,
        stack: StackSetId,
    ) -> Result<(u8, u8)> {
        let automaton = self.automaton;
        let product = automaton.product(l);
        let mut run = (0, u8::MAX);
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            let after = self.step_product_state(product, frame.value, byte)?;
            run = self.known_run_of_product(product, (frame.value, after), byte, run)?;
            if let Some(tuple) = after {
                self.reach_product_state(closure, (l, tuple), frame.below)?;
            }
        }
        Ok(run)
    }

    /// Adds what follows where a lockstep comes to a tuple.
    pub(in crate::automaton) fn reach_product_state(
        &mut self,
        closure: &mut Closure,
        (l, tuple): (u32, u32),
        below: StackSetId,
    ) -> Result<()> {
        let automaton = self.automaton;
        let product = automaton.product(l);
        if self.accepts(product, tuple) {
            self.add(closure, product.exit, below);
        }
        if self.is_co_accessible(l, tuple)? {
            let stack = self.stacks.push(product.state, tuple, below);
            self.add(closure, product.state, stack);
        }
        Ok(())
    }

    /// Whether a word leads from `tuple` to acceptance; if so, that is noted of all that it leads through.
    fn is_completed_by(&mut self, l: u32, tuple: u32, word: &[u8]) -> Result<bool> {
        let automaton = self.automaton;
        let product = automaton.product(l);
        let mut path: SmallVec<[u32; 16]> = smallvec::smallvec![tuple];
        let mut at = tuple;
        for &byte in word {
            match self.step_product_state(product, at, byte)? {
                Some(next) => at = next,
                None => return Ok(false),
            }
            path.push(at);
        }
        if !self.accepts(product, at) {
            return Ok(false);
        }
        path.pop();
        for (&at, bytes) in path.iter().rev().zip(1..) {
            if !self.products.co_accessible.contains_key(&(l, at)) {
                self.products.completed(l, at, bytes);
            }
        }
        Ok(true)
    }

    /// Whether at least one more byte can lead from `tuple` to acceptance.
    fn is_co_accessible(&mut self, l: u32, tuple: u32) -> Result<bool> {
        if let Some(&known) = self.products.co_accessible.get(&(l, tuple)) {
            return Ok(known.is_some());
        }
        for place in 0..self.products.completions.get(&l).map_or(0, VecDeque::len) {
            let word = self.products.completions[&l][place].clone();
            if self.is_completed_by(l, tuple, &word)? {
                return Ok(true);
            }
        }
        self.search_non_emptiness(l, tuple)
    }
}
