//! The registers of counted loops: interned sets of numbers of rounds.
//!
//! The register of a loop's frame is the set of all numbers `k` such that exactly `k` rounds may follow the current
//! round: from `min - done - 1`, or 0 if that is negative, to `max - done - 1` after `done` rounds. A frame with such a
//! set replaces one frame for each of its numbers, between which the automaton would choose nondeterministically. So a
//! set of stacks is a finite language over pairs of return address and number, with a canonical minimal deterministic
//! automaton. When a round ends, the loop may be left if 0 is in the set. If another round begins, each number is
//! decreased by one, and negative numbers are dropped.
//!
//! If a text can be divided into rounds in many ways, the intervals of these ways usually overlap or touch, and their
//! union is one interval. So sets are sorted lists of intervals. Counting-set automata (Turoňová et al., "Regex
//! matching with counting-set automata", OOPSLA 2020) store sets of the numbers of rounds done. The set of numbers that
//! may follow depends on the future alone: if one way allows everything that another way allows, the union of both is
//! the set of the first way.

use super::configuration::StackSetId;
use super::frame_value::RoundSetId;
use crate::automaton::program::interval::{Interval, Intervals};
use crate::collections::interner::SliceInterner;
use smallvec::SmallVec;

/// Intervals of equal length at equal distances. For example, the numbers of rounds of one or three letters that fit a
/// text are all even or all odd. Stored as runs, a set of this kind takes the same memory regardless of the bounds of
/// its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct IntervalRun {
    first: Interval,
    /// The distance between the starts of adjacent intervals; 0 if there is only one.
    step: u32,
    /// The number of intervals after the first.
    more: u32,
}

impl IntervalRun {
    fn place(&self, number: u32) -> Interval {
        let shift = self.step * number;
        Interval { low: self.first.low + shift, high: self.first.high + shift }
    }

    fn intervals(self) -> impl Iterator<Item = Interval> {
        (0..=self.more).map(move |number| self.place(number))
    }

    /// Extends the run by an interval if possible, and returns whether it was possible.
    fn takes(&mut self, next: Interval) -> bool {
        let step = if self.more == 0 { next.low - self.first.low } else { self.step };
        let longer = IntervalRun { step, more: self.more + 1, ..*self };
        let is_next = next.high - next.low == self.first.high - self.first.low
            && next.low - self.first.low == u32::saturating_mul(step, longer.more);
        if is_next {
            *self = longer;
        }
        is_next
    }
}

/// The runs of sorted intervals, each as long as possible from the first on: equal sets have equal runs.
fn runs(set: &[Interval]) -> SmallVec<[IntervalRun; 1]> {
    let mut runs: SmallVec<[IntervalRun; 1]> = SmallVec::new();
    for &next in set {
        if !runs.last_mut().is_some_and(|last| last.takes(next)) {
            runs.push(IntervalRun { first: next, step: 0, more: 0 });
        }
    }
    runs
}

/// The table of sets of numbers of rounds.
#[derive(Debug, Default)]
pub(in crate::automaton) struct RoundSets {
    /// The runs of the sets other than [`RoundSetId::ANY`].
    sets: SliceInterner<IntervalRun>,
    /// Per set other than [`RoundSetId::ANY`], the set after one more round, [`NO_ROUND`], or [`UNKNOWN`].
    fewer: Vec<RoundSetId>,
}

/// No further round is possible.
const NO_ROUND: RoundSetId = RoundSetId(u32::MAX);
/// The set after one more round was not computed yet.
const UNKNOWN: RoundSetId = RoundSetId(u32::MAX - 1);

impl RoundSets {
    /// The intervals of a set.
    pub(in crate::automaton) fn get(&self, set: RoundSetId) -> Intervals {
        match set.0.checked_sub(1) {
            Some(place) => self.sets.get(place).iter().flat_map(|run| run.intervals()).collect(),
            None => Intervals::from_elem(Interval::ANY, 1),
        }
    }

