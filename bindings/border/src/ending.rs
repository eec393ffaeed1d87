//! Calls into Python code, and the end of the interpreter.
//!
//! When an interpreter ends, daemon threads still run. Before CPython 3.14, a daemon thread that requests the
//! interpreter's lock is then ended by unwinding its stack, and Python code requests the lock all the time. Rust frames
//! cannot be unwound this way: the process would abort. So calls that run Python code from here are counted. When the
//! interpreter is about to end, it waits for them for a bounded time and lets no new call start.

use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the end of the interpreter waits for calls into Python code.
const PATIENCE: Duration = Duration::from_secs(2);

/// Number of running calls into Python code on all threads, nested ones included.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Whether the interpreter is about to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Number of running calls into Python code on this thread, nested ones included.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread is the one that ends the interpreter.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// A running call into Python code; it ends on drop.
pub struct PythonCall(());

impl PythonCall {
    /// Starts a call. If the interpreter is about to end, this never returns, except on the thread that ends it and
    /// within another call.
    pub fn begin(py: Python<'_>) -> PythonCall {
        CALLS.fetch_add(1, Ordering::SeqCst);
        let call = PythonCall(());
        let is_inner = DEPTH.replace(DEPTH.get() + 1) > 0;
        if IS_ENDING.load(Ordering::SeqCst) && !is_inner && !ENDS.get() {
            drop(call);
            loop {
                py.detach::<(), _>(|| park());
            }
        }
        call
    }
}

impl Drop for PythonCall {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Takes the interpreter's lock and runs `work`, which calls Python code, on a thread that does not hold the lock. If
/// the interpreter is about to end, this never returns, except on the thread that ends it and within another call; if
/// the interpreter no longer exists, it never returns.
pub fn attach<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
    let is_inner = DEPTH.get() > 0;
    if IS_ENDING.load(Ordering::SeqCst) && !is_inner && !ENDS.get() {
        park();
    }
    let done = Python::try_attach(|py| {
        let _call = PythonCall::begin(py);
        work(py)
    });
    match done {
        Some(done) => done,
        // the interpreter no longer exists: the process is about to end
        None => park(),
    }
}

/// Forgets the calls of threads that a child of `fork()` does not have.
pub(crate) fn after_fork() {
    CALLS.store(DEPTH.get(), Ordering::SeqCst);
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

/// The `atexit` hook: stops new calls on other threads, and waits for those that are running.
#[pyfunction]
pub fn _end(py: Python<'_>) {
    ENDS.set(true);
    IS_ENDING.store(true, Ordering::SeqCst);
    let own = DEPTH.get();
    py.detach(|| {
        let begun = Instant::now();
        while CALLS.load(Ordering::SeqCst) > own && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
