//! Counted loops: the value of a round's frame is the set of numbers of rounds that may follow it.
//!
//! Rounds need not be distinguished if every bound is too far away for a token to reach it. Then any number of rounds
//! may follow ([`RoundSetId::ANY`]): a string of at most 500 characters is a simple loop for most of its length.

use super::register::Register;
use crate::automaton::distance::bounds::Estimates;
use crate::automaton::distance::program::Rules;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::interval::{Interval, Intervals};
use crate::automaton::program::registers::{Loop, RegisterState, Role};
use crate::automaton::program::state::State;
use crate::automaton::residual::canonical::Writer;
use crate::automaton::residual::canonical_form::MOST_WORDS;
use crate::automaton::residual::kept::{Keep, Widened};
use crate::automaton::run::configuration::{Frame, StackSetId};
use crate::automaton::run::frame_value::{FrameValue, RoundSetId};
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::stack_set::StackSets;
use crate::automaton::run::work_list::Closure;
use crate::automaton::tuning::FEW_ROUNDS;
use crate::error::Result;

/// The abstraction of a set of numbers of rounds over the next rounds: a counter abstraction.
#[derive(Debug)]
enum Rounds {
    /// The set itself: none of its numbers is too large to be reached.
    Itself,
    /// The set of all numbers.
    Any,
    /// Only numbers too large to be reached: the loop cannot be left.
    Far,
    /// The numbers of these intervals; the last interval represents all numbers too large to be reached.
    Cut(Intervals),
}

/// Abstracts a set over the next `rounds` rounds, within which larger numbers are not reached.
fn widen(set: &[Interval], rounds: u32) -> Rounds {
    let (Some(first), Some(last)) = (set.first(), set.last()) else { return Rounds::Itself };
    if last.high <= rounds {
        return Rounds::Itself;
    }
    if first.low > rounds {
        return Rounds::Far;
    }
    if first.low == 0 && first.high >= rounds {
        return Rounds::Any;
    }
    let mut cut = Intervals::new();
    set.iter().take_while(|next| next.low <= rounds).for_each(|next| cut.push(*next));
    Interval { low: rounds + 1, high: Interval::ENDLESS }.append_to(&mut cut);
    Rounds::Cut(cut)
}

impl Loop {
    /// An upper bound on the number of rounds that may end within `horizon` bytes, the current round included.
    fn rounds_within(&self, horizon: u32) -> u32 {
        horizon / self.bytes + 1
    }

    /// Whether the loop has more than [`FEW_ROUNDS`] rounds: too many to cache a mask for each set of numbers of
    /// rounds. Without a maximum, the minimum decides.
    fn has_many_rounds(&self) -> bool {
        self.max.unwrap_or(self.min) > FEW_ROUNDS
    }

    /// Begins another round; `rounds` are the numbers of rounds that may follow it.
    fn go_round(&self, lazy: &mut Lazy<'_>, closure: &mut Closure, rounds: RoundSetId, stack: StackSetId) {
        let stack = lazy.stacks.push(self.to_return, FrameValue::of_rounds(rounds), stack);
        lazy.call(closure, self.body, stack);
    }

    /// Widens the frame of a round after the first, whose value is a set of numbers of rounds.
    fn later_round(
        &self,
        stacks: &mut StackSets,
        (to_return, rounds): (StateId, RoundSetId),
        horizon: u32,
    ) -> Widened {
        let set = stacks.rounds.get(rounds);
        let many = self.has_many_rounds();
        let (rounds, depends_on_count) = match widen(&set, self.rounds_within(horizon)) {
            _ if rounds == RoundSetId::ANY => (RoundSetId::ANY, false),
            Rounds::Itself => (rounds, many),
            Rounds::Any => (RoundSetId::ANY, false),
            // the value of the second round represents all values whose numbers are too large to be reached
            Rounds::Far => (stacks.rounds.intern(&[self.following(1)]), false),
            Rounds::Cut(set) => (stacks.rounds.intern(&set), many),
        };
        Widened { frame: Some((to_return, FrameValue::of_rounds(rounds))), depends_on_count }
    }

