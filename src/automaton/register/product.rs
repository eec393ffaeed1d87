//! Products at run time: an intersection or complement runs the configurations of its operands in lockstep. The tuple
//! of their configurations is the product state; the product state is a register, the value of the product's frame.
//!
//! Whether a product state can still be completed does not follow from its operands (`a*b` and `a*c` have no common
//! word). So a completion is searched for ([`product_search`](super::product_search)) over hash-consed product states.
//! The search ends for regular operands, and for others within the limit `lockstep_search`. Answers are cached.

use super::product_states::ProductState;
use super::register::Register;
use crate::automaton::distance::bounds::Estimates;
use crate::automaton::distance::measure::ENDLESS;
use crate::automaton::distance::program::{Argument, Rules};
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{Product, RegisterState, Role};
use crate::automaton::program::state::State;
use crate::automaton::residual::canonical::Writer;
use crate::automaton::residual::kept::Keep;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{ConfigurationId, Frame, StackSetId};
use crate::automaton::run::frame_value::{FrameValue, ProductStateId};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::work_list::Closure;
use crate::error::Result;
use crate::grammar::ByteSet;
use smallvec::SmallVec;
use std::collections::VecDeque;

impl Cache {
    /// How often the completion radius of a product has increased after a product state of it was widened. After an
    /// increase, residuals must be computed again.
    pub(crate) fn radius_epoch(&self) -> usize {
        self.products.radius_epoch
    }

    pub(in crate::automaton) fn accepts(&self, product: &Product, tuple: ProductStateId) -> bool {
        let all = self.products.get(tuple).iter().all(|&c| self.is_accepting(c));
        all != product.complement
    }
}

impl Lazy<'_> {
    /// The product state after one byte; `None` if the product is an intersection and an operand is dead after the
    /// byte, so that the product can never accept.
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

    /// The run of bytes around `byte`, limited to `within`, that are known to lead to the same product state `after`,
    /// or to no product state if `after` is `None`.
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
                // a dead operand decides alone
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

    /// The length in bytes of some word of a product other than the empty one; `None` if it has none.
    pub(in crate::automaton) fn word_of_product(&mut self, l: u32) -> Result<Option<u32>> {
        let automaton = self.automaton;
        let tuple = self.first_product_state(automaton.product(l))?;
        self.is_co_accessible(l, tuple)?;
        Ok(self.products.co_accessible.get(&(l, tuple)).copied().flatten())
    }

    /// Adds to a closure the continuations of a product that reaches a product state: the exit if the product state
    /// accepts, and the product itself if the product state can be completed by more bytes.
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

    /// Whether `word` leads from `tuple` to acceptance. If so, records for all product states on the path, except the
    /// last, that they can be completed.
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

    /// Whether a word of at least one byte leads from `tuple` to acceptance. Tries recent completions of other product
    /// states before a search.
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

