//! Bounds on a number of characters, items or members.

/// An interval of counts of characters, items or members. Empty if `max` is below `min`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(in crate::syntax::json_schema) struct Counts {
    pub(in crate::syntax::json_schema) min: u32,
    /// `None` means unbounded.
    pub(in crate::syntax::json_schema) max: Option<u32>,
}

impl Counts {
    pub(in crate::syntax::json_schema) fn at_least(min: u32) -> Counts {
        Counts { min, max: None }
    }

    pub(in crate::syntax::json_schema) fn exactly(count: u32) -> Counts {
        Counts { min: count, max: Some(count) }
    }

    pub(in crate::syntax::json_schema) fn is_free(&self) -> bool {
        *self == Counts::default()
    }

    pub(in crate::syntax::json_schema) fn is_crossed(&self) -> bool {
        self.max.is_some_and(|max| max < self.min)
    }

    pub(in crate::syntax::json_schema) fn contains(&self, count: usize) -> bool {
        count >= self.min as usize && self.max.is_none_or(|max| count <= max as usize)
    }

    pub(in crate::syntax::json_schema) fn intersection(&self, other: &Counts) -> Counts {
        let max = self.max.into_iter().chain(other.max).min();
        Counts { min: self.min.max(other.min), max }
    }

    /// Returns the counts outside the interval: those below `min`, those above `max`.
    pub(in crate::syntax::json_schema) fn complement(&self) -> impl Iterator<Item = Counts> + use<> {
        let below = self.min.checked_sub(1).map(|max| Counts { min: 0, max: Some(max) });
        let above = self.max.and_then(|max| max.checked_add(1)).map(Counts::at_least);
        below.into_iter().chain(above)
    }
}
