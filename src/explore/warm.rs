//! Exploring in the background.

use super::ExploreBudget;
use super::walk::{Explorer, Tables};
use crate::mask::CompiledGrammar;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A handle to a thread that explores a grammar in the grammar's own tables. Dropping the handle stops the thread.
#[derive(Debug)]
#[must_use = "the thread stops when this is dropped"]
pub struct WarmUp {
    is_cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<(usize, usize)>>,
    /// The process that runs the thread. In a child of `fork()` the thread does not exist, and the handle is
    /// meaningless.
    process: u32,
}

impl CompiledGrammar {
    /// Starts a background thread that explores the grammar, so that results are ready when sequences need them. The
    /// thread uses the tables only while no sequence does, for a short time each: a sequence that needs something new
    /// waits for at most one such piece of work. The thread ends when nothing is left to explore, when the budget is
    /// spent, when half of [`Limits::cache_bytes`](crate::Limits::cache_bytes) or all of a
    /// [`MemoryBound`](crate::MemoryBound) is used, when the tables are dropped to make room, when the first
    /// configuration cannot be computed, when an error other than a limit occurs, or when the handle is cancelled or
    /// dropped.
    pub fn warm(&self, budget: ExploreBudget) -> WarmUp {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let (compiled, gate) = (self.clone(), Arc::clone(&is_cancelled));
        let work = move || {
            let mut explorer = Explorer::new(&compiled, &budget, Tables::Shared(&gate));
            // if nothing can be explored, sequences will report why
            if explorer.start().is_ok() {
                explorer.run(&[]);
            }
            explorer.counts()
        };
        let thread = std::thread::Builder::new().name("grammata-warm".to_owned()).spawn(work);
        // without a thread nothing is precomputed, which changes no mask
        WarmUp { is_cancelled, thread: thread.ok(), process: std::process::id() }
    }
}

impl WarmUp {
    /// Whether the thread belongs to another process, from which the current process was forked.
    fn is_elsewhere(&self) -> bool {
        self.process != std::process::id()
    }

    /// Whether the thread has ended. Also true if it could not be started, and in a child of `fork()`.
    pub fn is_finished(&self) -> bool {
        self.is_elsewhere() || self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits until the thread has ended, and returns the number of places and of masks explored. A child of `fork()`
    /// does not wait, and returns (0, 0), as after a failure of the thread or if it could not be started.
    pub fn wait(mut self) -> (usize, usize) {
        if self.is_elsewhere() {
            return (0, 0);
        }
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }

    /// Stops the thread, waits until it has ended, and returns the number of places and of masks explored; in the cases
    /// in which [`wait`](WarmUp::wait) returns (0, 0), so does this function.
    pub fn cancel(self) -> (usize, usize) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.wait()
    }
}

impl Drop for WarmUp {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if self.is_elsewhere() {
            // the handle is not even detached, since the thread does not exist in this process
            std::mem::forget(self.thread.take());
        }
    }
}
