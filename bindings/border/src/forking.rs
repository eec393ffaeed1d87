//! Calls into the library, and `os.fork()`.
//!
//! The package registers the three functions here with `os.register_at_fork`. Before a fork they let no new call begin
//! and wait for the calls of other threads, so that a child never finds a lock, a matcher or a buffer in use by a
//! thread that it does not have. A fork that does not go through Python's hooks is not held.

use crate::ending;
use grammata::forking::{self, Running};
use pyo3::prelude::*;
use std::time::Duration;

/// How long a fork waits for the calls of other threads. A single call is bounded by limits to some seconds. Without a
/// bound, a call whose Python code waits for the forking thread would never end.
const PATIENCE: Duration = Duration::from_secs(20);

/// Begins a call into the library. While a thread is about to fork, this waits without the interpreter's lock.
pub fn begin(py: Python<'_>) -> Running {
    loop {
        match forking::try_begin() {
            Some(running) => return running,
            None => py.detach(forking::wait),
        }
    }
}

/// Runs a call into the library without the interpreter's lock.
pub fn detach<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    let _running = begin(py);
    py.detach(work)
}

/// The hook before a fork.
#[pyfunction]
pub fn _before_fork(py: Python<'_>) {
    py.detach(|| forking::prepare(PATIENCE));
}

/// The hook after a fork, in the process that forked.
#[pyfunction]
pub fn _after_fork_in_parent() {
    forking::resume_parent();
}

/// The hook after a fork, in the child.
#[pyfunction]
pub fn _after_fork_in_child() {
    forking::resume_child();
    ending::after_fork();
}
