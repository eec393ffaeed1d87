//! Calls into Python's code, and the end of the interpreter.
//!
//! An interpreter that ends does so while daemon threads run. Until CPython 3.14, one of them that asks for the interpreter's lock then
//! is ended by unwinding its stack, and Python's own code asks for it all the time. Frames of Rust cannot be unwound so: the process
//! would be aborted. So whatever runs Python's code from here is counted, and when the interpreter is about to end it waits a while until
//! none is left, and lets no new one begin.

use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long the end waits for code of Python that was called from here.
const PATIENCE: Duration = Duration::from_secs(2);

/// Calls that run Python's code now.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Whether the interpreter is about to end.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Calls of this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether this thread is the one that ends the interpreter.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

/// A call that runs Python's code, until it is dropped.
pub(crate) struct PythonCall(());

impl PythonCall {
    /// Begins one. It does not return where the interpreter is about to end, but on the thread that ends it and within another call.
    pub(crate) fn begin(py: Python<'_>) -> PythonCall {
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

/// Runs `work`, which calls Python's code, on a thread that does not hold the interpreter's lock.
pub(crate) fn attach<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
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
        // there is no interpreter any more: the process is about to end
        None => park(),
    }
}

fn park() -> ! {
    loop {
        std::thread::park();
    }
}

/// What `atexit` calls: lets no new call begin on other threads, and waits for those that have begun.
#[pyfunction]
pub(crate) fn _end(py: Python<'_>) {
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
