//! A lower bound on the length of what leads to a word, of configurations.

use super::bounds::Estimates;
use super::lists::{ENDLESS, ListCosts};
use super::program;
use crate::automaton::program::state::{Members, State, StateId, UniqueItems};
use crate::automaton::run::cache::Cache;
use crate::automaton::run::configuration::{ConfigurationId, Frame, Item, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::error::Result;
use crate::grammar::Unit;

impl Estimates {
    /// At least this many bytes or characters lead from a configuration to a word.
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
        for place in 0..lazy.items(id).len() {
            let Item { state, stack } = lazy.items(id)[place];
            self.learn_state(lazy, state)?;
            self.learn_stack(lazy, stack)?;
        }
        let bound = self.known(lazy, id);
        self.configurations.insert(id, bound);
        Ok(bound)
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
            return self.state(lazy, state).saturating_add(self.stack(stack));
        };
        let (list, Some(costs)) = (lazy.automaton.members(members), self.lists.get(&members)) else {
            return 0;
        };
        let frames = lazy.stacks.frames(stack).iter();
        let ways = frames.map(|frame| {
            let below = costs.exit.saturating_add(self.stack(frame.below));
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
        let at = cache.progress(list, value);
        let to_come = costs.to_come(&cache.seen, list, at);
        let open = list.keys.members(node).iter().filter(|&&m| !ListCosts::is_past(&cache.seen, list, at, m));
        let ways = open.map(|&member| {
            let member = member as usize;
            let rest = costs.members[member].saturating_sub(costs.depths[node as usize]);
            rest.saturating_add(costs.after_member(costs.without(list, to_come, member)))
        });
        ways.min().unwrap_or(0)
    }

    fn state(&self, lazy: &Lazy<'_>, state: StateId) -> u32 {
        if state == StateId::ACCEPT {
            return 0;
        }
        let block = lazy.automaton.block(state.0);
        self.blocks.get(&block.first).map_or(0, |costs| costs[block.at(state.0)])
    }

    fn stack(&self, stack: StackSetId) -> u32 {
        self.stacks.get(&stack).copied().unwrap_or(0)
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
            if self.lengths.is_none() {
                self.lengths = Some(automaton.least_lengths_of_parts(self.unit));
                self.bytes += self.lengths.as_ref().map_or(0, |lengths| lengths.capacity() * 4);
            }
            let lengths = self.lengths.as_deref().unwrap_or_default();
            // a byte in the middle of a character counts nothing
            let not_empty = |may_be_empty: bool| u32::from(!may_be_empty && self.unit == Unit::Bytes);
            let of_part = |part| match automaton.expression_of_part(part) {
                Some((id, may_be_empty)) => {
                    lengths.get(id.index()).copied().unwrap_or(0).max(not_empty(may_be_empty))
                }
                None => 0,
            };
            let costs = program::costs(block, self.unit, &|state| self.state(lazy, state), &of_part);
            self.bytes += size_of_val(&*costs);
            self.blocks.insert(block.first, costs);
            for (list, members) in (block.first..).zip(&block.members) {
                let costs = ListCosts::new(members, self.unit, |state| self.state(lazy, state));
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
                if let State::Product(_) = lazy.automaton.state(frame.to_return) {
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
            let frames = lazy.stacks.frames(stack).iter();
            let least = frames.map(|frame| self.of_frame(lazy, frame)).min().unwrap_or(ENDLESS);
            self.stacks.insert(stack, least);
            open.pop();
        }
        Ok(())
    }

    /// From the return to a frame to the end of the text.
    fn of_frame(&self, lazy: &Lazy<'_>, frame: &Frame) -> u32 {
        if frame.to_return == Frame::BOTTOM {
            return 0;
        }
        let automaton = lazy.automaton;
        let rest = match automaton.state(frame.to_return) {
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
                let Some(costs) = self.lists.get(&id) else { return self.stack(frame.below) };
                let to_come = costs.to_come(&lazy.seen, list, lazy.progress(list, frame.value));
                let between = list.between == frame.to_return;
                let members =
                    if between { costs.after_separator(to_come) } else { costs.after_member(to_come) };
                members.saturating_add(costs.exit)
            }
            State::UniqueReturn(id) => self.of_items(lazy, automaton.distinct(id), frame.value),
            State::Product(id) => {
                let product = automaton.product(id);
                let not_empty = u32::from(self.unit == Unit::Bytes);
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
        };
        rest.saturating_add(self.stack(frame.below))
    }

    /// In a list of different items, to its end.
    fn of_items(&self, lazy: &Lazy<'_>, list: &UniqueItems, value: FrameValue) -> u32 {
        let exit = self.state(lazy, list.exit);
        let Some(register) = value.register() else { return exit };
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
