//! Registers: the values of frames, for loops, lists of members, lists of unique items, intersections and complements,
//! bounded parts and names. [`register::Register`] is their common interface; this module dispatches to the kinds.

pub(in crate::automaton) mod conditions;
mod loops;
pub(in crate::automaton) mod members;
mod names;
mod parts;
mod passed_through;
pub(in crate::automaton) mod product;
pub(in crate::automaton) mod product_search;
pub(in crate::automaton) mod product_states;
mod product_widening;
mod register;
pub(in crate::automaton) mod seen_sets;
#[cfg(test)]
mod toy;
pub(in crate::automaton) mod unique;

use self::register::Register;
use super::distance::bounds::Estimates;
use super::distance::program::Rules;
use super::program::automaton::Automaton;
use super::program::block::Block;
use super::program::ids::StateId;
use super::program::registers::{RegisterKind, RegisterState};
use super::program::state::State;
use super::residual::canonical::Writer;
use super::residual::kept::{Keep, Widened};
use super::run::configuration::{Frame, StackSetId};
use super::run::frame_value::FrameValue;
use super::run::lazy::Lazy;
use super::run::stack_set::StackSets;
use super::run::work_list::Closure;
use crate::error::Result;
use crate::grammar::ByteSet;

/// Calls a method of the register of a state, in the table of records of its kind. One row per kind.
macro_rules! dispatch {
    ($at:expr, $block:expr, $verb:ident($($argument:expr),*)) => {{
        let block: &Block = $block;
        let place = block.at($at.record);
        let records = &block.records;
        match $at.kind {
            RegisterKind::Loop => records.loops[place].$verb($at, $($argument),*),
            RegisterKind::Members => records.members[place].$verb($at, $($argument),*),
            RegisterKind::Unique => records.unique[place].$verb($at, $($argument),*),
            RegisterKind::Product => records.products[place].$verb($at, $($argument),*),
            RegisterKind::Part => records.parts[place].$verb($at, $($argument),*),
            RegisterKind::Name => records.names[place].$verb($at, $($argument),*),
            #[cfg(test)]
            RegisterKind::Toy => records.toys[place].$verb($at, $($argument),*),
        }
    }};
}

/// The methods of [`Register`], dispatched by the kind of the state.
impl RegisterState {
    #[inline]
    pub(in crate::automaton) fn enter(
        self,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()> {
        let automaton = lazy.automaton;
        dispatch!(self, automaton.block(self.record), enter(lazy, closure, stack))
    }

    #[inline]
    pub(in crate::automaton) fn leave(
        self,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        frame: Frame,
    ) -> Result<()> {
        let automaton = lazy.automaton;
        dispatch!(self, automaton.block(self.record), leave(lazy, closure, frame))
    }

    #[inline]
    pub(in crate::automaton) fn step(
        self,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        byte: u8,
        stack: StackSetId,
    ) -> Result<(u8, u8)> {
        let automaton = lazy.automaton;
        dispatch!(self, automaton.block(self.record), step(lazy, closure, byte, stack))
    }

    pub(in crate::automaton) fn add_wanted(self, automaton: &Automaton, wanted: &mut ByteSet) {
        dispatch!(self, automaton.block(self.record), add_wanted(wanted));
    }

    pub(in crate::automaton) fn literal(self, automaton: &Automaton) -> Option<(u8, Option<StateId>)> {
        dispatch!(self, automaton.block(self.record), literal())
    }

    pub(in crate::automaton) fn canonical(self, writer: &mut Writer<'_>) -> Option<()> {
        let automaton = writer.automaton;
        dispatch!(self, automaton.block(self.record), canonical(writer))
    }

    pub(in crate::automaton) fn canonical_value(
        self,
        writer: &mut Writer<'_>,
        value: FrameValue,
    ) -> Option<()> {
        let automaton = writer.automaton;
        dispatch!(self, automaton.block(self.record), canonical_value(writer, value))
    }

    pub(in crate::automaton) fn widened(
        self,
        automaton: &Automaton,
        stacks: &mut StackSets,
        frame: &Frame,
        horizon: u32,
    ) -> Option<Widened> {
        dispatch!(self, automaton.block(self.record), widened(stacks, frame, horizon))
    }

    pub(in crate::automaton) fn keep(
        self,
        lazy: &mut Lazy<'_>,
        frame: &Frame,
        ahead: (State, u32),
    ) -> (Keep, bool) {
        let automaton = lazy.automaton;
        dispatch!(self, automaton.block(self.record), keep(lazy, frame, ahead))
    }

    pub(in crate::automaton) fn may_return(
        self,
        automaton: &Automaton,
        each: &mut dyn FnMut(StateId, bool),
    ) -> bool {
        dispatch!(self, automaton.block(self.record), may_return(each))
    }

    pub(in crate::automaton) fn least(self, block: &Block, rules: &mut Rules<'_>, target: u32) {
        dispatch!(self, block, least(rules, target));
    }

    pub(in crate::automaton) fn learn(
        self,
        estimates: &mut Estimates,
        lazy: &Lazy<'_>,
        value: Option<FrameValue>,
        below: &mut Vec<StackSetId>,
    ) -> Result<()> {
        dispatch!(self, lazy.automaton.block(self.record), learn(estimates, lazy, value, below))
    }

    pub(in crate::automaton) fn least_after(
        self,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        frame: &Frame,
    ) -> Result<u32> {
        dispatch!(self, lazy.automaton.block(self.record), least_after(estimates, lazy, frame))
    }

    pub(in crate::automaton) fn least_inside(
        self,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        stack: StackSetId,
    ) -> Option<u32> {
        dispatch!(self, lazy.automaton.block(self.record), least_inside(estimates, lazy, stack))
    }
}