    /// Widens the frame of the first round, which is a plain call.
    fn first_round(&self, horizon: u32) -> Widened {
        let many = self.has_many_rounds();
        let (frame, depends_on_count) = match widen(&[self.following(0)], self.rounds_within(horizon)) {
            Rounds::Any => (Some((self.to_return, FrameValue::of_rounds(RoundSetId::ANY))), false),
            Rounds::Far => (None, false),
            Rounds::Itself | Rounds::Cut(_) => (None, many),
        };
        Widened { frame, depends_on_count }
    }
}

impl Register for Loop {
    super::register::without_leaf_states!();

    /// After the first round, which is a plain call: begins another round.
    fn enter(
        &self,
        _: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()> {
        let rounds = lazy.stacks.rounds.intern(&[self.following(1)]);
        self.go_round(lazy, closure, rounds, stack);
        Ok(())
    }

    fn leave(
        &self,
        _: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        frame: Frame,
    ) -> Result<()> {
        let (may_end, fewer) = lazy.stacks.rounds.end_round(frame.value.rounds());
        if may_end {
            lazy.add(closure, self.exit, frame.below);
        }
        if let Some(fewer) = fewer {
            self.go_round(lazy, closure, fewer, frame.below);
        }
        Ok(())
    }

    fn canonical(&self, at: RegisterState, writer: &mut Writer<'_>) -> Option<()> {
        writer.put_register(at, u32::from(self.max.is_some()));
        writer.put(self.bytes);
        writer.put(self.min);
        writer.put(self.max.unwrap_or(0));
        [self.body, self.exit, self.to_return, self.after_first]
            .into_iter()
            .try_for_each(|state| writer.refer(state))
    }

    fn canonical_value(&self, _: RegisterState, writer: &mut Writer<'_>, value: FrameValue) -> Option<()> {
        let set = writer.tables.stacks.rounds.get(value.rounds());
        (set.len() < MOST_WORDS).then_some(())?;
        writer.put(set.len() as u32);
        set.iter().flat_map(|interval| [interval.low, interval.high]).for_each(|end| writer.put(end));
        Some(())
    }

    fn widened(
        &self,
        at: RegisterState,
        stacks: &mut StackSets,
        frame: &Frame,
        horizon: u32,
    ) -> Option<Widened> {
        match at.role {
            Role::Return => Some(self.later_round(stacks, (frame.to_return, frame.value.rounds()), horizon)),
            _ if self.after_first == frame.to_return => Some(self.first_round(horizon)),
            _ => None,
        }
    }

    fn keep(
        &self,
        at: RegisterState,
        lazy: &mut Lazy<'_>,
        frame: &Frame,
        (_, horizon): (State, u32),
    ) -> (Keep, bool) {
        match self.widened(at, &mut lazy.stacks, frame, horizon) {
            Some(Widened { frame: Some((to_return, value)), depends_on_count }) => {
                (Keep::Through(to_return, value), depends_on_count)
            }
            Some(Widened { frame: None, depends_on_count }) => (Keep::InText, depends_on_count),
            None => (Keep::Away, false),
        }
    }

    fn may_return(&self, at: RegisterState, each: &mut dyn FnMut(StateId, bool)) -> bool {
        if at.role == Role::Enter {
            each(self.body, true);
        }
        each(self.exit, false);
        true
    }

    fn least(&self, at: RegisterState, rules: &mut Rules<'_>, target: u32) {
        if at.role == Role::Enter {
            let rounds = self.following(1).low.saturating_add(1);
            rules.add(target, 0, &[(rules.at(self.body), rounds), (rules.at(self.exit), 1)]);
        }
    }

    fn least_after(
        &self,
        _: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        frame: &Frame,
    ) -> Result<u32> {
        let rounds = lazy.stacks.rounds.get(frame.value.rounds()).first().map_or(0, |set| set.low);
        let rounds = match rounds {
            0 => 0,
            rounds => estimates.state(lazy, self.body).saturating_mul(rounds),
        };
        Ok(rounds.saturating_add(estimates.state(lazy, self.exit)))
    }
}
