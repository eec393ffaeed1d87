//! Widening of counted rounds inside products.
//!
//! Rounds whose bounds are too far away for a token to reach share one configuration (see `loops.rs`). Inside a product
//! the same is done to the configurations of its operands. The product must also still be completable, since a
//! completion may have to respect the bounds. Both directions hold:
//! - A word within the bounds is also a word without them, because "any number of rounds" includes the numbers that may
//!   follow.
//! - A completion of some length without the bounds is also one within them, if the bounds are farther away than the
//!   longest token and that completion together. So the length of completions is recorded, and only bounds that are
//!   farther away are ignored.
//!
//! A complement has more words if its operand has fewer, so its rounds are always distinguished.

use super::product_states::ProductState;
use crate::automaton::residual::kept::Widened;
use crate::automaton::run::configuration::{ConfigurationId, Frame, Item, StackSetId};
use crate::automaton::run::frame_value::{FrameValue, ProductStateId, RoundSetId};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::tuning::{MAX_COMPLETION_RADIUS, MAX_STACK_DEPTH, WIDENED_STATES};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

impl Lazy<'_> {
    /// A product state that is equivalent to `tuple` over the next `horizon` bytes, and whether many numbers of rounds
    /// are distinguished. Complements, and products with a completion radius above [`MAX_COMPLETION_RADIUS`], keep
    /// their product state.
    pub(in crate::automaton) fn widened_product(
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
                self.widened_configuration(*operand, horizon.saturating_add(completion_radius));
            *operand = near;
            depends_on_count |= here;
        }
        let near = self.products.intern(&operands);
        if near != tuple {
            self.products.record_widening(l);
        }
        (near, depends_on_count)
    }

    fn widened_configuration(&mut self, id: ConfigurationId, horizon: u32) -> (ConfigurationId, bool) {
        if !id.is_ordinary() || self.is_history_dependent(id) || self.items(id).len() > WIDENED_STATES {
            return (id, false);
        }
        let mut items: SmallVec<[Item; 8]> = SmallVec::from_slice(self.items(id));
        let mut depends_on_count = false;
        let mut known = FxHashMap::default();
        for item in &mut items {
            let (stack, here) = self.widened_stack(item.stack, horizon, MAX_STACK_DEPTH, &mut known);
            item.stack = stack;
            depends_on_count |= here;
        }
        let history = self.history(id);
        let flags = self.transitions().flags(id);
        (self.intern(&items, flags, history), depends_on_count)
    }

    /// Widens a set of stacks down to `depth` frames, and says whether many numbers of rounds are distinguished. Sets
    /// share the stacks below them, so `known` caches the results of sets with several frames, by depth.
    fn widened_stack(
        &mut self,
        stack: StackSetId,
        horizon: u32,
        depth: usize,
        known: &mut FxHashMap<(StackSetId, usize), (StackSetId, bool)>,
    ) -> (StackSetId, bool) {
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
            let (below, here) = self.widened_stack(frame.below, horizon, depth - 1, known);
            depends_on_count |= here;
            let (mut to_return, mut value) = (frame.to_return, frame.value);
            if let Some(Widened { frame: near, depends_on_count: apart }) =
                self.widened_frame(&frame, horizon)
            {
                match near {
                    Some((near, any)) if any == FrameValue::of_rounds(RoundSetId::ANY) => {
                        (to_return, value) = (near, any);
                    }
                    // with other rounds to follow, completions might have to be longer
                    Some((_, near)) => depends_on_count |= apart || near != value,
                    None => depends_on_count |= apart,
                }
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
