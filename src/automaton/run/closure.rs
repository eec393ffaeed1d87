//! Closing a configuration: from the states that a byte leads to, to the leaf states that wait for the next byte.
//!
//! There are two phases. *Returns* pop frames until no more can be popped. Then *calls* push frames in the order of the
//! (acyclic) left-call graph. So all callers of a rule have been visited, and their stacks united, before the rule is
//! entered: each rule is entered once, however many paths lead to it.

use super::cache::Cache;
use super::configuration::{Frame, Item, StackSetId};
use super::frame_value::FrameValue;
use super::lazy::Lazy;
use super::work_list::{Closure, LINEAR};
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{RegisterState, Role};
use crate::automaton::program::state::State;
use crate::automaton::tuning::{UNITED_ONE_BY_ONE, UNSPENT_FRAMES};
use crate::error::Result;

impl Cache {
    /// Adds a state with stacks to the worklist of a closure, unless the closure has these stacks of the state already.
    pub(in crate::automaton) fn add(&mut self, closure: &mut Closure, state: StateId, stack: StackSetId) {
        let item = Item { state, stack };
        let place = if closure.visited.len() <= LINEAR {
            closure.visited.iter().position(|v| v.state == state)
        } else {
            if closure.index.is_empty() {
                closure.index.extend(closure.visited.iter().enumerate().map(|(i, v)| (v.state, i)));
            }
            closure.index.get(&state).copied()
        };
        match place {
            Some(place) => {
                let known = closure.visited[place].stack;
                let united = self.stacks.union(known, stack);
                if united == known {
                    return;
                }
                closure.visited[place].stack = united;
            }
            None => {
                if !closure.index.is_empty() {
                    closure.index.insert(state, closure.visited.len());
                }
                closure.visited.push(item);
            }
        }
        // closing distributes over union, so only the new stacks must be followed
        closure.work.push(item);
    }

    /// Takes the pending call with the lowest rank, with the union of its stacks; `None` if no call is pending.
    fn next_call(&mut self, closure: &mut Closure) -> Option<Item> {
        if let Some(((_, state), stacks)) = closure.many_calls.pop_first() {
            return Some(Item { state, stack: self.stacks.union_all(&stacks) });
        }
        let next = (0..closure.calls.len()).min_by_key(|&i| closure.calls[i].0)?;
        Some(closure.calls.swap_remove(next).1)
    }

    /// Adds states with stacks to a closure; the stacks of equal states are united in one pass.
    pub(in crate::automaton) fn add_all(&mut self, closure: &mut Closure, items: &mut [Item]) {
        items.sort_unstable();
        for same in items.chunk_by(|a, b| a.state == b.state) {
            let stacks: Vec<StackSetId> = same.iter().map(|item| item.stack).collect();
            let stack = self.stacks.union_all(&stacks);
            self.add(closure, same[0].state, stack);
        }
    }
}

impl Lazy<'_> {
    /// Adds a call of `start` with the stacks `stack`, return address included. Calls are entered later, when no other
    /// state is left to follow.
    pub(in crate::automaton) fn call(&mut self, closure: &mut Closure, start: StateId, stack: StackSetId) {
        let automaton = self.automaton;
        let rank = automaton.rank(start);
        if closure.many_calls.is_empty() && closure.added_calls < UNITED_ONE_BY_ONE {
            closure.added_calls += 1;
            if let Some((_, item)) = closure.calls.iter_mut().find(|(_, item)| item.state == start) {
                item.stack = self.stacks.union(item.stack, stack);
                return;
            }
            if closure.calls.len() < LINEAR {
                closure.calls.push((rank, Item { state: start, stack }));
                return;
            }
        }
        let few = closure.calls.drain(..).map(|(rank, item)| ((rank, item.state), vec![item.stack]));
        closure.many_calls.extend(few);
        closure.many_calls.entry((rank, start)).or_default().push(stack);
    }

    /// Adds all states that are reached without reading a byte or a token.
    pub(in crate::automaton) fn close(&mut self, closure: &mut Closure) -> Result<()> {
        loop {
            while let Some(item) = closure.work.pop() {
                self.follow(closure, item)?;
                if self.stacks.interned() > UNSPENT_FRAMES {
                    self.cache.work.spend(self.cache.stacks.take_interned())?;
                }
            }
            let Some(item) = self.next_call(closure) else { return Ok(()) };
            self.add(closure, item.state, item.stack);
        }
    }

    fn follow(&mut self, closure: &mut Closure, item: Item) -> Result<()> {
        let automaton = self.automaton;
        let Item { state, stack } = item;
        match automaton.state(state) {
            State::Byte { .. }
            | State::ByteOr { .. }
            | State::Bytes { .. }
            | State::Token { .. }
            | State::Register { role: Role::Inside, .. } => {}
            State::Accept => {
                for place in 0..self.stacks.frame_count(stack) {
                    let frame = self.stacks.frame(stack, place);
                    self.return_to(closure, frame)?;
                }
            }
            State::Split { first, len } => {
                for &next in automaton.splits(first, len) {
                    self.add(closure, next, stack);
                }
            }
            State::Call { start, to_return } => {
                let stack = match to_return {
                    StateId::ACCEPT => stack,
                    _ => self.stacks.push(to_return, FrameValue::NONE, stack),
                };
                let start = self.entered(start)?;
                self.call(closure, start, stack);
            }
            State::Deferred(part) => {
                let start = self.lowered_part(part)?;
                self.add(closure, start, stack);
            }
            State::Register { kind, role, record, node } => {
                RegisterState { kind, role, record, node }.enter(self, closure, stack)?;
            }
        }
        Ok(())
    }

    /// The start of a deferred part, lowered if necessary; for every other state, the state itself.
    #[inline]
    pub(in crate::automaton) fn entered(&self, state: StateId) -> Result<StateId> {
        let automaton = self.automaton;
        match automaton.state(state) {
            State::Deferred(part) => self.lowered_part(part),
            _ => Ok(state),
        }
    }

    /// The start of a deferred part, lowered if necessary. Only the call that lowers the part spends the work for it.
    fn lowered_part(&self, part: u32) -> Result<StateId> {
        let automaton = self.automaton;
        if let Some(start) = automaton.lowered(part) {
            return Ok(start);
        }
        let (start, states) = automaton.part(part)?;
        self.work.spend(states)?;
        Ok(start)
    }

    fn return_to(&mut self, closure: &mut Closure, frame: Frame) -> Result<()> {
        let automaton = self.automaton;
        if frame.to_return == Frame::BOTTOM {
            closure.accepting = true;
            return Ok(());
        }
        match automaton.state(frame.to_return).frame_of() {
            Some(register) => register.leave(self, closure, frame)?,
            None => self.add(closure, frame.to_return, frame.below),
        }
        Ok(())
    }
}
