//! The threads of batches.
//!
//! A process that `fork()` has made has the memory of its parent and only one of its threads: a pool made before has nobody
//! left who works. So a pool is of the process that made it, and a child makes its own when it first needs one.

use crate::errors;
use grammata::Result;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::{Arc, Mutex, PoisonError};

/// The pool, and the process that it is of.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The pool of this process: as many threads as `RAYON_NUM_THREADS` says, or as there are processors.
///
/// # Errors
/// `python/threads`.
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
    // the parent's pool: to drop it would be to tell threads that do not exist here
    std::mem::forget(slot.replace((process, Arc::clone(&pool))));
    Ok(pool)
}
