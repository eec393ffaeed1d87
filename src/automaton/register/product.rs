//! Products at run time: an intersection or complement runs the configurations of its operands side by
//! side. The tuple of their configurations, the product state, is a register, the value of the product's frame.
//!
//! Whether a product state can still be completed does not follow from its parts (`a*b` and `a*c` have no common
//! word), so it is searched for ([`completion`](super::product_search)) over product states, which are hash-consed, so the search ends
//! for regular operands and for others within the limit `lockstep_search`. Answers are kept.

use super::product_states::ProductState;
use crate::automaton::program::state::Product;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{ConfigurationId, StackSetId};
use crate::automaton::run::frame_value::{FrameValue, ProductStateId};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::work_list::Closure;
use crate::error::Result;
use smallvec::SmallVec;
use std::collections::VecDeque;

impl Cache {
    /// How often it took more bytes to complete a product state than those before it. Parts are examined again then.
    pub(crate) fn radius_epoch(&self) -> usize {
        self.products.radius_epoch
    }

    pub(in crate::automaton) fn accepts(&self, product: &Product, tuple: ProductStateId) -> bool {
        let all = self.products.get(tuple).iter().all(|&c| self.is_accepting(c));
        all != product.complement
    }
}

impl Lazy<'_> {
    /// The product state after one byte, unless no acceptance can follow because an operand is dead.
    pub(in crate::automaton) fn step_product_state(
        &mut self,
        product: &Product,
        tuple: ProductStateId,
        byte: u8,
    ) -> Result<Option<ProductStateId>> {
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

    /// The run of bytes around one that are known to lead from a product state to the same as it does: to that `after`. As far as
    /// it is `within` some bytes.
    fn known_run_of_product(
        &mut self,
        product: &Product,
        (tuple, after): (ProductStateId, Option<ProductStateId>),
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

    /// The product state before the first byte.
    fn first_product_state(&mut self, product: &Product) -> Result<ProductStateId> {
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
            let stack = self.stacks.push(product.state, FrameValue::of_product(tuple), stack);
            self.add(closure, product.state, stack);
        }
        Ok(())
    }

    /// Whether the words of a product include one that is not empty.
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
            let tuple = frame.value.product_state();
            let after = self.step_product_state(product, tuple, byte)?;
            run = self.known_run_of_product(product, (tuple, after), byte, run)?;
            if let Some(tuple) = after {
                self.reach_product_state(closure, (l, tuple), frame.below)?;
            }
        }
        Ok(run)
    }

    /// Adds what follows where a product reaches a state.
    pub(in crate::automaton) fn reach_product_state(
        &mut self,
        closure: &mut Closure,
        (l, tuple): (u32, ProductStateId),
        below: StackSetId,
    ) -> Result<()> {
        let automaton = self.automaton;
        let product = automaton.product(l);
        if self.accepts(product, tuple) {
            self.add(closure, product.exit, below);
        }
        if self.is_co_accessible(l, tuple)? {
            let stack = self.stacks.push(product.state, FrameValue::of_product(tuple), below);
            self.add(closure, product.state, stack);
        }
        Ok(())
    }

    /// Whether a word leads from `tuple` to acceptance; if so, that is noted of all that it leads through.
    fn is_completed_by(&mut self, l: u32, tuple: ProductStateId, word: &[u8]) -> Result<bool> {
        let automaton = self.automaton;
        let product = automaton.product(l);
        let mut path: SmallVec<[ProductStateId; 16]> = smallvec::smallvec![tuple];
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
    fn is_co_accessible(&mut self, l: u32, tuple: ProductStateId) -> Result<bool> {
        if let Some(&known) = self.products.co_accessible.get(&(l, tuple)) {
            return Ok(known.is_some());
        }
        let automaton = self.automaton;
        if !self.has_room(automaton.product(l), tuple)? {
            self.products.co_accessible.insert((l, tuple), None);
            return Ok(false);
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
