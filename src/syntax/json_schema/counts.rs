//! Bounds on a number of characters, items or members.

/// An interval of counts of characters, items or members. Empty if `max` is below `min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) min: u32,
    /// `None` means unbounded.
    pub(super) max: Option<u32>,
}

impl Counts {
    pub(super) fn at_least(min: u32) -> Counts {
        Counts { min, max: None }
    }

    pub(super) fn exactly(count: u32) -> Counts {
        Counts { min: count, max: Some(count) }
    }

    pub(super) fn is_free(&self) -> bool {
        *self == Counts::default()
    }

    pub(super) fn is_crossed(&self) -> bool {
        self.max.is_some_and(|max| max < self.min)
    }

    pub(super) fn contains(&self, count: usize) -> bool {
        count >= self.min as usize && self.max.is_none_or(|max| count <= max as usize)
    }

    pub(super) fn intersection(&self, other: &Counts) -> Counts {
        let max = self.max.into_iter().chain(other.max).min();
        Counts { min: self.min.max(other.min), max }
    }

    /// Returns the counts outside the interval: those below `min`, those above `max`.
    pub(super) fn complement(&self) -> impl Iterator<Item = Counts> + use<> {
        let below = self.min.checked_sub(1).map(|max| Counts { min: 0, max: Some(max) });
        let above = self.max.and_then(|max| max.checked_add(1)).map(Counts::at_least);
        below.into_iter().chain(above)
    }
}
