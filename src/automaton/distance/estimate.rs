//! Bounds on the length of what leads to a word, of configurations.

use super::bounds::Estimates;
use super::lists::ListCosts;
use super::measure::{ENDLESS, Measure};
use super::program;
use crate::automaton::program::state::{Members, State, StateId, UniqueItems};
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{ConfigurationId, Frame, Item, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::error::Result;
use crate::grammar::Unit;

/// Members of a list that one step of work examines.
const MEMBERS_PER_STEP: usize = 16;

impl Estimates {
    /// The bound on what leads from a configuration to a word.
    ///
    /// # Errors
    /// Limits.
    pub(crate) fn of(&mut self, lazy: &Lazy<'_>, id: ConfigurationId) -> Result<u32> {
        if lazy.is_accepting(id) {
            return Ok(0);
        }
        if let Some(&known) = self.configurations.get(&id) {
            return Ok(known);
        }
        self.learn_items(lazy, id)?;
        let bound = self.known(lazy, id);
        self.configurations.insert(id, bound);
        Ok(bound)
    }

    fn learn_items(&mut self, lazy: &Lazy<'_>, id: ConfigurationId) -> Result<()> {
        for place in 0..lazy.items(id).len() {
            let Item { state, stack } = lazy.items(id)[place];
            self.learn_state(lazy, state)?;
            if let State::Key { members, .. } = lazy.automaton.state(state) {
                lazy.work.spend(lazy.automaton.members(members).values.len().div_ceil(MEMBERS_PER_STEP))?;
            }
            self.learn_stack(lazy, stack)?;
        }
        Ok(())
    }

    /// Wherever one more token leads from a configuration, at most this many letters lead from there to a word, if that is an
    /// upper bound: what the frames of its longest stack ask for, and what is asked for from within any expression.
    ///
    /// # Errors
    /// Limits.
    pub(crate) fn after_any_token(&mut self, lazy: &Lazy<'_>, id: ConfigurationId) -> Result<Option<u32>> {
        let Measure::AtMost(with) = &self.measure else { return Ok(None) };
        let inside = with.bounds.inside;
        if inside == ENDLESS {
            return Ok(None);
        }
        self.learn_items(lazy, id)?;
        let longest = lazy.items(id).iter().map(|item| self.stack(item.stack).1).max().unwrap_or(0);
        let bound = longest.saturating_add(inside);
        Ok(Some(bound).filter(|&bound| bound < ENDLESS))
    }

    /// The bound of a configuration whose states and stacks are known.
    fn known(&self, lazy: &Lazy<'_>, id: ConfigurationId) -> u32 {
        if lazy.is_accepting(id) {
            return 0;
        }
        lazy.items(id).iter().map(|&item| self.of_item(lazy, item)).min().unwrap_or(ENDLESS)
    }

    fn of_item(&self, lazy: &Lazy<'_>, Item { state, stack }: Item) -> u32 {
        let State::Key { members, node } = lazy.automaton.state(state) else {
            return self.state(lazy, state).saturating_add(self.stack(stack).0);
        };
        let (list, Some(costs)) = (lazy.automaton.members(members), self.lists.get(&members)) else {
            return self.measure.unknown();
        };
        let frames = lazy.stacks.frames(stack).iter();
        let ways = frames.map(|frame| {
            let below = costs.exit.saturating_add(self.stack(frame.below).0);
            self.of_key(lazy, (list, costs), node, frame.value).saturating_add(below)
        });
        ways.min().unwrap_or(ENDLESS)
    }

    /// In a key, to the end of the list.
    fn of_key(
        &self,
        cache: &Cache,
        (list, costs): (&Members, &ListCosts),
        node: u32,
        value: FrameValue,
    ) -> u32 {
        let is_upper = self.measure.is_upper();
        if is_upper && list.conditional.is_some() {
            return ENDLESS;
        }
        let at = cache.progress(list, value);
        let to_come = costs.to_come(&cache.seen, list, at);
        let open = list.keys.members(node).iter().filter(|&&m| !ListCosts::is_past(&cache.seen, list, at, m));
        let ways = open.map(|&member| {
            let member = member as usize;
            let rest = match costs.members[member] {
                ENDLESS => ENDLESS,
                length => length.saturating_sub(costs.depths[node as usize]),
            };
            let to_come = costs.without(list, to_come, member);
            rest.saturating_add(match is_upper {
                true => costs.at_most_after_member(to_come),
                false => costs.after_member(to_come),
            })
        });
        ways.min().unwrap_or(self.measure.unknown())
    }

    fn state(&self, lazy: &Lazy<'_>, state: StateId) -> u32 {
        if state == StateId::ACCEPT {
            return 0;
        }
        let block = lazy.automaton.block(state.0);
        self.blocks.get(&block.first).map_or(self.measure.unknown(), |costs| costs[block.at(state.0)])
    }

    /// What a set of stacks asks for, along the shortest and along the longest of them.
    fn stack(&self, stack: StackSetId) -> (u32, u32) {
        let unknown = self.measure.unknown();
        self.stacks.get(&stack).copied().unwrap_or((unknown, unknown))
    }

    /// Finds out about the block of a state, and those that it calls into, the older ones first.
    fn learn_state(&mut self, lazy: &Lazy<'_>, state: StateId) -> Result<()> {
        let automaton = lazy.automaton;
        let mut open = vec![state];
        while let Some(&state) = open.last() {
            let block = automaton.block(state.0);
            if self.blocks.contains_key(&block.first) {
                open.pop();
                continue;
            }
            let older = program::outside(automaton, block);
            let unknown: Vec<StateId> = older
                .into_iter()
                .filter(|state| !self.blocks.contains_key(&automaton.block(state.0).first))
                .collect();
            if !unknown.is_empty() {
                open.extend(unknown);
                continue;
            }
            lazy.work.spend(block.states.len())?;
            if let (Measure::AtLeast(unit), None) = (&self.measure, &self.lengths) {
                let lengths = automaton.least_lengths_of_parts(*unit);
                self.bytes += lengths.capacity() * 4;
                self.lengths = Some(lengths);
            }
            let of_part = |part| self.measure.of_part(automaton.expression_of_part(part), &self.lengths);
            let costs = program::costs(block, &self.measure, &|state| self.state(lazy, state), &of_part);
            self.bytes += size_of_val(&*costs);
            self.blocks.insert(block.first, costs);
            for (list, members) in (block.first..).zip(&block.members) {
                let costs = ListCosts::new(members, &self.measure, |state| self.state(lazy, state));
                self.bytes += 16 * costs.members.len() + 4 * costs.depths.len() + size_of::<ListCosts>();
                self.lists.insert(list, costs);
            }
        }
        Ok(())
    }

    /// Finds out about a stack, what lies below it first.
    fn learn_stack(&mut self, lazy: &Lazy<'_>, stack: StackSetId) -> Result<()> {
        let mut open = vec![stack];
        while let Some(&stack) = open.last() {
            if self.stacks.contains_key(&stack) {
                open.pop();
                continue;
            }
            let before = open.len();
            for frame in lazy.stacks.frames(stack) {
                if frame.to_return == Frame::BOTTOM {
                    continue;
                }
                self.learn_state(lazy, frame.to_return)?;
                open.push(frame.below);
                let product = matches!(lazy.automaton.state(frame.to_return), State::Product(_));
                if product && !self.measure.is_upper() {
                    for &operand in lazy.products.get(frame.value.product_state()) {
                        for item in lazy.items(operand) {
                            self.learn_state(lazy, item.state)?;
                            open.push(item.stack);
                        }
                    }
                }
            }
            let stacks = &self.stacks;
            let mut place = 0;
            open.retain(|stack| {
                place += 1;
                place <= before || !stacks.contains_key(stack)
            });
            if open.len() > before {
                continue;
            }
            lazy.work.spend(1)?;
            let (mut shortest, mut longest) = (ENDLESS, 0);
            for frame in lazy.stacks.frames(stack) {
                if frame.to_return != Frame::BOTTOM
                    && let State::MembersReturn(id) | State::MembersBetween(id) =
                        lazy.automaton.state(frame.to_return)
                {
                    lazy.work.spend(lazy.automaton.members(id).values.len().div_ceil(MEMBERS_PER_STEP))?;
                }
                let (length, below) = match frame.to_return {
                    Frame::BOTTOM => (0, (0, 0)),
                    _ => (self.of_frame(lazy, frame), self.stack(frame.below)),
                };
                shortest = shortest.min(length.saturating_add(below.0));
                longest = longest.max(length.saturating_add(below.1));
            }
            self.stacks.insert(stack, (shortest, longest));
            open.pop();
        }
        Ok(())
    }

    /// From the return to a frame until that is done, without what lies below it.
    fn of_frame(&self, lazy: &Lazy<'_>, frame: &Frame) -> u32 {
        let automaton = lazy.automaton;
        let is_upper = self.measure.is_upper();
        match automaton.state(frame.to_return) {
            State::LoopReturn(id) => {
                let counted = automaton.counted_loop(id);
                let rounds = lazy.stacks.rounds.get(frame.value.rounds()).first().map_or(0, |set| set.low);
                let rounds = match rounds {
                    0 => 0,
                    rounds => self.state(lazy, counted.body).saturating_mul(rounds),
                };
                rounds.saturating_add(self.state(lazy, counted.exit))
            }
            State::MembersReturn(id) | State::MembersBetween(id) => {
                let list = automaton.members(id);
                let Some(costs) = self.lists.get(&id) else { return self.measure.unknown() };
                if is_upper && list.conditional.is_some() {
                    return ENDLESS;
                }
                let at = lazy.progress(list, frame.value);
                let to_come = costs.to_come(&lazy.seen, list, at);
                let between = list.between == frame.to_return;
                let members = match (between, is_upper) {
                    (true, true) => costs.at_most_after_separator(&lazy.seen, list, at, to_come),
                    (true, false) => costs.after_separator(to_come),
                    (false, true) => costs.at_most_after_member(to_come),
                    (false, false) => costs.after_member(to_come),
                };
                members.saturating_add(costs.exit)
            }
            State::UniqueReturn(id) => self.of_items(lazy, automaton.distinct(id), frame.value),
            State::Product(_) if is_upper => ENDLESS,
            State::Product(id) => {
                let product = automaton.product(id);
                let not_empty = self.measure.not_empty();
                let operands = lazy.products.get(frame.value.product_state()).iter();
                let least = match product.complement {
                    true => not_empty,
                    false => {
                        operands.map(|&operand| self.known(lazy, operand)).max().unwrap_or(0).max(not_empty)
                    }
                };
                least.saturating_add(self.state(lazy, product.exit))
            }
            _ => self.state(lazy, frame.to_return),
        }
    }

    /// In a list of different items, to its end.
    fn of_items(&self, lazy: &Lazy<'_>, list: &UniqueItems, value: FrameValue) -> u32 {
        let exit = self.state(lazy, list.exit);
        let is_upper = self.measure.is_upper();
        let Some(register) = value.register() else { return if is_upper { ENDLESS } else { exit } };
        if is_upper {
            // the first item is unlike none before it
            let is_first = lazy.memory.registers[register.0 as usize].count == 0 && !value.is_between();
            return if is_first && list.min <= 1 { exit } else { ENDLESS };
        }
        let item = list.items.iter().map(|&item| self.state(lazy, item)).min().unwrap_or(ENDLESS);
        let separator = self.state(lazy, list.separator);
        let came = lazy.memory.registers[register.0 as usize].count;
        let between = value.is_between();
        let items = match between {
            true => list.min.saturating_sub(came).max(1),
            false => list.min.saturating_sub(came.saturating_add(1)),
        };
        let separators = items - u32::from(between);
        let times = |count: u32, each: u32| if count == 0 { 0 } else { each.saturating_mul(count) };
        times(items, item).saturating_add(times(separators, separator)).saturating_add(exit)
    }
}

impl Lazy<'_> {
    /// At least this many bytes or characters lead from a configuration to a word.
    ///
    /// # Errors
    /// Limits.
    pub(in crate::automaton) fn lower_bound(&mut self, unit: Unit, id: ConfigurationId) -> Result<u32> {
        let mut bounds = std::mem::take(self.cache.bounds.of_unit(unit));
        let bound = bounds.of(self, id);
        *self.cache.bounds.of_unit(unit) = bounds;
        bound
    }
}