impl Register for Product {
    fn enter(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()> {
        let tuple = lazy.first_product_state(self)?;
        if lazy.is_co_accessible(at.record, tuple)? {
            let stack = lazy.stacks.push(self.state, FrameValue::of_product(tuple), stack);
            lazy.add(closure, self.state, stack);
        }
        Ok(())
    }

    /// Does nothing: a product ends where its operands accept, so nothing returns to its frame.
    fn leave(&self, _: RegisterState, _: &mut Lazy<'_>, _: &mut Closure, _: Frame) -> Result<()> {
        Ok(())
    }

    fn step(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        byte: u8,
        stack: StackSetId,
    ) -> Result<(u8, u8)> {
        let mut run = (0, u8::MAX);
        for place in 0..lazy.stacks.frame_count(stack) {
            let frame = lazy.stacks.frame(stack, place);
            let tuple = frame.value.product_state();
            let after = lazy.step_product_state(self, tuple, byte)?;
            run = lazy.known_run_of_product(self, (tuple, after), byte, run)?;
            if let Some(tuple) = after {
                lazy.reach_product_state(closure, (at.record, tuple), frame.below)?;
            }
        }
        Ok(run)
    }

    fn add_wanted(&self, _: RegisterState, wanted: &mut ByteSet) {
        *wanted = ByteSet::FULL;
    }

    fn literal(&self, _: RegisterState) -> Option<(u8, Option<StateId>)> {
        None
    }

    fn canonical(&self, at: RegisterState, writer: &mut Writer<'_>) -> Option<()> {
        writer.scratch.products.push(at.record);
        writer.put_register(at, self.operands.len() as u32);
        writer.put(u32::from(self.complement));
        for operand in &self.operands {
            writer.put(u32::from(operand.nullable) << 1 | u32::from(operand.start.is_some()));
            operand.start.map_or(Some(()), |start| writer.refer(start))?;
        }
        writer.refer(self.exit)?;
        writer.refer(self.state)
    }

    fn canonical_value(&self, _: RegisterState, writer: &mut Writer<'_>, value: FrameValue) -> Option<()> {
        let tuple = writer.tables.products.get(value.product_state());
        tuple.iter().try_for_each(|&operand| writer.configuration(operand))
    }

    fn keep(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        frame: &Frame,
        (_, horizon): (State, u32),
    ) -> (Keep, bool) {
        if at.role != Role::Inside {
            return (Keep::Away, false);
        }
        let (tuple, depends_on_count) = lazy.widened_product(at.record, frame.value.product_state(), horizon);
        (Keep::Last(FrameValue::of_product(tuple)), depends_on_count)
    }

    fn may_return(&self, _: RegisterState, _: &mut dyn FnMut(StateId, bool)) -> bool {
        false
    }

    fn least(&self, at: RegisterState, rules: &mut Rules<'_>, target: u32) {
        if at.role != Role::Enter {
            // `least_after` of the frame includes the state after the product
            return rules.add(target, 0, &[]);
        }
        let exit = (rules.at(self.exit), 1);
        let not_empty = rules.measure.not_empty();
        if rules.measure.is_upper() {
            return self.word.into_iter().for_each(|word| rules.add(target, word, &[exit]));
        }
        if self.complement {
            return rules.add(target, not_empty, &[exit]);
        }
        let all = rules.node();
        let starts = self.operands.iter().map(|operand| Some((rules.at(operand.start?), 1)));
        let Some(starts) = starts.collect::<Option<Vec<_>>>() else { return };
        rules.add_greatest(all, not_empty, &starts);
        rules.add(target, 0, &[(Argument::Node(all), 1), exit]);
    }

    fn learn(
        &self,
        _: RegisterState,
        estimates: &mut Estimates,
        lazy: &Lazy<'_>,
        value: Option<FrameValue>,
        below: &mut Vec<StackSetId>,
    ) -> Result<()> {
        let Some(value) = value.filter(|_| !estimates.measure.is_upper()) else { return Ok(()) };
        for &operand in lazy.products.get(value.product_state()) {
            for item in lazy.items(operand) {
                estimates.learn_state(lazy, item.state)?;
                below.push(item.stack);
            }
        }
        Ok(())
    }

    fn least_after(
        &self,
        at: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        frame: &Frame,
    ) -> Result<u32> {
        if estimates.measure.is_upper() {
            let known = lazy.products.co_accessible.get(&(at.record, frame.value.product_state()));
            let word = known.copied().flatten().unwrap_or(ENDLESS);
            return Ok(word.saturating_add(estimates.state(lazy, self.exit)));
        }
        let not_empty = estimates.measure.not_empty();
        let operands = lazy.products.get(frame.value.product_state()).iter();
        let least = match self.complement {
            true => not_empty,
            false => {
                operands.map(|&operand| estimates.known(lazy, operand)).max().unwrap_or(0).max(not_empty)
            }
        };
        Ok(least.saturating_add(estimates.state(lazy, self.exit)))
    }

    fn least_inside(&self, _: RegisterState, _: &Estimates, _: &Lazy<'_>, _: StackSetId) -> Option<u32> {
        None
    }
}