    /// Interns a non-empty list of sorted intervals that neither overlap nor touch.
    pub(in crate::automaton) fn intern(&mut self, set: &[Interval]) -> RoundSetId {
        if *set == [Interval::ANY] {
            return RoundSetId::ANY;
        }
        let place = self.sets.intern(&runs(set));
        if place as usize == self.fewer.len() {
            self.fewer.push(UNKNOWN);
        }
        RoundSetId(1 + place)
    }

    /// Whether the loop may be left after the current round, and the set of the next round if one may follow.
    pub(in crate::automaton) fn end_round(&mut self, set: RoundSetId) -> (bool, Option<RoundSetId>) {
        let Some(place) = set.0.checked_sub(1) else { return (true, Some(set)) };
        let first = self.sets.get(place).first();
        let may_end = first.is_some_and(|run| run.first.low == 0);
        if self.fewer[place as usize] == UNKNOWN {
            let less: Intervals = self.get(set).into_iter().filter_map(Interval::less_one).collect();
            self.fewer[place as usize] = if less.is_empty() { NO_ROUND } else { self.intern(&less) };
        }
        let fewer = self.fewer[place as usize];
        (may_end, (fewer != NO_ROUND).then_some(fewer))
    }

    /// Bytes on the heap.
    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.sets.memory_usage() + self.fewer.capacity() * size_of::<RoundSetId>()
    }
}

/// An interval of numbers of rounds with the stacks below the frame of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::automaton) struct Span {
    pub(in crate::automaton) rounds: Interval,
    pub(in crate::automaton) below: StackSetId,
}

impl Span {
    /// The part of the span above the number `last`, which must not be below the span's first number; `None` if no
    /// number is left.
    fn after(self, last: u32) -> Option<Span> {
        let rounds = Interval { low: last.saturating_add(1), ..self.rounds };
        (last < self.rounds.high).then_some(Span { rounds, ..self })
    }
}

/// Spans sorted by their numbers, without overlaps.
pub(in crate::automaton) type Spans = SmallVec<[Span; 4]>;

