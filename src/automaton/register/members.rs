//! Member lists at run time: which members were seen is a register, the value of the list's frame.
//!
//! In declared order the value is the place of the first member that may still come. In any order it is the
//! id of an interned set of seen members. Where members are counted, it is the id of such a value and the count. A key is read along a trie; a branch of the trie is open only if
//! some member below it may still come, so no prefix is offered that cannot be finished.

use super::seen_sets::Progress;
use crate::automaton::program::state::{Members, StateId};
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{Frame, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::work_list::Closure;
use crate::error::Result;
use smallvec::SmallVec;

impl Members {
    /// Whether the value of the list's frame is the id of a [`Progress`].
    fn is_counted(&self) -> bool {
        self.min > 0 || self.max.is_some() || self.conditional.is_some() || self.max_additional.is_some()
    }
}

impl Cache {
    /// How far a list has come, by the value of its frame.
    pub(in crate::automaton) fn progress(&self, list: &Members, value: FrameValue) -> Progress {
        if list.is_counted() {
            self.counted.get(value.members())
        } else {
            Progress { base: value.members(), ..Progress::default() }
        }
    }

    /// The value of the list's frame after one more member.
    pub(in crate::automaton) fn value_of(&mut self, list: &Members, after: Progress) -> FrameValue {
        if !list.is_counted() {
            return FrameValue::of_members(after.base);
        }
        let count = if list.max.is_none() { after.count.min(list.min) } else { after.count };
        FrameValue::of_members(self.counted.intern(Progress { count, ..after }))
    }

    /// A value of the list's frame that does the same as `value` in a key of one of the sorted `members`, one of which may
    /// come: in declared order what was passed before does not matter.
    fn value_in_key(&self, list: &Members, value: FrameValue, members: &[u32]) -> FrameValue {
        if list.any_order || list.is_counted() {
            return value;
        }
        let next = members.get(members.partition_point(|&m| m < value.members()));
        next.map_or(value, |&next| FrameValue::of_members(next))
    }

    /// How many required members are still to come.
    fn missing(&self, list: &Members, at: Progress) -> u32 {
        if list.any_order {
            let seen = self.seen.get(at.base).ones().filter(|&m| list.required[m]).count();
            list.required_from[0] - seen as u32
        } else {
            list.required_from[at.base as usize]
        }
    }

    /// Whether a member that is not required may come, as far as the upper bound goes.
    fn has_room(&self, list: &Members, at: Progress) -> bool {
        list.max.is_none_or(|max| at.count + self.missing(list, at) < max)
    }

    /// Whether any of the sorted `members` may come next.
    fn any_may_come(&mut self, (m, list): (u32, &Members), at: Progress, members: &[u32]) -> Result<bool> {
        if let Some(conditional) = &list.conditional {
            for &member in members {
                if self.entry_after((m, list, conditional), at, member)?.is_some() {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        Ok(self.any_is_open(list, at, members))
    }

    /// The same where there are no conditions.
    fn any_is_open(&self, list: &Members, at: Progress, members: &[u32]) -> bool {
        let room = self.has_room(list, at);
        if list.any_order {
            let mut members = members.iter();
            return members.any(|&m| (room || list.required[m as usize]) && !self.seen.contains(at.base, m));
        }
        // those that may come are an interval: from the first not passed to the next required one, and to
        // the last after which there are enough
        let next = list.next_required[at.base as usize];
        let first = if room { at.base } else { next };
        let end = list.values.len() as u32;
        let others = self.others_left(list, at);
        let last = others.map_or(end, |others| (end + at.count + others).saturating_sub(list.min));
        let from = members.partition_point(|&m| m < first);
        members.get(from).is_some_and(|&m| m <= next.min(last))
    }

    /// How many members without fixed keys may still come, if that is bounded.
    fn others_left(&self, list: &Members, at: Progress) -> Option<u32> {
        match list.rest {
            Some(_) => Some(list.max_additional?.saturating_sub(at.further)),
            None => Some(0),
        }
    }

    /// The value of the list's frame after `member`, if that may come.
    fn after_member(
        &mut self,
        (m, list): (u32, &Members),
        at: Progress,
        member: u32,
    ) -> Result<Option<FrameValue>> {
        if let Some(conditional) = &list.conditional {
            return self.entry_after((m, list, conditional), at, member);
        }
        if !self.any_is_open(list, at, &[member]) {
            return Ok(None);
        }
        let base = if list.any_order { self.seen.with(at.base, member) } else { member + 1 };
        Ok(Some(self.value_of(list, Progress { base, count: at.count + 1, ..at })))
    }

    /// The starts of the further members that may come, with the value of the list's frame after each.
    fn further(
        &mut self,
        (m, list): (u32, &Members),
        at: Progress,
    ) -> Result<SmallVec<[(StateId, FrameValue); 2]>> {
        if let Some(conditional) = &list.conditional {
            return self.additional_entries((m, list, conditional), at);
        }
        let end = list.values.len() as u32;
        if !list.any_order && list.next_required[at.base as usize] != end {
            return Ok(SmallVec::new());
        }
        let base = if list.any_order { at.base } else { end };
        // in declared order nothing but others comes after one of them
        let enough = list.any_order
            || self.others_left(list, at).is_none_or(|left| at.count.saturating_add(left) >= list.min);
        let more = list.max_additional.is_none_or(|most| at.further < most);
        let rest = list.rest.filter(|_| enough && more && self.has_room(list, at));
        let further = at.further + u32::from(list.max_additional.is_some());
        let after = Progress { base, count: at.count + 1, further };
        Ok(rest.map(|start| (start, self.value_of(list, after))).into_iter().collect())
    }
}

impl Lazy<'_> {
    pub(in crate::automaton) fn enter_members(
        &mut self,
        closure: &mut Closure,
        m: u32,
        stack: StackSetId,
    ) -> Result<()> {
        let automaton = self.automaton;
        self.begin_member(closure, (m, automaton.members(m)), FrameValue::NONE, stack)
    }

    /// Offers the keys and the rest that may come with `value`.
    fn begin_member(
        &mut self,
        closure: &mut Closure,
        (m, list): (u32, &Members),
        value: FrameValue,
        below: StackSetId,
    ) -> Result<()> {
        let at = self.progress(list, value);
        if self.any_may_come((m, list), at, list.keys.members(0))? {
            let stack = self.stacks.push(list.to_return, value, below);
            self.add(closure, list.root, stack);
        }
        for (start, after) in self.further((m, list), at)? {
            let stack = self.stacks.push(list.to_return, after, below);
            self.call(closure, start, stack);
        }
        Ok(())
    }

    pub(in crate::automaton) fn next_member(
        &mut self,
        closure: &mut Closure,
        m: u32,
        stack: StackSetId,
    ) -> Result<()> {
        let automaton = self.automaton;
        let list = automaton.members(m);
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            self.begin_member(closure, (m, list), frame.value, frame.below)?;
        }
        Ok(())
    }

    /// A member is done: leave the list if it is complete, go on to the separator if another may come.
    pub(in crate::automaton) fn end_member(
        &mut self,
        closure: &mut Closure,
        m: u32,
        frame: Frame,
    ) -> Result<()> {
        let automaton = self.automaton;
        let list = automaton.members(m);
        let at = self.progress(list, frame.value);
        let complete = match &list.conditional {
            Some(conditional) => self.conditions_hold(list, conditional, at),
            None => self.missing(list, at) == 0,
        };
        if at.count >= list.min && complete {
            self.add(closure, list.exit, frame.below);
        }
        let further = !self.further((m, list), at)?.is_empty();
        if further || self.any_may_come((m, list), at, list.keys.members(0))? {
            let stack = self.stacks.push(list.between, frame.value, frame.below);
            self.add(closure, list.separator, stack);
        }
        Ok(())
    }

    /// One byte of a key.
    pub(in crate::automaton) fn step_key(
        &mut self,
        closure: &mut Closure,
        (m, node): (u32, u32),
        byte: u8,
        stack: StackSetId,
    ) -> Result<()> {
        let automaton = self.automaton;
        let list = automaton.members(m);
        let Some(child) = list.keys.child(node, byte) else { return Ok(()) };
        let (members, ends) = (list.keys.members(child), list.keys.ends(child));
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            let at = self.progress(list, frame.value);
            if !members.is_empty() && self.any_may_come((m, list), at, members)? {
                let value = self.value_in_key(list, frame.value, members);
                let stack = self.stacks.push(frame.to_return, value, frame.below);
                self.add(closure, StateId(list.root.0 + child), stack);
            }
            for &member in ends {
                let Some(value) = self.after_member((m, list), at, member)? else { continue };
                let stack = self.stacks.push(list.to_return, value, frame.below);
                let start = self.entered(list.values[member as usize])?;
                self.add(closure, start, stack);
            }
        }
        Ok(())
    }
}
