//! Decomposition of a configuration into residuals.
//!
//! The texts that a state may read before it returns to the stack below do not depend on that stack. So a configuration
//! is split into residuals, one per set of stacks, and each is given an empty stack instead: the inside of a string is
//! then one configuration wherever the string is. A residual accepts where it returns. The configuration after the
//! return is [`Lazy::returned`] of the stacks below.
//!
//! Frames whose value a state may depend on before it returns stay with the residual: the members seen in a key or a
//! separator, the rounds of a loop, the product state of a product. So do frames of calls inside a string that return
//! to the quote that ends it, or begin a loop: a pattern may return anywhere. Rounds are distinguished only if a bound
//! is close enough for a token to reach it, also inside products: see `register/product_widening.rs`.

use super::kept::{Keep, Widened};
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::RegisterState;
use crate::automaton::program::state::State;
use crate::automaton::register::unique::memory::HistoryId;
use crate::automaton::run::configuration::{ConfigurationId, Frame, Item, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::stack_set::StackSets;
use crate::automaton::tuning::{MAX_KEPT_FRAMES, MAX_RESIDUALS, WIDE_CALL_BYTES};
use crate::grammar::ByteSet;
use smallvec::SmallVec;
use std::ops::Deref;

/// Some states of a configuration with the same stacks below, followed up to their return to these stacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Residual {
    /// The states, on an empty stack.
    pub(crate) configuration: ConfigurationId,
    /// The stacks that the states return to; `None` if the text ends at the return.
    pub(crate) returns_to: Option<StackSetId>,
}

/// The residuals of a configuration.
#[derive(Debug)]
pub(crate) struct Decomposition {
    parts: SmallVec<[Residual; 4]>,
    /// Whether many numbers of rounds were distinguished. With a smaller horizon that might be unnecessary.
    pub(crate) depends_on_count: bool,
}

impl Deref for Decomposition {
    type Target = [Residual];

    fn deref(&self) -> &[Residual] {
        &self.parts
    }
}

/// Frames that stay with a residual, from the top.
type KeptFrames = SmallVec<[(StateId, FrameValue); MAX_KEPT_FRAMES]>;

/// A state of a residual.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Split {
    below: StackSetId,
    /// Equal for the states of one residual.
    part: usize,
    /// All stacks of the state, before they were split.
    stack: StackSetId,
    kept: KeptFrames,
    state: StateId,
}

