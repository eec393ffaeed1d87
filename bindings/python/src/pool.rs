//! The thread pool of batches.
//!
//! A child of `fork()` has its parent's memory but only the thread that forked, so the parent's pool has no workers
//! there. A pool therefore belongs to the process that made it, and a child makes its own when it first needs one.

use crate::errors;
use grammata::Result;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};

/// The pool, and the id of the process that made it.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process. The number of threads is `RAYON_NUM_THREADS`, or the number of processors.
///
/// # Errors
/// `python/threads` if the threads cannot be started.
pub(crate) fn pool() -> Result<Arc<ThreadPool>> {
    let mut slot = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*slot
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let builder = ThreadPoolBuilder::new().thread_name(|number| format!("grammata-{number}"));
    let pool = Arc::new(builder.build().map_err(|cause| errors::threads(&cause))?);
    // not dropped, as that would signal threads of the parent, which do not exist here
    std::mem::forget(slot.replace((process, Arc::clone(&pool))));
    Ok(pool)
}
