//! Registers that a text passes through: the continuation does not depend on the values of their frames.

use super::register::Register;
use crate::automaton::distance::bounds::Estimates;
use crate::automaton::distance::program::Rules;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::RegisterState;
use crate::automaton::program::state::State;
use crate::automaton::residual::canonical::Writer;
use crate::automaton::residual::kept::Keep;
use crate::automaton::run::configuration::{Frame, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::work_list::Closure;
use crate::error::Result;

/// A register with a single continuation.
pub(super) trait PassedThrough {
    /// The state after the register.
    fn exit(&self) -> StateId;

    /// Records in the closure that a text has passed the register.
    fn mark(&self, closure: &mut Closure);
}

impl<R: PassedThrough> Register for R {
    super::register::without_leaf_states!();

    fn enter(
        &self,
        _: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()> {
        self.mark(closure);
        lazy.add(closure, self.exit(), stack);
        Ok(())
    }

    fn leave(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        frame: Frame,
    ) -> Result<()> {
        self.enter(at, lazy, closure, frame.below)
    }

    fn canonical(&self, at: RegisterState, writer: &mut Writer<'_>) -> Option<()> {
        writer.put_register(at, 0);
        writer.refer(self.exit())
    }

    fn canonical_value(&self, _: RegisterState, writer: &mut Writer<'_>, value: FrameValue) -> Option<()> {
        writer.put(value.bits());
        Some(())
    }

    fn keep(&self, _: RegisterState, _: &mut Lazy<'_>, _: &Frame, _: (State, u32)) -> (Keep, bool) {
        (Keep::Away, false)
    }

    fn may_return(&self, _: RegisterState, each: &mut dyn FnMut(StateId, bool)) -> bool {
        each(self.exit(), false);
        true
    }

    fn least(&self, _: RegisterState, rules: &mut Rules<'_>, target: u32) {
        rules.add(target, 0, &[(rules.at(self.exit()), 1)]);
    }

    fn least_after(
        &self,
        _: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        frame: &Frame,
    ) -> Result<u32> {
        Ok(estimates.state(lazy, frame.to_return))
    }
}
