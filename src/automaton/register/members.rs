//! Member lists at run time: the members seen are a register, the value of the list's frame.
//!
//! In declared order without conditions the value is the index of the first member that may still follow. Otherwise the
//! value is the id of an interned set of seen members. If members are counted, or have conditions, the value is the id
//! of such an index or set together with counts. A key is read along a trie. A branch of the trie is open only if some
//! member below it may still follow, so no prefix is offered that cannot be finished.

use super::register::Register;
use super::seen_sets::Progress;
use crate::automaton::distance::bounds::Estimates;
use crate::automaton::distance::lists::{ListCosts, groups, key_lengths};
use crate::automaton::distance::measure::ENDLESS;
use crate::automaton::distance::program::{Argument, Rules};
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{Members, RegisterKind, RegisterState, Role};
use crate::automaton::program::state::State;
use crate::automaton::residual::canonical::Writer;
use crate::automaton::residual::kept::Keep;
use crate::automaton::run::byte_runs::ByteRun;
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{Frame, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::work_list::Closure;
use crate::error::Result;
use crate::grammar::ByteSet;
use smallvec::SmallVec;

impl Members {
    /// Whether the value of the list's frame is the id of a [`Progress`].
    fn is_counted(&self) -> bool {
        self.min > 0 || self.max.is_some() || self.conditional.is_some() || self.max_additional.is_some()
    }
}

impl Cache {
    /// The progress of a list, by the value of its frame.
    pub(in crate::automaton) fn progress(&self, list: &Members, value: FrameValue) -> Progress {
        if list.is_counted() {
            self.counted.get(value.number())
        } else {
            Progress { base: value.number(), ..Progress::default() }
        }
    }

    /// The value of the list's frame for some progress. Without a maximum, counts above the minimum are replaced by the
    /// minimum.
    pub(in crate::automaton) fn value_of(&mut self, list: &Members, after: Progress) -> FrameValue {
        if !list.is_counted() {
            return FrameValue::of_number(after.base);
        }
        let count = if list.max.is_none() { after.count.min(list.min) } else { after.count };
        FrameValue::of_number(self.counted.intern(Progress { count, ..after }))
    }

    /// A value of the list's frame that is equivalent to `value` in a key of one of the sorted `members`, at least one
    /// of which is allowed. In declared order, members passed earlier do not matter.
    fn value_in_key(&self, list: &Members, value: FrameValue, members: &[u32]) -> FrameValue {
        if list.any_order || list.is_counted() {
            return value;
        }
        let next = members.get(members.partition_point(|&m| m < value.number()));
        next.map_or(value, |&next| FrameValue::of_number(next))
    }

    /// The number of required members still to follow.
    fn missing(&self, list: &Members, at: Progress) -> u32 {
        if list.any_order {
            let seen = self.seen.get(at.base).ones().filter(|&m| list.required[m]).count();
            list.required_from[0] - seen as u32
        } else {
            list.required_from[at.base as usize]
        }
    }

    /// Whether the maximum has room for a member that is not required, in addition to the required members still to
    /// follow.
    fn has_room(&self, list: &Members, at: Progress) -> bool {
        list.max.is_none_or(|max| at.count + self.missing(list, at) < max)
    }

    /// Whether at least one of the sorted `members` is allowed next.
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

    /// Like `any_may_come`, for lists without conditions.
    fn any_is_open(&self, list: &Members, at: Progress, members: &[u32]) -> bool {
        let room = self.has_room(list, at);
        if list.any_order {
            let mut members = members.iter();
            return members.any(|&m| (room || list.required[m as usize]) && !self.seen.contains(at.base, m));
        }
        // the allowed members are an interval: from the first member not passed (if there is room only for required
        // members, from the next required member) to the next required member, and at most to the last member after
        // which enough members are left
        let next = list.next_required[at.base as usize];
        let first = if room { at.base } else { next };
        let end = list.values.len() as u32;
        let others = self.others_left(list, at);
        let last = others.map_or(end, |others| (end + at.count + others).saturating_sub(list.min));
        let from = members.partition_point(|&m| m < first);
        members.get(from).is_some_and(|&m| m <= next.min(last))
    }

    /// The number of members without fixed keys that may still follow, if it is bounded.
    fn others_left(&self, list: &Members, at: Progress) -> Option<u32> {
        match list.rest {
            Some(_) => Some(list.max_additional?.saturating_sub(at.further)),
            None => Some(0),
        }
    }

    /// The value of the list's frame after `member`; `None` if the member is not allowed.
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

    /// The starts of the allowed further members (members without a fixed key), each with the value of the list's frame
    /// after the member.
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
        // in declared order only further members follow a further member
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
    /// Adds to a closure the keys and the further members that are allowed with `value`.
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

    fn next_member(
        &mut self,
        closure: &mut Closure,
        (m, list): (u32, &Members),
        stack: StackSetId,
    ) -> Result<()> {
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            self.begin_member(closure, (m, list), frame.value, frame.below)?;
        }
        Ok(())
    }

    /// Ends a member: leaves the list if it is complete, and continues with the separator if another member is
    /// possible.
    fn end_member(&mut self, closure: &mut Closure, (m, list): (u32, &Members), frame: Frame) -> Result<()> {
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

    /// Reads one byte of a key. Continues keys of members that are allowed, and begins the value of an allowed member
    /// whose key ends.
    fn step_key(
        &mut self,
        closure: &mut Closure,
        (m, list, node): (u32, &Members, u32),
        byte: u8,
        stack: StackSetId,
    ) -> Result<()> {
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

/// The number of members of a list that one step of work examines.
const MEMBERS_PER_STEP: usize = 16;

impl Members {
    /// The steps of work for visiting each member once.
    fn work(&self) -> usize {
        self.values.len().div_ceil(MEMBERS_PER_STEP)
    }

    /// Adds the rules for the bound on the length of the list, from before its first member.
    fn rules(&self, rules: &mut Rules<'_>, target: u32) {
        let is_upper = rules.measure.is_upper();
        if is_upper && self.conditional.is_some() {
            return;
        }
        let (lengths, _) = key_lengths(&self.keys, self.values.len(), rules.measure);
        let any = rules.node();
        self.rest.iter().chain(&self.ones).for_each(|&start| rules.add(any, 0, &[(rules.at(start), 1)]));
        let groups = groups(self);
        let mut all = Vec::new();
        for group in groups.chunk_by(|one, other| one == other) {
            let first = group[0] as usize;
            let one = rules.node();
            for (&length, &value) in lengths[first..].iter().zip(&self.values[first..]).take(group.len()) {
                rules.add(one, length, &[(rules.at(value), 1)]);
            }
            rules.add(any, 0, &[(Argument::Node(one), 1)]);
            if self.required[first] {
                all.push((Argument::Node(one), 1));
            }
        }
        let required = all.len() as u32;
        let more = self.min.max(1).saturating_sub(required);
        // an upper bound may use the shortest member once, if none is required; a second one may be longer
        if is_upper && more > u32::from(required == 0) {
            return;
        }
        all.push((Argument::Node(any), more));
        all.push((rules.at(self.separator), (required + more).saturating_sub(1)));
        all.push((rules.at(self.exit), 1));
        rules.add(target, 0, &all);
    }

    /// The bound from within a key to the end of the list.
    fn least_of_key(
        &self,
        estimates: &Estimates,
        cache: &Cache,
        costs: &ListCosts,
        node: u32,
        value: FrameValue,
    ) -> u32 {
        let is_upper = estimates.measure.is_upper();
        if is_upper && self.conditional.is_some() {
            return ENDLESS;
        }
        let at = cache.progress(self, value);
        let to_come = costs.to_come(&cache.seen, self, at);
        // a branch that is closed is still a valid lower bound, but not an upper one: a key after a missing required
        // member, for example
        let is_open = |member: u32| match is_upper {
            true => cache.any_is_open(self, at, &[member]),
            false => !ListCosts::is_past(&cache.seen, self, at, member),
        };
        let open = self.keys.members(node).iter().filter(|&&member| is_open(member));
        let ways = open.map(|&member| {
            let member = member as usize;
            let rest = match costs.members[member] {
                ENDLESS => ENDLESS,
                length => length.saturating_sub(costs.depths[node as usize]),
            };
            let to_come = costs.without(self, to_come, member);
            rest.saturating_add(match is_upper {
                true => costs.at_most_after_member(to_come),
                false => costs.after_member(to_come),
            })
        });
        ways.min().unwrap_or(estimates.measure.unknown())
    }
}

impl Register for Members {
    fn enter(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()> {
        match at.role {
            Role::Enter => lazy.begin_member(closure, (at.record, self), FrameValue::NONE, stack),
            Role::Next => lazy.next_member(closure, (at.record, self), stack),
            // return addresses are never entered without their frame
            Role::Return | Role::Between | Role::Inside => Ok(()),
        }
    }

    fn leave(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        frame: Frame,
    ) -> Result<()> {
        match at.role {
            Role::Return => lazy.end_member(closure, (at.record, self), frame),
            _ => Ok(()),
        }
    }

    fn step(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        byte: u8,
        stack: StackSetId,
    ) -> Result<(u8, u8)> {
        let mut run = ByteRun::around(byte);
        for (key, _) in self.keys.edges(at.node) {
            run.narrow(key, key);
        }
        lazy.step_key(closure, (at.record, self, at.node), byte, stack)?;
        Ok(run.bounds())
    }

    fn add_wanted(&self, at: RegisterState, wanted: &mut ByteSet) {
        self.keys.edges(at.node).for_each(|(byte, _)| wanted.insert(byte));
    }

    fn literal(&self, at: RegisterState) -> Option<(u8, Option<StateId>)> {
        let (byte, child) = self.keys.only_edge(at.node)?;
        let goes_on = self.keys.ends(child).is_empty();
        Some((byte, goes_on.then_some(StateId(self.root.0 + child))))
    }

    fn canonical(&self, _: RegisterState, _: &mut Writer<'_>) -> Option<()> {
        None
    }

    fn canonical_value(&self, _: RegisterState, _: &mut Writer<'_>, _: FrameValue) -> Option<()> {
        None
    }

    fn keep(
        &self,
        at: RegisterState,
        _: &mut Lazy<'_>,
        frame: &Frame,
        (leaf, _): (State, u32),
    ) -> (Keep, bool) {
        let is_key = matches!(leaf, State::Register { kind: RegisterKind::Members, .. });
        let keep = match at.role {
            Role::Return if is_key => Keep::Last(frame.value),
            Role::Between => Keep::Last(frame.value),
            _ => Keep::Away,
        };
        (keep, false)
    }

    fn may_return(&self, _: RegisterState, _: &mut dyn FnMut(StateId, bool)) -> bool {
        false
    }

    fn least(&self, at: RegisterState, rules: &mut Rules<'_>, target: u32) {
        match at.role {
            Role::Enter => self.rules(rules, target),
            // `least_after` of the frame includes the rest of the list
            Role::Next => rules.add(target, 0, &[]),
            // never entered without a frame
            Role::Return | Role::Between | Role::Inside => {}
        }
    }

    fn learn(
        &self,
        at: RegisterState,
        estimates: &mut Estimates,
        lazy: &Lazy<'_>,
        value: Option<FrameValue>,
        _: &mut Vec<StackSetId>,
    ) -> Result<()> {
        if !estimates.lists.contains_key(&at.record) {
            let costs = ListCosts::new(self, &estimates.measure, |state| estimates.state(lazy, state));
            estimates.bytes += costs.memory_usage();
            estimates.lists.insert(at.record, costs);
        }
        if value.is_none() {
            lazy.work.spend(self.work())?;
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
        lazy.work.spend(self.work())?;
        let Some(costs) = estimates.lists.get(&at.record) else { return Ok(estimates.measure.unknown()) };
        let is_upper = estimates.measure.is_upper();
        if is_upper && self.conditional.is_some() {
            return Ok(ENDLESS);
        }
        let progress = lazy.progress(self, frame.value);
        let to_come = costs.to_come(&lazy.seen, self, progress);
        let members = match (at.role == Role::Between, is_upper) {
            (true, true) => costs.at_most_after_separator(&lazy.seen, self, progress, to_come),
            (true, false) => costs.after_separator(to_come),
            (false, true) => costs.at_most_after_member(to_come),
            (false, false) => costs.after_member(to_come),
        };
        Ok(members.saturating_add(costs.exit))
    }

    fn least_inside(
        &self,
        at: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        stack: StackSetId,
    ) -> Option<u32> {
        let Some(costs) = estimates.lists.get(&at.record) else { return Some(estimates.measure.unknown()) };
        let ways = lazy.stacks.frames(stack).iter().map(|frame| {
            let below = costs.exit.saturating_add(estimates.stack(frame.below).0);
            self.least_of_key(estimates, lazy, costs, at.node, frame.value).saturating_add(below)
        });
        Some(ways.min().unwrap_or(ENDLESS))
    }
}
