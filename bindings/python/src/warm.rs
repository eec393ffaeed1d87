//! Exploring in the background.

use grammata::explore;
use pyo3::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A background thread that explores a grammar, from `CompiledGrammar.warm`. It stops when this object is dropped.
///
/// >>> import grammata
/// >>> grammar = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"])).compile_regex("ab")
/// >>> grammar.warm().wait()  # places and masks
/// (3, 3)
#[pyclass(frozen, module = "grammata")]
pub(crate) struct WarmUp {
    /// `None` after a call has waited or cancelled.
    work: Mutex<Option<explore::WarmUp>>,
}

impl WarmUp {
    pub(crate) fn new(work: explore::WarmUp) -> WarmUp {
        WarmUp { work: Mutex::new(Some(work)) }
    }

    fn work(&self) -> MutexGuard<'_, Option<explore::WarmUp>> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the thread by calling `end` without the interpreter's lock. Returns (0, 0) if another call has already done
    /// so, or in a child of `fork()`, which does not have the thread.
    fn end(
        &self,
        py: Python<'_>,
        end: impl FnOnce(explore::WarmUp) -> (usize, usize) + Send,
    ) -> (usize, usize) {
        let work = self.work().take();
        work.map_or((0, 0), |work| py.detach(|| end(work)))
    }
}

#[pymethods]
impl WarmUp {
    /// Whether the thread has ended, or a call of `wait` or `cancel` has begun.
    fn is_finished(&self) -> bool {
        self.work().as_ref().is_none_or(explore::WarmUp::is_finished)
    }

    /// Waits for the end and returns how many places and masks were explored. A second call returns (0, 0) immediately.
    fn wait(&self, py: Python<'_>) -> (usize, usize) {
        self.end(py, explore::WarmUp::wait)
    }

    /// Stops the thread and returns how many places and masks were explored; (0, 0) after `wait` or another `cancel`.
    fn cancel(&self, py: Python<'_>) -> (usize, usize) {
        self.end(py, explore::WarmUp::cancel)
    }
}
