//! Budgets of work: a bound on how long input from outside can keep a loop going.
//!
//! Work is counted in steps that depend on the input alone, never in time, so that what compiles on one machine compiles
//! on all. Every loop whose length input can raise faster than linearly spends from the budget of its compilation or mask.

use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use std::cell::Cell;

/// Steps of work that are left, of one compilation or of one mask.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    /// The field of [`Limits`] that sets it.
    kind: LimitKind,
    limit: u64,
    left: Cell<u64>,
}

impl Budget {
    /// For one compilation of a source of `bytes` bytes.
    pub(crate) fn of_compilation(limits: &Limits, bytes: usize) -> Budget {
        let per_byte = (limits.compile_work_per_byte as u64).saturating_mul(bytes as u64);
        Budget::new(LimitKind::CompileWork, (limits.compile_work as u64).saturating_add(per_byte))
    }

    /// Without a bound, for callers that bound the work themselves.
    pub(crate) fn unbounded() -> Budget {
        Budget::new(LimitKind::MaskWork, u64::MAX)
    }

    /// For one mask, or one accepted token.
    pub(crate) fn of_mask(limits: &Limits) -> Budget {
        Budget::new(LimitKind::MaskWork, limits.mask_work as u64)
    }

    /// For one count of words, or from one listed word to the next.
    pub(crate) fn of_words(limits: &Limits) -> Budget {
        Budget::new(LimitKind::WordsWork, limits.words_work as u64)
    }

    fn new(kind: LimitKind, limit: u64) -> Budget {
        Budget { kind, limit, left: Cell::new(limit) }
    }

    /// All the steps that there were at first.
    pub(crate) fn limit(&self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }

    /// The steps that were taken so far.
    pub(crate) fn spent(&self) -> u64 {
        self.limit - self.left.get()
    }

    /// At most this number of steps of one mask, for who explores ahead and leaves alone what takes more.
    pub(crate) fn of_exploring(steps: u64, limits: &Limits) -> Budget {
        Budget::new(LimitKind::MaskWork, steps.min(limits.mask_work as u64))
    }

    /// Takes what another has spent that was a copy of this one.
    pub(crate) fn settle(&self, copy: &Budget) {
        self.left.set(copy.left.get());
    }

    /// Takes `steps` from what is left.
    ///
    /// # Errors
    /// The limit, if less is left.
    #[inline]
    pub(crate) fn spend(&self, steps: usize) -> Result<()> {
        match self.left.get().checked_sub(steps as u64) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => self.exhausted(),
        }
    }

    #[cold]
    fn exhausted(&self) -> Result<()> {
        Err(Limits::exceeded(self.kind, self.limit(), "more steps of work"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_once() {
        let limits = Limits { compile_work: 10, compile_work_per_byte: 2, ..Limits::default() };
        let budget = Budget::of_compilation(&limits, 3);
        budget.spend(16).unwrap();
        let error = budget.spend(1).unwrap_err();
        assert_eq!(error.code(), "limit/exceeded");
        assert!(error.to_string().contains("`compile_work`"), "{error}");
    }
}
