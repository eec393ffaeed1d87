//! What a register is: the verbs that each kind of it answers.
//!
//! A register is a value on the stack: how many rounds a loop has left, which members of an object came. It is entered by a
//! state, changes as the text is read, and decides what may follow. Each kind is a file that implements [`Register`] for its
//! record, a row in `program/registers.rs` (kind, record and where that leads) and a row in `mod.rs` here. There is no other
//! place that lists them: what a pass over states or stacks has to know of a register is one of the verbs.

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

/// One kind of register, as a method of its record. `at` is the state that is asked; where a verb is only asked of states
/// with some role, that is said there.
pub(in crate::automaton) trait Register {
    /// Adds to a closure what follows without a byte where stacks reach a state that is no leaf.
    ///
    /// # Errors
    /// Limits.
    fn enter(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()>;

    /// Adds to a closure what follows where something returns to a frame of the register.
    ///
    /// # Errors
    /// Limits.
    fn leave(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        frame: Frame,
    ) -> Result<()>;

    /// Adds to a closure what follows where a leaf state reads a byte; returns a run of bytes around it, first and last, that
    /// lead to the same.
    ///
    /// # Errors
    /// Limits.
    fn step(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        byte: u8,
        stack: StackSetId,
    ) -> Result<(u8, u8)>;

    /// Adds the bytes that a leaf state may read, whatever the value of its frame is.
    fn add_wanted(&self, at: RegisterState, wanted: &mut ByteSet);

    /// The byte of a leaf state that reads a single one, and the state after it if that is the only one.
    fn literal(&self, at: RegisterState) -> Option<(u8, Option<StateId>)>;

    /// Writes a state into a canonical form; `None` if what it does cannot be told without ids of the grammar.
    fn canonical(&self, at: RegisterState, writer: &mut Writer<'_>) -> Option<()>;

    /// Writes the value of a frame into a canonical form; `None` as above.
    fn canonical_value(&self, at: RegisterState, writer: &mut Writer<'_>, value: FrameValue) -> Option<()>;

    /// What a frame is over the next `horizon` bytes, if the register has values that need not be distinguished. The frame
    /// returns to `at`, or to a split that begins with it. To distinguish all of them, as this does, is never wrong.
    fn widened(
        &self,
        _at: RegisterState,
        _stacks: &mut StackSets,
        _frame: &Frame,
        _horizon: u32,
    ) -> Option<Widened> {
        None
    }

    /// Whether a frame stays with the residual of a leaf state, and whether numbers of rounds were distinguished, of which
    /// there are many. The frame returns to `at`, or to a split that begins with it.
    fn keep(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        frame: &Frame,
        ahead: (State, u32),
    ) -> (Keep, bool);

    /// Adds where a state, or a frame that returns to it, goes on without a look at values, each with whether it returns to
    /// the register in between. Returns false if that takes the values.
    fn may_return(&self, at: RegisterState, each: &mut dyn FnMut(StateId, bool)) -> bool;

    /// Adds the rules for the least length from a state to the return of its callable.
    fn least(&self, at: RegisterState, rules: &mut Rules<'_>, target: u32);

    /// Finds out what the lengths below ask for: of a frame with its value, or of a leaf state. Sets of stacks whose lengths
    /// must be known are added to `below`. Mostly what is known of states is enough.
    ///
    /// # Errors
    /// Limits.
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

    /// The length from the return to a frame until that is done, without what lies below it.
    ///
    /// # Errors
    /// Limits.
    fn least_after(
        &self,
        at: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        frame: &Frame,
    ) -> Result<u32>;

    /// The length from a leaf state with these stacks to the end of the text, if it takes the value to tell.
    fn least_inside(
        &self,
        at: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        stack: StackSetId,
    ) -> Option<u32>;
}

/// The verbs of leaf states, for registers that have none.
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