/// Merges two lists of spans, each sorted and without overlaps. Where spans overlap, `united` gives the union of their
/// stacks.
pub(in crate::automaton) fn overlay(
    left: &[Span],
    right: &[Span],
    mut united: impl FnMut(StackSetId, StackSetId) -> StackSetId,
) -> Spans {
    let mut all = Spans::new();
    let (mut left, mut right) = (left.iter().copied(), right.iter().copied());
    let (mut a, mut b) = (left.next(), right.next());
    while let (Some(x), Some(y)) = (a, b) {
        let (first, second) = if x.rounds.low <= y.rounds.low { (x, y) } else { (y, x) };
        if first.rounds.low < second.rounds.low {
            // the part before the second span
            let high = first.rounds.high.min(second.rounds.low - 1);
            all.push(Span { rounds: Interval { high, ..first.rounds }, ..first });
            match x.rounds.low < y.rounds.low {
                true => a = x.after(high).or_else(|| left.next()),
                false => b = y.after(high).or_else(|| right.next()),
            }
            continue;
        }
        let high = x.rounds.high.min(y.rounds.high);
        all.push(Span { rounds: Interval { low: x.rounds.low, high }, below: united(x.below, y.below) });
        a = x.after(high).or_else(|| left.next());
        b = y.after(high).or_else(|| right.next());
    }
    all.extend(a.into_iter().chain(left).chain(b).chain(right));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automaton::program::ids::StateId;
    use crate::automaton::run::configuration::StackSetId;
    use crate::automaton::run::frame_value::FrameValue;
    use crate::automaton::run::stack_set::StackSets;
    use std::collections::BTreeSet;

    /// Numbers of rounds of an inner and an outer loop, or of the outer one alone.
    type Stack = (Option<u32>, u32);

    fn one(stacks: &mut StackSets, (inner, outer): Stack) -> StackSetId {
        let mut frame = |loop_, low, below| {
            let rounds = FrameValue::of_rounds(stacks.rounds.intern(&[Interval { low, high: low }]));
            stacks.push(StateId(loop_), rounds, below)
        };
        let below = frame(2, outer, StackSets::EMPTY_STACK);
        inner.map_or(below, |inner| frame(1, inner, below))
    }

    fn all(stacks: &StackSets, id: StackSetId) -> BTreeSet<Stack> {
        let mut found = BTreeSet::new();
        let numbers =
            |value: FrameValue| stacks.rounds.get(value.rounds()).into_iter().flat_map(|i| i.low..=i.high);
        for frame in stacks.frames(id) {
            for first in numbers(frame.value) {
                if frame.to_return == StateId(2) {
                    assert!(found.insert((None, first)), "a number twice");
                    continue;
                }
                for below in stacks.frames(frame.below) {
                    for second in numbers(below.value) {
                        assert!(found.insert((Some(first), second)), "a number twice");
                    }
                }
            }
        }
        found
    }

    #[test]
    fn equal_sets_of_stacks_have_equal_ids() {
        let mut stacks = StackSets::new();
        let mut seed = 7u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..500 {
            let mut list: Vec<Stack> = (0..1 + below(14))
                .map(|_| ((below(5) > 0).then_some(below(4) as u32), below(4) as u32))
                .collect();
            let mut ids = Vec::new();
            for _ in 0..3 {
                // in other orders, and by halves
                let (at, half) = (below(list.len() as u64) as usize, below(list.len() as u64) as usize);
                list.rotate_left(at);
                let mut halves = [&list[..half], &list[half..]].map(|half| {
                    half.iter().fold(None, |all, &stack| {
                        let stack = one(&mut stacks, stack);
                        Some(all.map_or(stack, |all| stacks.union(all, stack)))
                    })
                });
                let (a, b) = (halves[0].take(), halves[1].take());
                ids.extend(a.zip(b).map_or(a.or(b), |(a, b)| Some(stacks.union(a, b))));
            }
            assert_eq!(all(&stacks, ids[0]), list.iter().copied().collect());
            assert!(ids.iter().all(|id| *id == ids[0]), "{list:?}");
        }
    }

    #[test]
    fn sets_are_the_intervals_that_were_given() {
        let mut sets = RoundSets::default();
        let of = |ends: &[(u32, u32)]| -> Intervals {
            ends.iter().map(|&(low, high)| Interval { low, high }).collect()
        };
        let lists = [
            of(&[
                (0, 0),
                (2, 2),
                (4, 4),
                (6, 6),
                (9, 9),
                (12, 12),
                (14, 20),
                (30, 36),
                (46, 52),
                (99, u32::MAX),
            ]),
            of(&[(1, 3), (5, 7), (10, 12), (15, 17), (20, 22), (24, 24)]),
            of(&[(7, 7)]),
            of(&[(0, u32::MAX)]),
            of(&[(5, u32::MAX)]),
        ];
        for list in &lists {
            let set = sets.intern(list);
            assert_eq!(sets.get(set), *list);
            assert_eq!(sets.intern(list), set);
        }
        let even: Intervals = (0..50_000).map(|i| Interval { low: 2 * i, high: 2 * i }).collect();
        let set = sets.intern(&even);
        assert!(sets.get(set) == even && sets.memory_usage() < 2048);
    }

    #[test]
    fn rounds_count_down_to_none() {
        let mut sets = RoundSets::default();
        let set = sets.intern(&[Interval { low: 0, high: 0 }, Interval { low: 2, high: 3 }]);
        let (may_end, next) = sets.end_round(set);
        assert!(may_end && sets.get(next.unwrap())[..] == [Interval { low: 1, high: 2 }]);
        let (may_end, next) = sets.end_round(next.unwrap());
        assert!(!may_end && sets.get(next.unwrap())[..] == [Interval { low: 0, high: 1 }]);
        let (_, next) = sets.end_round(next.unwrap());
        assert_eq!(sets.end_round(next.unwrap()), (true, None));
        let endless = sets.intern(&[Interval { low: 1, high: Interval::ENDLESS }]);
        assert_eq!(sets.end_round(endless), (false, Some(RoundSetId::ANY)));
        assert_eq!(sets.end_round(RoundSetId::ANY), (true, Some(RoundSetId::ANY)));
    }
}
