//! Work budgets: bounds on how long input from outside can keep a loop running.
//!
//! Work is counted in steps that depend only on the input, never in time, so that what compiles on one machine compiles
//! on all. Every loop whose length can grow faster than linearly with the input spends from the budget of its
//! compilation or mask.

use crate::error::Result;
use crate::limits::{LimitKind, Limits};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Steps between two checks whether another thread is waiting; they take some ten microseconds.
const PIECE: u64 = 256;

/// The remaining steps of work of one compilation or one mask.
#[derive(Clone, Debug)]
pub struct Budget {
    /// The limit that the error names when the budget is exhausted.
    kind: LimitKind,
    limit: u64,
    left: Cell<u64>,
    /// Remaining steps in addition to `left`. They are moved to `left` piece by piece while nobody is waiting.
    later: Cell<u64>,
    /// The number of threads that wait for the work to end; `None` if nobody can wait.
    waiting: Option<Arc<AtomicUsize>>,
}

impl Budget {
    /// Returns the budget of one compilation of a source of `bytes` bytes: `compile_work`, and `compile_work_per_byte`
    /// for each byte.
    pub fn of_compilation(limits: &Limits, bytes: usize) -> Budget {
        let per_byte = (limits.compile_work_per_byte as u64).saturating_mul(bytes as u64);
        Budget::new(LimitKind::CompileWork, (limits.compile_work as u64).saturating_add(per_byte))
    }

    /// A budget without a bound, for callers that bound the work themselves.
    pub fn unbounded() -> Budget {
        Budget::new(LimitKind::MaskWork, u64::MAX)
    }

    /// Returns the budget of one mask, or of one accepted token: `mask_work`.
    pub fn of_mask(limits: &Limits) -> Budget {
        Budget::new(LimitKind::MaskWork, limits.mask_work as u64)
    }

    /// Returns the budget of the completion searches of one mask: a sixth of the work of a mask, rounded up.
    pub fn of_searches(limits: &Limits) -> Budget {
        Budget::new(LimitKind::MaskWork, (limits.mask_work as u64).div_ceil(6))
    }

    /// Returns the budget of counting words once, or of finding the next listed word: `words_work`.
    pub fn of_words(limits: &Limits) -> Budget {
        Budget::new(LimitKind::WordsWork, limits.words_work as u64)
    }

    /// Returns the budget of finding out how to list words: a quarter of `words_work`. Otherwise the first word of a
    /// language that is too large to count would take the work of two.
    pub fn of_counting(limits: &Limits) -> Budget {
        Budget::new(LimitKind::WordsWork, (limits.words_work as u64) / 4)
    }

    fn new(kind: LimitKind, limit: u64) -> Budget {
        Budget { kind, limit, left: Cell::new(limit), later: Cell::new(0), waiting: None }
    }

    /// The initial number of steps.
    pub fn limit(&self) -> usize {
        usize::try_from(self.limit).unwrap_or(usize::MAX)
    }

    /// The number of steps spent so far.
    pub fn spent(&self) -> u64 {
        self.limit - self.left.get() - self.later.get()
    }

    /// Returns a budget of at most `steps`, and at most the work of one mask, for exploring ahead of time. Places that
    /// need more are skipped.
    pub fn of_exploring(steps: u64, limits: &Limits) -> Budget {
        Budget::new(LimitKind::MaskWork, steps.min(limits.mask_work as u64))
    }

    /// Returns the budget for repeating `steps` steps of a text together: the work of one mask, and for each step a
    /// 256th of it, but at least 16,384 units if the work of a mask is that much. Each step originally fitted in the
    /// work of a mask, but few take more than some hundred units. Steps completed before the budget is exhausted need
    /// not be repeated.
    pub fn of_steps(limits: &Limits, steps: usize) -> Budget {
        const MUCH: u64 = 1 << 14;
        let of_mask = limits.mask_work as u64;
        let each = (of_mask / 256).max(MUCH).min(of_mask);
        Budget::new(LimitKind::MaskWork, of_mask.saturating_add(each.saturating_mul(steps as u64)))
    }

    /// Returns this budget, but exhausted as soon as another thread waits, that is, while `waiting` is not 0. This is
    /// checked about every 256 steps.
    pub fn until_someone_waits(self, waiting: Arc<AtomicUsize>) -> Budget {
        let all = self.left.get();
        let left = all.min(PIECE);
        Budget { left: Cell::new(left), later: Cell::new(all - left), waiting: Some(waiting), ..self }
    }

    /// Sets the remaining steps to those of `copy`, a clone of this budget from which steps were spent.
    pub fn settle(&self, copy: &Budget) {
        self.left.set(copy.left.get());
        self.later.set(copy.later.get());
    }

    /// Spends `steps` steps of the budget.
    ///
    /// # Errors
    /// `limit/exceeded`: fewer than `steps` steps remain, or another thread waits (see
    /// [`until_someone_waits`](Budget::until_someone_waits)).
    #[inline]
    pub fn spend(&self, steps: usize) -> Result<()> {
        match self.left.get().checked_sub(steps as u64) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => self.spend_later(steps as u64),
        }
    }

    #[cold]
    fn spend_later(&self, steps: u64) -> Result<()> {
        let is_free = self.waiting.as_ref().is_some_and(|waiting| waiting.load(Ordering::Relaxed) == 0);
        let piece = self.later.get().min(steps.max(PIECE));
        if is_free && let Some(left) = (self.left.get() + piece).checked_sub(steps) {
            self.left.set(left);
            self.later.set(self.later.get() - piece);
            return Ok(());
        }
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

    #[test]
    fn a_budget_ends_when_someone_waits() {
        let waiting = Arc::new(AtomicUsize::new(0));
        let limits = Limits { mask_work: 10 * PIECE as usize, ..Limits::default() };
        let budget = || Budget::of_mask(&limits).until_someone_waits(Arc::clone(&waiting));
        let spend = |budget: &Budget| (0..).take_while(|_| budget.spend(3).is_ok()).count() as u64 * 3;
        // nobody waits: the whole budget is available
        let all = budget();
        all.spend(5 * PIECE as usize).unwrap();
        assert_eq!(5 * PIECE + spend(&all), all.spent());
        assert!(10 * PIECE - all.spent() < 3);
        let copied = budget();
        let copy = copied.clone();
        copy.spend(2 * PIECE as usize).unwrap();
        copied.settle(&copy);
        assert_eq!(copied.spent(), 2 * PIECE);
        // somebody starts to wait
        let some = budget();
        some.spend(2 * PIECE as usize + 1).unwrap();
        waiting.store(1, Ordering::Relaxed);
        assert!(spend(&some) <= 2 * PIECE);
    }
}
