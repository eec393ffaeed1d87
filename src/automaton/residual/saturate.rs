//! Rounds of loops that need not be distinguished, for no bound is so near that a token could reach it.
//!
//! Any number of rounds may follow such a round instead ([`RoundSetId::ANY`]): a string of at most 500 characters is then
//! one that loops for most of its length. Inside of a product the same is done to the configurations of its operands.
//! There it takes a second thought whether the product can still be completed, as it may have to be completed within the
//! bounds. From both sides:
//! - What has a word within the bounds has it without them, as any number of rounds includes those that may follow.
//! - What has a completion of this many bytes without the bounds has it within them, if the bounds are farther away than
//!   the longest token and that completion together. So it is kept how long completions are, and bounds must
//!   be farther away than that.
//!
//! A complement has more words where its operand has fewer, so its rounds are always distinguished.

use crate::automaton::Automaton;
use crate::automaton::program::interval::{Interval, Intervals};
use crate::automaton::program::state::{Loop, State, StateId};
use crate::automaton::register::product_states::ProductState;
use crate::automaton::run::configuration::{ConfigurationId, Frame, Item, StackSetId};
use crate::automaton::run::frame_value::{FrameValue, ProductStateId, RoundSetId};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::stack_set::StackSets;
use crate::automaton::tuning::{FEW_ROUNDS, MAX_COMPLETION_RADIUS, MAX_STACK_DEPTH, SATURATED_STATES};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What the frame of a round is over the next bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::automaton) enum Round {
    /// The same as a frame of that return state and those numbers of rounds.
    As(StateId, RoundSetId),
    /// The frame of a first round, whose value says nothing.
    First,
}

/// What a set of numbers of rounds is over the next rounds.
#[derive(Debug)]
enum Saturation {
    /// Itself: none of its numbers is too large to be met.
    Itself,
    /// The set of all numbers.
    Any,
    /// Only numbers too large to be met: the loop cannot be left.
    Far,
    /// These numbers, of which the last interval stands for those too large to be met.
    Cut(Intervals),
}

/// What a set is over the next `rounds` rounds: larger numbers are not met.
fn saturate(set: &[Interval], rounds: u32) -> Saturation {
    let (Some(first), Some(last)) = (set.first(), set.last()) else { return Saturation::Itself };
    if last.high <= rounds {
        return Saturation::Itself;
    }
    if first.low > rounds {
        return Saturation::Far;
    }
    if first.low == 0 && first.high >= rounds {
        return Saturation::Any;
    }
    let mut cut = Intervals::new();
    set.iter().take_while(|next| next.low <= rounds).for_each(|next| cut.push(*next));
    Interval { low: rounds + 1, high: Interval::ENDLESS }.append_to(&mut cut);
    Saturation::Cut(cut)
}

/// The rounds that may end within `horizon` bytes: the one that is being read, and those that follow.
fn rounds_within(counted: &Loop, horizon: u32) -> u32 {
    horizon / counted.bytes + 1
}

impl StackSets {
    /// What the frame of a round is over the next `horizon` bytes, and whether it is one of many that differ there; `None`
    /// for other frames.
    pub(in crate::automaton) fn saturated_frame(
        &mut self,
        automaton: &Automaton,
        frame: &Frame,
        horizon: u32,
    ) -> Option<(Round, bool)> {
        if frame.to_return == Frame::BOTTOM {
            return None;
        }
        let many = |counted: &Loop| counted.max.unwrap_or(counted.min) > FEW_ROUNDS;
        if let State::LoopReturn(l) = automaton.state(frame.to_return) {
            let counted = automaton.counted_loop(l);
            let rounds = frame.value.rounds();
            let set = self.rounds.get(rounds);
            let (value, depends_on_count) = match saturate(&set, rounds_within(counted, horizon)) {
                _ if rounds == RoundSetId::ANY => (RoundSetId::ANY, false),
                Saturation::Itself => (rounds, many(counted)),
                Saturation::Any => (RoundSetId::ANY, false),
                // as there were before the second round
                Saturation::Far => (self.rounds.intern(&[counted.following(1)]), false),
                Saturation::Cut(set) => (self.rounds.intern(&set), many(counted)),
            };
            return Some((Round::As(frame.to_return, value), depends_on_count));
        }
        let counted = automaton.first_round(frame.to_return)?;
        Some(match saturate(&[counted.following(0)], rounds_within(counted, horizon)) {
            Saturation::Any => (Round::As(counted.to_return, RoundSetId::ANY), false),
            Saturation::Far => (Round::First, false),
            Saturation::Itself | Saturation::Cut(_) => (Round::First, many(counted)),
        })
    }
}

