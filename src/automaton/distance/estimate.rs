//! Bounds on the length of completions of configurations.

use super::bounds::Estimates;
use super::measure::{ENDLESS, Measure};
use super::program;
use crate::automaton::program::ids::StateId;
use crate::automaton::run::configuration::{ConfigurationId, Frame, Item, StackSetId};
use crate::automaton::run::lazy::Lazy;
use crate::error::Result;
use crate::grammar::Unit;

/// No completion is this long.
const FAR: u32 = ENDLESS / 2;

impl Estimates {
    /// The bound on the length of the shortest completion of a configuration; 0 if it accepts. [`Measure`] says whether
    /// it is a lower or an upper bound, and its unit. [`ENDLESS`] means that there is no completion, or for upper
    /// bounds that none is known.
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

    /// The bound on the length of the shortest completion from the return to a set of stacks.
    pub(crate) fn of_stacks(&mut self, lazy: &Lazy<'_>, stacks: StackSetId) -> Result<u32> {
        self.learn_stack(lazy, stacks)?;
        Ok(self.stack(stacks).0)
    }

    fn learn_items(&mut self, lazy: &Lazy<'_>, id: ConfigurationId) -> Result<()> {
        for place in 0..lazy.items(id).len() {
            let Item { state, stack } = lazy.items(id)[place];
            self.learn_state(lazy, state)?;
            if let Some(leaf) = lazy.automaton.state(state).register() {
                leaf.learn(self, lazy, None, &mut Vec::new())?;
            }
            self.learn_stack(lazy, stack)?;
        }
        Ok(())
    }

    /// With upper bounds: a number of letters that suffice to complete a text after any one more token from a
    /// configuration. The number is the bound of the frames of the configuration's longest stack, plus the bound from
    /// within any expression. `None` if no such number is known, and with lower bounds.
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

    /// The bound of a configuration for whose states and stacks bounds were computed.
    pub(in crate::automaton) fn known(&self, lazy: &Lazy<'_>, id: ConfigurationId) -> u32 {
        if lazy.is_accepting(id) {
            return 0;
        }
        let bound = lazy.items(id).iter().map(|&item| self.of_item(lazy, item)).min().unwrap_or(ENDLESS);
        // differences of bounds that are not known are not known either
        if bound >= FAR { ENDLESS } else { bound }
    }

    fn of_item(&self, lazy: &Lazy<'_>, Item { state, stack }: Item) -> u32 {
        let inside = lazy.automaton.state(state).register();
        inside
            .and_then(|leaf| leaf.least_inside(self, lazy, stack))
            .unwrap_or_else(|| self.state(lazy, state).saturating_add(self.stack(stack).0))
    }

    /// The bound on the length from a state to the return of its callable: 0 for [`StateId::ACCEPT`], and
    /// [`Measure::unknown`] for other states until their block was examined.
    pub(in crate::automaton) fn state(&self, lazy: &Lazy<'_>, state: StateId) -> u32 {
        if state == StateId::ACCEPT {
            return 0;
        }
        let block = lazy.automaton.block(state.0);
        self.blocks.get(&block.first).map_or(self.measure.unknown(), |costs| costs[block.at(state.0)])
    }

    /// The bounds of a set of stacks along its shortest and along its longest stack; unknown until they are computed.
    pub(in crate::automaton) fn stack(&self, stack: StackSetId) -> (u32, u32) {
        let unknown = self.measure.unknown();
        self.stacks.get(&stack).copied().unwrap_or((unknown, unknown))
    }

    /// Computes the bounds of the block of a state and of the older blocks that it leads to, older blocks first.
    pub(in crate::automaton) fn learn_state(&mut self, lazy: &Lazy<'_>, state: StateId) -> Result<()> {
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
        }
        Ok(())
    }

    /// Computes the bounds of a set of stacks, after the bounds of the sets of stacks below it.
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
                if let Some(register) = lazy.automaton.state(frame.to_return).frame_of() {
                    register.learn(self, lazy, Some(frame.value), &mut open)?;
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
                let (length, below) = match frame.to_return {
                    Frame::BOTTOM => (0, (0, 0)),
                    _ => (self.of_frame(lazy, frame)?, self.stack(frame.below)),
                };
                shortest = shortest.min(length.saturating_add(below.0));
                longest = longest.max(length.saturating_add(below.1));
            }
            self.stacks.insert(stack, (shortest, longest));
            open.pop();
        }
        Ok(())
    }

    /// The bound from the return to a frame until the frame is finished, without the stack below it.
    fn of_frame(&self, lazy: &Lazy<'_>, frame: &Frame) -> Result<u32> {
        match lazy.automaton.state(frame.to_return).frame_of() {
            Some(register) => register.least_after(self, lazy, frame),
            None => Ok(self.state(lazy, frame.to_return)),
        }
    }
}

impl Lazy<'_> {
    /// A lower bound on the bytes or characters that complete a configuration.
    pub(in crate::automaton) fn lower_bound(&mut self, unit: Unit, id: ConfigurationId) -> Result<u32> {
        let mut bounds = std::mem::take(self.cache.bounds.of_unit(unit));
        let bound = bounds.of(self, id);
        *self.cache.bounds.of_unit(unit) = bounds;
        bound
    }
}
