//! Intervals of numbers of rounds.

use smallvec::SmallVec;

/// Numbers of rounds from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::automaton) struct Interval {
    pub(in crate::automaton) low: u32,
    /// [`Interval::ENDLESS`] if there is no upper bound.
    pub(in crate::automaton) high: u32,
}

/// Sorted intervals that neither overlap nor touch.
pub(in crate::automaton) type Intervals = SmallVec<[Interval; 2]>;

impl Interval {
    /// The upper end of an interval without an upper bound.
    pub(in crate::automaton) const ENDLESS: u32 = u32::MAX;

    pub(in crate::automaton) const ANY: Interval = Interval { low: 0, high: Interval::ENDLESS };

    /// The interval with each number decreased by one, without negative numbers; `None` if no number is left.
    pub(in crate::automaton) fn less_one(self) -> Option<Interval> {
        let high = if self.high == Interval::ENDLESS { self.high } else { self.high.checked_sub(1)? };
        Some(Interval { low: self.low.saturating_sub(1), high })
    }

    /// Appends the interval to a sorted list, and merges it with the last interval of the list if both overlap or
    /// touch. The appended interval must not begin before the last interval of the list.
    pub(in crate::automaton) fn append_to(self, list: &mut Intervals) {
        match list.last_mut() {
            Some(last) if self.low <= last.high.saturating_add(1) => last.high = last.high.max(self.high),
            _ => list.push(self),
        }
    }
}