impl Automaton {
    /// Whether a call with that frame returns to the quote that ends a string, or is the first round of a counted loop.
    pub(in crate::automaton) fn text_goes_on(&self, frame: &Frame) -> bool {
        frame.to_return != Frame::BOTTOM
            && (matches!(self.state(frame.to_return), State::Byte { byte: b'"', .. })
                || self.first_round(frame.to_return).is_some())
    }

    /// The loop whose first round returns to a state.
    fn first_round(&self, to_return: StateId) -> Option<&Loop> {
        let again = match self.state(to_return) {
            State::Split { first, len } => self.state(*self.splits(first, len).first()?),
            state => state,
        };
        let State::LoopAgain(l) = again else { return None };
        let counted = self.counted_loop(l);
        (counted.after_first == to_return).then_some(counted)
    }
}

impl Lazy<'_> {
    /// A tuple of a product that does the same over the next `horizon` bytes; and whether many rounds are distinguished.
    pub(in crate::automaton) fn saturated_product(
        &mut self,
        l: u32,
        tuple: ProductStateId,
        horizon: u32,
    ) -> (ProductStateId, bool) {
        let automaton = self.automaton;
        let product = automaton.product(l);
        let completion_radius = self.products.completion_radius(l);
        if product.complement || completion_radius > MAX_COMPLETION_RADIUS {
            return (tuple, false);
        }
        let mut depends_on_count = false;
        let mut operands = ProductState::from_slice(self.products.get(tuple));
        for operand in &mut operands {
            let (near, here) =
                self.saturated_configuration(*operand, horizon.saturating_add(completion_radius));
            *operand = near;
            depends_on_count |= here;
        }
        (self.products.intern(&operands), depends_on_count)
    }

    fn saturated_configuration(&mut self, id: ConfigurationId, horizon: u32) -> (ConfigurationId, bool) {
        if !id.is_ordinary() || self.is_history_dependent(id) || self.items(id).len() > SATURATED_STATES {
            return (id, false);
        }
        let mut items: SmallVec<[Item; 8]> = SmallVec::from_slice(self.items(id));
        let mut depends_on_count = false;
        let mut known = FxHashMap::default();
        for item in &mut items {
            let (stack, here) = self.saturated_stack(item.stack, horizon, MAX_STACK_DEPTH, &mut known);
            item.stack = stack;
            depends_on_count |= here;
        }
        let history = self.history(id);
        let flags = self.transitions().flags(id);
        (self.intern(&items, flags, history), depends_on_count)
    }

    /// Sets of stacks share what lies below them: of those with several frames `known` has what was found, by depth.
    fn saturated_stack(
        &mut self,
        stack: StackSetId,
        horizon: u32,
        depth: usize,
        known: &mut FxHashMap<(StackSetId, usize), (StackSetId, bool)>,
    ) -> (StackSetId, bool) {
        let automaton = self.automaton;
        if depth == 0 {
            return (stack, false);
        }
        let branches = self.stacks.frame_count(stack) > 1;
        if branches && let Some(&near) = known.get(&(stack, depth)) {
            return near;
        }
        let (mut all, mut depends_on_count) = (None, false);
        for place in 0..self.stacks.frame_count(stack) {
            let frame = self.stacks.frame(stack, place);
            if frame.to_return == Frame::BOTTOM {
                let bottom = self.stacks.intern(&[frame]);
                all = Some(all.map_or(bottom, |all| self.stacks.union(all, bottom)));
                continue;
            }
            let (below, here) = self.saturated_stack(frame.below, horizon, depth - 1, known);
            depends_on_count |= here;
            let (mut to_return, mut value) = (frame.to_return, frame.value);
            match self.stacks.saturated_frame(automaton, &frame, horizon) {
                Some((Round::As(near, RoundSetId::ANY), _)) => {
                    (to_return, value) = (near, FrameValue::of_rounds(RoundSetId::ANY));
                }
                // with other rounds to follow, completions might have to be longer
                Some((Round::As(_, near), apart)) => {
                    depends_on_count |= apart || FrameValue::of_rounds(near) != value;
                }
                Some((Round::First, apart)) => depends_on_count |= apart,
                None => {}
            }
            let near = self.stacks.push(to_return, value, below);
            all = Some(all.map_or(near, |all| self.stacks.union(all, near)));
        }
        let near = (all.unwrap_or(stack), depends_on_count);
        if branches {
            known.insert((stack, depth), near);
        }
        near
    }
}
