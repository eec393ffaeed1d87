//! Holds calls and background threads while a process forks.
//!
//! A child of the system call `fork()` has the memory of its parent but only the thread that forked. A lock that
//! another thread held at that moment stays locked in the child. So a border that offers the library to a language with
//! `fork()` counts its calls ([`begin`]), and so do the background threads of the library. Before a fork, [`prepare`]
//! lets no new call begin and waits for those that run.
//!
//! A call within a call of the same thread never waits. Calls of Rust programs are not counted, except through a
//! border.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The number of counters of calls. With several, threads seldom write to the same cache line.
const SHARDS: usize = 16;

/// How long a thread sleeps before it looks again.
const PAUSE: Duration = Duration::from_micros(50);

/// A counter in a cache line of its own.
#[repr(align(128))]
struct Shard(AtomicUsize);

/// The threads that are inside a call, by shard.
static RUNNING: [Shard; SHARDS] = [const { Shard(AtomicUsize::new(0)) }; SHARDS];

/// The number of threads that are about to fork.
static FORKS: AtomicUsize = AtomicUsize::new(0);

static NEXT_SHARD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of calls that this thread is inside of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    static SHARD: usize = NEXT_SHARD.fetch_add(1, Ordering::Relaxed) % SHARDS;
}

/// The counter of this thread. A thread that is about to end, whose local values are gone, uses the first one.
fn shard() -> &'static AtomicUsize {
    &RUNNING[SHARD.try_with(|shard| *shard).unwrap_or(0)].0
}

/// A running call of this thread; it ends on drop.
#[derive(Debug)]
#[must_use = "the call ends when this is dropped"]
pub struct Running {
    /// A call belongs to its thread.
    not_send: PhantomData<*const ()>,
}

/// Begins a call; waits while a thread is about to fork.
pub fn begin() -> Running {
    loop {
        match try_begin() {
            Some(running) => return running,
            None => wait(),
        }
    }
}

/// Begins a call. Returns `None` if a thread is about to fork and this thread is not inside a call.
pub fn try_begin() -> Option<Running> {
    let depth = DEPTH.get();
    if depth == 0 {
        // counted first: either `prepare` sees this call, or this call sees the fork
        shard().fetch_add(1, Ordering::SeqCst);
        if FORKS.load(Ordering::SeqCst) > 0 {
            shard().fetch_sub(1, Ordering::SeqCst);
            return None;
        }
    }
    DEPTH.set(depth + 1);
    Some(Running { not_send: PhantomData })
}

/// Waits until no thread is about to fork.
pub fn wait() {
    while FORKS.load(Ordering::SeqCst) > 0 {
        std::thread::sleep(PAUSE);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let depth = DEPTH.get() - 1;
        DEPTH.set(depth);
        if depth == 0 {
            shard().fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// Prepares a fork by this thread: lets no other thread begin a call, and waits until their calls have ended, for at
/// most `patience`. Returns whether they have. [`resume_parent`] and [`resume_child`] must follow.
pub fn prepare(patience: Duration) -> bool {
    FORKS.fetch_add(1, Ordering::SeqCst);
    let own = usize::from(DEPTH.get() > 0);
    let begun = Instant::now();
    loop {
        let running: usize = RUNNING.iter().map(|shard| shard.0.load(Ordering::SeqCst)).sum();
        if running <= own {
            return true;
        }
        if begun.elapsed() >= patience {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Lets calls begin again in the process that forked.
pub fn resume_parent() {
    FORKS.fetch_sub(1, Ordering::SeqCst);
}

/// Lets calls begin in the child, in which only this thread exists.
pub fn resume_child() {
    RUNNING.iter().for_each(|shard| shard.0.store(0, Ordering::SeqCst));
    shard().store(usize::from(DEPTH.get() > 0), Ordering::SeqCst);
    FORKS.store(0, Ordering::SeqCst);
}
