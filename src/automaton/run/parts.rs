//! Parts of a text that are bounded in tokens.
//!
//! A part is called with a state of its register as return address, so a stack shows whether the part is open. The
//! number of tokens left is not stored in configurations: the matcher counts them for each *reading*. A reading of a
//! configuration consists of its items with the stacks that have the same part open, or no part. The value of a part's
//! frame says whether the part was entered since the last token ended. The matcher splits configurations into readings
//! at the end of each token, which sets this value to [`FrameValue::KEPT_PART`].

use super::configuration::{ConfigurationId, Frame, Item, StackSetId};
use super::frame_value::FrameValue;
use super::lazy::Lazy;
use super::stack_set::StackSets;
use super::transitions::Flags;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::{PartId, StateId};
use crate::automaton::program::registers::RegisterKind;
use crate::automaton::program::state::State;
use crate::automaton::register::unique::memory::HistoryId;
use crate::error::Result;
use rustc_hash::{FxHashMap, FxHashSet};

/// A configuration restricted to one of the ways in which its text may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The configuration, in which open parts count as entered earlier.
    pub(crate) configuration: ConfigurationId,
    /// The open part, if any.
    pub(crate) part: Option<OpenPart>,
}

/// A part that is open in a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenPart {
    pub(crate) part: PartId,
    /// Whether the part was entered since the last token ended.
    pub(crate) is_new: bool,
    /// The configuration of the part alone, without the stacks below it.
    pub(crate) inside: ConfigurationId,
}

/// The open part, and whether it was entered since the last token ended; `None` if no part is open.
type Side = Option<(PartId, bool)>;

/// The stacks of a set with the same open part, in two forms. In `marked`, the frame of the part has the value
/// [`FrameValue::KEPT_PART`]; in `inside`, this frame and the frames below it are removed. Without an open part both
/// are equal.
#[derive(Clone, Copy)]
struct Stacks {
    side: Side,
    marked: StackSetId,
    inside: StackSetId,
}

impl Lazy<'_> {
    /// The readings of a configuration, sorted by open part. If no part is open in it, the configuration is its only
    /// reading.
    pub(crate) fn readings(&mut self, id: ConfigurationId) -> Result<Vec<Reading>> {
        let mut known: FxHashMap<StackSetId, Vec<Stacks>> = FxHashMap::default();
        let mut sides: Vec<(Side, Vec<Item>, Vec<Item>)> = Vec::new();
        for place in 0..self.items(id).len() {
            let Item { state, stack } = self.items(id)[place];
            self.learn_sides(stack, &mut known)?;
            for &Stacks { side, marked, inside } in &known[&stack] {
                let place = sides.iter().position(|(known, ..)| *known == side).unwrap_or_else(|| {
                    sides.push((side, Vec::new(), Vec::new()));
                    sides.len() - 1
                });
                sides[place].1.push(Item { state, stack: marked });
                sides[place].2.push(Item { state, stack: inside });
            }
        }
        let flags = self.transitions.flags(id);
        if sides.iter().all(|(side, ..)| side.is_none()) {
            return Ok(vec![Reading { configuration: id, part: None }]);
        }
        if flags.accepting && !sides.iter().any(|(side, ..)| side.is_none()) {
            sides.push((None, Vec::new(), Vec::new()));
        }
        sides.sort_unstable_by_key(|(side, ..)| *side);
        let mut readings = Vec::with_capacity(sides.len());
        for (side, marked, inside) in sides {
            let own = self.automaton.flags_of(&marked);
            readings.push(match side {
                None => {
                    let flags = Flags { tokens: own.tokens, ..flags };
                    let history = self.history(id);
                    let configuration = self.intern(&marked, flags, history);
                    if let Some(watches) = self.memory.watches.get(&id).cloned() {
                        self.memory.watches.entry(configuration).or_insert(watches);
                    }
                    Reading { configuration, part: None }
                }
                Some((part, is_new)) => {
                    let configuration = self.intern(&marked, own, HistoryId::NONE);
                    let inside = self.intern(&inside, own, HistoryId::NONE);
                    Reading { configuration, part: Some(OpenPart { part, is_new, inside }) }
                }
            });
        }
        let made = self.cache.stacks.take_interned();
        self.cache.work.spend(made + readings.len())?;
        Ok(readings)
    }

    /// Splits a set of stacks by open part, and stores the result in `known`; stacks below are split first.
    fn learn_sides(
        &mut self,
        stack: StackSetId,
        known: &mut FxHashMap<StackSetId, Vec<Stacks>>,
    ) -> Result<()> {
        let mut open = vec![stack];
        while let Some(&stack) = open.last() {
            if known.contains_key(&stack) {
                open.pop();
                continue;
            }
            let before = open.len();
            for frame in self.stacks.frames(stack) {
                // parts contain no other parts
                if frame.to_return != Frame::BOTTOM
                    && self.part_of(frame).is_none()
                    && !known.contains_key(&frame.below)
                {
                    open.push(frame.below);
                }
            }
            if open.len() > before {
                continue;
            }
            self.work.spend(1 + self.stacks.frame_count(stack))?;
            let sides = self.sides(stack, known);
            known.insert(stack, sides);
            open.pop();
        }
        Ok(())
    }

    fn sides(&mut self, stack: StackSetId, known: &FxHashMap<StackSetId, Vec<Stacks>>) -> Vec<Stacks> {
        let mut all: Vec<Stacks> = Vec::new();
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            let Frame { to_return, value, below } = frame;
            if to_return == Frame::BOTTOM {
                let empty = StackSets::EMPTY_STACK;
                all.push(Stacks { side: None, marked: empty, inside: empty });
            } else if let Some(part) = self.part_of(&frame) {
                let marked = self.stacks.push(to_return, FrameValue::KEPT_PART, below);
                let side = Some((part, value == FrameValue::NONE));
                all.push(Stacks { side, marked, inside: StackSets::EMPTY_STACK });
            } else {
                for &Stacks { side, marked, inside } in &known[&below] {
                    let marked = self.stacks.push(to_return, value, marked);
                    let inside = self.stacks.push(to_return, value, inside);
                    all.push(Stacks { side, marked, inside });
                }
            }
        }
        if let [only] = all[..] {
            return vec![only];
        }
        all.sort_unstable_by_key(|stacks| stacks.side);
        let sides = all.chunk_by(|a, b| a.side == b.side).map(|same| {
            let marked: Vec<StackSetId> = same.iter().map(|stacks| stacks.marked).collect();
            let inside: Vec<StackSetId> = same.iter().map(|stacks| stacks.inside).collect();
            let (marked, inside) = (self.stacks.union_all(&marked), self.stacks.union_all(&inside));
            Stacks { side: same[0].side, marked, inside }
        });
        sides.collect()
    }

    /// The part that returning to a frame ends, if any.
    fn part_of(&self, frame: &Frame) -> Option<PartId> {
        self.automaton.part_ended_by(frame.to_return)
    }

    /// Whether a part may be entered on a path from a configuration to a word. The answer may be true although no part
    /// can be entered. States and stacks found to be without parts are stored in `without`.
    pub(crate) fn is_part_ahead(&self, id: ConfigurationId, without: &mut WithoutParts) -> Result<bool> {
        let (mut states, mut stacks) = (Vec::new(), Vec::new());
        let mut seen = WithoutParts::default();
        for item in self.items(id) {
            states.push(item.state);
            stacks.push(item.stack);
        }
        while let Some(stack) = stacks.pop() {
            if without.stacks.contains(&stack) || !seen.stacks.insert(stack) {
                continue;
            }
            for frame in self.stacks.frames(stack).iter().filter(|frame| frame.to_return != Frame::BOTTOM) {
                states.push(frame.to_return);
                stacks.push(frame.below);
            }
            self.work.spend(1)?;
        }
        while let Some(state) = states.pop() {
            if without.states.contains(&state) || !seen.states.insert(state) {
                continue;
            }
            if self.automaton.enters_part(state, &mut states) {
                return Ok(true);
            }
            self.work.spend(1)?;
        }
        without.states.extend(seen.states);
        without.stacks.extend(seen.stacks);
        Ok(false)
    }
}