impl Lazy<'_> {
    /// The residuals of a configuration, or the configuration itself if it cannot or need not be decomposed. Together
    /// the residuals are equivalent to the configuration over the next `horizon` bytes, but not necessarily beyond
    /// them.
    pub(crate) fn decompose(&mut self, id: ConfigurationId, horizon: u32) -> Decomposition {
        self.decomposed(id, horizon, false)
    }

    /// As [`decompose`](Lazy::decompose), with one residual for all states that return to the same stacks, whatever
    /// frames they keep: the characters of a counted string and the quote that ends it.
    pub(crate) fn decompose_jointly(&mut self, id: ConfigurationId, horizon: u32) -> Decomposition {
        self.decomposed(id, horizon, true)
    }

    fn decomposed(&mut self, id: ConfigurationId, horizon: u32, jointly: bool) -> Decomposition {
        let whole = SmallVec::from_elem(Residual { configuration: id, returns_to: None }, 1);
        let whole = Decomposition { parts: whole, depends_on_count: false };
        let mut depends_on_count = false;
        let mut splits: SmallVec<[Split; 8]> = SmallVec::new();
        for place in 0..self.items(id).len() {
            let Item { state, stack } = self.items(id)[place];
            match self.split_stack((id, state, stack), horizon, &mut splits) {
                Some(here) => depends_on_count |= here,
                None => return whole,
            }
        }
        let as_they_are = |split: &Split| split.below == StackSets::EMPTY_STACK && split.kept.is_empty();
        if splits.iter().all(as_they_are) {
            return whole;
        }
        self.join(&mut splits);
        if jointly {
            splits.iter_mut().for_each(|split| split.part = 0);
        }
        splits.sort_unstable();
        // rounds that were distinguished may be equal after widening
        splits.dedup();
        let mut parts = SmallVec::new();
        for part in splits.chunk_by(|a, b| (a.below, a.part) == (b.below, b.part)) {
            let mut items: SmallVec<[Item; 8]> = SmallVec::new();
            for Split { kept, state, .. } in part {
                let frames = kept.iter().rev();
                let stack = frames.fold(StackSets::EMPTY_STACK, |below, &(to_return, value)| {
                    self.stacks.push(to_return, value, below)
                });
                // a configuration has each state once, with the union of its stacks
                match items.iter_mut().find(|item| item.state == *state) {
                    Some(item) => item.stack = self.stacks.union(item.stack, stack),
                    None => items.push(Item { state: *state, stack }),
                }
            }
            items.sort_unstable();
            let flags = self.automaton.flags_of(&items);
            let configuration = self.intern(&items, flags, HistoryId::NONE);
            let below = part[0].below;
            parts.push(Residual {
                configuration,
                returns_to: (below != StackSets::EMPTY_STACK).then_some(below),
            });
        }
        Decomposition { parts, depends_on_count }
    }

    /// Whether the states of a configuration with the given stacks wait for at least [`WIDE_CALL_BYTES`] bytes, as
    /// inside a string.
    fn is_wide(&self, id: ConfigurationId, stack: StackSetId) -> bool {
        let automaton = self.automaton;
        let states = self.items(id).iter().filter(|item| item.stack == stack);
        let wanted = states.map(|item| automaton.wanted_bytes(item.state));
        wanted.fold(ByteSet::EMPTY, |all, bytes| all.union(&bytes)).len() >= WIDE_CALL_BYTES
    }

    /// Decides which states form a residual: the states with the same stacks. The states of a call join the residual of
    /// the states next to the call, such as the other ways to continue a string, if one of them can read at least
    /// [`WIDE_CALL_BYTES`] different bytes, as inside a string, the call has one return address and keeps no frames, and
    /// the states next to it have one frame on top.
    fn join(&mut self, splits: &mut [Split]) {
        let automaton = self.automaton;
        for place in 0..splits.len() {
            splits[place].part = splits.iter().position(|s| s.stack == splits[place].stack).unwrap_or(place);
        }
        for place in 0..splits.len() {
            let Split { below: call, part, .. } = splits[place];
            let [frame] = *self.stacks.frames(call) else { continue };
            if !splits[place].kept.is_empty() || frame.to_return == Frame::BOTTOM {
                continue;
            }
            let beside = splits.iter().position(|s| s.stack == frame.below);
            let Some(beside) = beside.filter(|&beside| self.stacks.frame_count(splits[beside].stack) == 1)
            else {
                continue;
            };
            if automaton.wanted_bytes(splits[place].state).len() < WIDE_CALL_BYTES {
                continue;
            }
            let Split { below, part: joined, kept, .. } = splits[beside].clone();
            for split in splits.iter_mut().filter(|split| split.part == part && split.below == call) {
                split.part = joined;
                split.below = below;
                split.kept.push((frame.to_return, frame.value));
                split.kept.extend_from_slice(&kept);
            }
        }
    }

    /// Splits the stacks of a state. Returns whether many rounds were distinguished; `None` if there are too many
    /// residuals or kept frames.
    fn split_stack(
        &mut self,
        (id, state, whole): (ConfigurationId, StateId, StackSetId),
        horizon: u32,
        splits: &mut SmallVec<[Split; 8]>,
    ) -> Option<bool> {
        let ahead = (self.automaton.state(state), horizon);
        let mut depends_on_count = false;
        let mut open: SmallVec<[(StackSetId, KeptFrames); 2]> =
            SmallVec::from_elem((whole, KeptFrames::new()), 1);
        while let Some((stack, kept)) = open.pop() {
            let mut plain: SmallVec<[Frame; 4]> = SmallVec::new();
            for place in 0..self.stacks.frame_count(stack) {
                let frame = self.stacks.frame(stack, place);
                let (keep, here) = self.keep(&frame, ahead);
                depends_on_count |= here;
                let keep = match keep {
                    Keep::InText if self.is_wide(id, whole) => Keep::Through(frame.to_return, frame.value),
                    keep => keep,
                };
                match keep {
                    Keep::Through(to_return, value) => {
                        let mut kept = kept.clone();
                        kept.push((to_return, value));
                        open.push((frame.below, kept));
                    }
                    Keep::Last(value) => {
                        let mut kept = kept.clone();
                        kept.push((frame.to_return, value));
                        splits.push(Split { below: frame.below, part: 0, stack: whole, kept, state });
                    }
                    Keep::InText | Keep::Away => plain.push(frame),
                }
            }
            if plain.len() == self.stacks.frame_count(stack) {
                splits.push(Split { below: stack, part: 0, stack: whole, kept, state });
            } else if !plain.is_empty() {
                let below = self.stacks.intern(&plain);
                splits.push(Split { below, part: 0, stack: whole, kept, state });
            } else if kept.len() >= MAX_KEPT_FRAMES {
                return None;
            }
            if splits.len() + open.len() > MAX_RESIDUALS {
                return None;
            }
        }
        Some(depends_on_count)
    }

    /// Whether a frame stays with the residual of a leaf state, and whether many numbers of rounds were distinguished.
    /// `ahead` is the leaf state and the number of bytes to consider.
    fn keep(&mut self, frame: &Frame, ahead: (State, u32)) -> (Keep, bool) {
        if frame.to_return == Frame::BOTTOM {
            return (Keep::Away, false);
        }
        let automaton = self.automaton;
        match automaton.register_at(frame.to_return) {
            Some(register) => register.keep(self, frame, ahead),
            // the frame returns to the quote that ends a string
            None if matches!(automaton.state(frame.to_return), State::Byte { byte: b'"', .. }) => {
                (Keep::InText, false)
            }
            None => (Keep::Away, false),
        }
    }

    /// The abstraction of a frame over the next `horizon` bytes, if the values of its register need not be
    /// distinguished.
    pub(in crate::automaton) fn widened_frame(&mut self, frame: &Frame, horizon: u32) -> Option<Widened> {
        let automaton = self.automaton;
        let register = automaton.register_at(frame.to_return)?;
        register.widened(automaton, &mut self.stacks, frame, horizon)
    }
}

impl Automaton {
    /// The register state that a frame returns to, directly or as the first target of a split: after its first round a
    /// loop continues or ends, so that the plain call of this round returns to a split.
    fn register_at(&self, to_return: StateId) -> Option<RegisterState> {
        match self.state(to_return) {
            State::Split { first, len } => self.state(*self.splits(first, len).first()?).register(),
            state => state.register(),
        }
    }
}
