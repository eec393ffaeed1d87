//! Whether a configuration may return with an empty stack while reading only certain bytes: a string that ends with a
//! quote does not return before the quote.

use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::state::State;
use crate::automaton::run::configuration::{ConfigurationId, Frame, StackSetId};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::tuning::MAY_RETURN_STATES;
use crate::grammar::ByteSet;
use rustc_hash::FxHashSet;

/// The states that may be reached, each with whether its stack may be empty.
#[derive(Default)]
struct ReachedStates {
    known: FxHashSet<(StateId, bool)>,
    open: Vec<(StateId, bool)>,
}

impl ReachedStates {
    fn add(&mut self, state: StateId, is_last: bool) {
        if self.known.insert((state, is_last)) {
            self.open.push((state, is_last));
        }
    }
}

impl Lazy<'_> {
    /// Whether a configuration may return with an empty stack after reading only the given bytes; true if that cannot
    /// be decided, or only with more than [`MAY_RETURN_STATES`] states.
    pub(crate) fn may_return_within(&self, id: ConfigurationId, bytes: &ByteSet) -> bool {
        let automaton = self.automaton;
        let mut reached = ReachedStates::default();
        let mut stacks = FxHashSet::default();
        for item in self.items(id) {
            if !self.add_returns(item.state, item.stack, &mut reached, &mut stacks) {
                return true;
            }
        }
        while let Some((state, is_last)) = reached.open.pop() {
            if reached.known.len() > MAY_RETURN_STATES
                || !follow(automaton, state, is_last, bytes, &mut reached)
            {
                return true;
            }
        }
        false
    }

    /// Adds a state and the states that it may return to; false if that depends on more than states.
    fn add_returns(
        &self,
        state: StateId,
        stack: StackSetId,
        reached: &mut ReachedStates,
        stacks: &mut FxHashSet<StackSetId>,
    ) -> bool {
        let automaton = self.automaton;
        let mut open = vec![(state, stack)];
        while let Some((state, stack)) = open.pop() {
            let frames = self.stacks.frames(stack);
            reached.add(state, frames.iter().any(|frame| frame.to_return == Frame::BOTTOM));
            if !stacks.insert(stack) {
                continue;
            }
            for frame in frames.iter().filter(|frame| frame.to_return != Frame::BOTTOM) {
                let Some(register) = automaton.state(frame.to_return).frame_of() else {
                    open.push((frame.to_return, frame.below));
                    continue;
                };
                if !register.may_return(automaton, &mut |next, _| open.push((next, frame.below))) {
                    return false;
                }
            }
        }
        true
    }
}

/// Adds the successors of a state; false if the state may return with an empty stack, or if its successors depend on
/// more than states.
fn follow(
    automaton: &Automaton,
    state: StateId,
    is_last: bool,
    bytes: &ByteSet,
    reached: &mut ReachedStates,
) -> bool {
    match automaton.state(state) {
        State::Accept => return !is_last,
        State::Byte { byte, next } if bytes.contains(byte) => reached.add(next, is_last),
        State::Byte { .. } | State::Token { .. } => {}
        State::ByteOr { byte, next, otherwise } => {
            if bytes.contains(byte) {
                reached.add(next, is_last);
            }
            reached.add(otherwise, is_last);
        }
        State::Bytes { first, len } => {
            for edge in automaton.edges(first, len) {
                if !ByteSet::range(edge.low, edge.high).intersection(bytes).is_empty() {
                    reached.add(edge.next, is_last);
                }
            }
        }
        State::Split { first, len } => {
            automaton.splits(first, len).iter().for_each(|&next| reached.add(next, is_last));
        }
        State::Call { start, to_return: StateId::ACCEPT } => reached.add(start, is_last),
        State::Call { start, to_return } => {
            reached.add(start, false);
            reached.add(to_return, is_last);
        }
        state @ State::Register { .. } => {
            let mut add = |next, is_inside: bool| reached.add(next, is_last && !is_inside);
            return state.register().is_some_and(|register| register.may_return(automaton, &mut add));
        }
        _ => return false,
    }
    true
}