/// States and stacks from which no part can be entered any more.
#[derive(Debug, Default)]
pub(crate) struct WithoutParts {
    states: FxHashSet<StateId>,
    stacks: FxHashSet<StackSetId>,
}

impl WithoutParts {
    /// Bytes on the heap, approximately: an id and a byte of its hash per entry.
    pub(crate) fn memory_usage(&self) -> usize {
        (self.states.capacity() + self.stacks.capacity()) * 5
    }
}

impl Automaton {
    /// Whether a state enters a part, or is a deferred part of the grammar that may do so. If not, the states that it
    /// leads to or calls are appended to `next`.
    fn enters_part(&self, state: StateId, next: &mut Vec<StateId>) -> bool {
        match self.state(state) {
            State::Accept => {}
            State::Byte { next: after, .. } | State::Token { next: after, .. } => next.push(after),
            State::ByteOr { next: after, otherwise, .. } => next.extend([after, otherwise]),
            State::Bytes { first, len } => next.extend(self.edges(first, len).iter().map(|edge| edge.next)),
            State::Split { first, len } => next.extend_from_slice(self.splits(first, len)),
            State::Call { start, to_return } => {
                if self.part_ended_by(to_return).is_some() {
                    return true;
                }
                next.extend([start, to_return]);
            }
            State::Register { kind, record, .. } => {
                let block = self.block(record);
                block.records.each_target_of((kind, block.at(record)), &mut |after| next.push(after));
            }
            State::Deferred(part) => return self.may_have_part(part),
        }
        false
    }

    /// The part that ends when something returns to a state, if any.
    fn part_ended_by(&self, to_return: StateId) -> Option<PartId> {
        match self.state(to_return) {
            State::Register { kind: RegisterKind::Part, record, .. } => Some(self.part_record(record).part),
            _ => None,
        }
    }

    /// Whether a deferred part of the grammar may contain a part bounded in tokens; true if this is unknown.
    fn may_have_part(&self, part: u32) -> bool {
        let expression = self.expression_of_part(part).map(|(id, _)| id.index());
        let known = self.parts.as_ref().zip(expression);
        known.is_none_or(|(parts, id)| parts.get(id).copied().unwrap_or(true))
    }
}
