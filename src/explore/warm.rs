//! Exploring in the background.

use super::ExploreBudget;
use super::walk::{Explorer, Tables};
use crate::mask::CompiledGrammar;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A thread that explores a grammar in its own tables. Dropped, it stops.
#[derive(Debug)]
#[must_use = "the thread stops when this is dropped"]
pub struct WarmUp {
    is_cancelled: Arc<AtomicBool>,
    thread: Option<JoinHandle<(usize, usize)>>,
    /// The process that has the thread. In a child of `fork()` there is none, and the handle means nothing.
    process: u32,
}

impl CompiledGrammar {
    /// Begins to explore the grammar on a thread of its own, so that what sequences will need is there when they need it. It uses the
    /// tables only while no sequence does, for a short time each: who needs something new waits for one such piece of work at most.
    /// It ends when the budget is spent, half of [`Limits::cache_bytes`](crate::Limits::cache_bytes) or all
    /// of a [`MemoryBound`](crate::MemoryBound) is used, the tables are dropped to make room, or the handle is.
    pub fn warm(&self, budget: ExploreBudget) -> WarmUp {
        let is_cancelled = Arc::new(AtomicBool::new(false));
        let (compiled, gate) = (self.clone(), Arc::clone(&is_cancelled));
        let work = move || {
            let mut explorer = Explorer::new(&compiled, &budget, Tables::Shared(&gate));
            // where nothing can be explored, sequences will say why
            if explorer.start().is_ok() {
                explorer.run(&[]);
            }
            explorer.counts()
        };
        let thread = std::thread::Builder::new().name("grammata-warm".to_owned()).spawn(work);
        // without a thread nothing is warm, which changes no mask
        WarmUp { is_cancelled, thread: thread.ok(), process: std::process::id() }
    }
}

impl WarmUp {
    /// Whether the thread runs in another process, of which this one is a fork.
    fn is_elsewhere(&self) -> bool {
        self.process != std::process::id()
    }

    /// Whether it has ended. In a child of `fork()` it has.
    pub fn is_finished(&self) -> bool {
        self.is_elsewhere() || self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end; says how many places and masks were explored. A child of `fork()` waits for nothing, and says (0, 0).
    pub fn wait(mut self) -> (usize, usize) {
        if self.is_elsewhere() {
            return (0, 0);
        }
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }

    /// Stops; says how many places and masks were explored.
    pub fn cancel(self) -> (usize, usize) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.wait()
    }
}

impl Drop for WarmUp {
    fn drop(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        if self.is_elsewhere() {
            // not even detached: there is no such thread
            std::mem::forget(self.thread.take());
        }
    }
}
