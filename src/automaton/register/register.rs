//! The interface that every kind of register implements.
//!
//! A register is a value on the stack, such as the number of rounds left in a loop, or the members of an object that
//! are present. A state enters the register, the value changes while the text is read, and the value decides which
//! texts may follow. Each kind is a file that implements [`Register`] for its record, a row in `program/registers.rs`
//! (kind, record and its targets) and a row in `mod.rs` here. No other place lists the kinds: everything that a pass
//! over states or stacks needs from a register is a method of the trait.

use crate::automaton::distance::bounds::Estimates;
use crate::automaton::distance::program::Rules;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::RegisterState;
use crate::automaton::program::state::State;
use crate::automaton::residual::canonical::Writer;
use crate::automaton::residual::kept::{Keep, Widened};
use crate::automaton::run::configuration::{Frame, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::stack_set::StackSets;
use crate::automaton::run::work_list::Closure;
use crate::error::Result;
use crate::grammar::ByteSet;

/// A kind of register, implemented for its record. `at` is the state on which the method is called; methods restricted
/// to some roles say so.
pub(in crate::automaton) trait Register {
    /// For a state that is not a leaf: adds to a closure the states that follow without a byte when `stack` reaches the
    /// state.
    fn enter(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()>;

    /// Adds to a closure the states that follow when a call returns to a frame of the register.
    fn leave(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        frame: Frame,
    ) -> Result<()>;

    /// For a leaf state: adds to a closure the states that follow `byte`. Returns the first and the last byte of a run
    /// around `byte` that lead to the same result.
    fn step(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        byte: u8,
        stack: StackSetId,
    ) -> Result<(u8, u8)>;

    /// Adds the bytes that a leaf state may read, regardless of the value of its frame.
    fn add_wanted(&self, at: RegisterState, wanted: &mut ByteSet);

    /// The byte of a leaf state that reads a single byte, and the state after it if there is only one. `None` if the
    /// state reads several bytes.
    fn literal(&self, at: RegisterState) -> Option<(u8, Option<StateId>)>;

    /// Writes a state into a canonical form; `None` if its behaviour cannot be described without ids of the grammar.
    fn canonical(&self, at: RegisterState, writer: &mut Writer<'_>) -> Option<()>;

    /// Writes the value of a frame into a canonical form; `None` as in [`canonical`](Register::canonical).
    fn canonical_value(&self, at: RegisterState, writer: &mut Writer<'_>, value: FrameValue) -> Option<()>;

    /// The abstraction of a frame over the next `horizon` bytes, if the register has values that need not be
    /// distinguished. The frame returns to `at`, or to a split that begins with it. Distinguishing all of them, as the
    /// default does, is always correct.
    fn widened(
        &self,
        _at: RegisterState,
        _stacks: &mut StackSets,
        _frame: &Frame,
        _horizon: u32,
    ) -> Option<Widened> {
        None
    }

    /// Whether a frame stays with the residual of a leaf state, and whether many numbers of rounds were distinguished.
    /// The frame returns to `at`, or to a split that begins with it. `ahead` is the leaf state and the number of bytes
    /// to consider.
    fn keep(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        frame: &Frame,
        ahead: (State, u32),
    ) -> (Keep, bool);

    /// Calls `each` for the continuations of a state, or of a frame that returns to it, regardless of values. The flag
    /// says whether the continuation returns to the register afterwards. Returns false if the continuations depend on
    /// values.
    fn may_return(&self, at: RegisterState, each: &mut dyn FnMut(StateId, bool)) -> bool;

    /// Adds the rules for the least length from a state to the return of its callable.
    fn least(&self, at: RegisterState, rules: &mut Rules<'_>, target: u32);

    /// Computes what the methods for lengths need: for a frame with its value, or for a leaf state. Adds to `below` the
    /// sets of stacks whose lengths must also be computed. The default, for registers that need only the lengths of
    /// states, does nothing.
    fn learn(
        &self,
        _at: RegisterState,
        _estimates: &mut Estimates,
        _lazy: &Lazy<'_>,
        _value: Option<FrameValue>,
        _below: &mut Vec<StackSetId>,
    ) -> Result<()> {
        Ok(())
    }

    /// The length from the return to a frame until the frame is finished, without the stack below it.
    fn least_after(
        &self,
        at: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        frame: &Frame,
    ) -> Result<u32>;

    /// The length from a leaf state with the stacks `stack` to the end of the text, if that length depends on the
    /// value; otherwise `None`.
    fn least_inside(
        &self,
        at: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        stack: StackSetId,
    ) -> Option<u32>;
}

/// The methods of leaf states, for registers without leaf states.
macro_rules! without_leaf_states {
    () => {
        fn step(
            &self,
            _: crate::automaton::program::registers::RegisterState,
            _: &mut crate::automaton::run::lazy::Lazy<'_>,
            _: &mut crate::automaton::run::work_list::Closure,
            _: u8,
            _: crate::automaton::run::configuration::StackSetId,
        ) -> crate::error::Result<(u8, u8)> {
            Ok((0, u8::MAX))
        }

        fn add_wanted(
            &self,
            _: crate::automaton::program::registers::RegisterState,
            _: &mut crate::grammar::ByteSet,
        ) {
        }

        fn literal(
            &self,
            _: crate::automaton::program::registers::RegisterState,
        ) -> Option<(u8, Option<crate::automaton::program::ids::StateId>)> {
            None
        }

        fn least_inside(
            &self,
            _: crate::automaton::program::registers::RegisterState,
            _: &crate::automaton::distance::bounds::Estimates,
            _: &crate::automaton::run::lazy::Lazy<'_>,
            _: crate::automaton::run::configuration::StackSetId,
        ) -> Option<u32> {
            None
        }
    };
}
pub(super) use without_leaf_states;
