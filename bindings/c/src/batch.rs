//! One step of many sequences, on a pool of threads.

use crate::error::GrammataError;
use crate::failure::{self, GrammataStatus, Result};
use crate::matcher::GrammataMatcher;
use crate::raw::{Call, Using, free, run};
use crate::vocabulary::in_range;
use engine::matcher::EventMatcher;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::thread::{Builder, JoinHandle};

/// Sequences per task of a thread: filling a known mask is cheaper than handing it to another thread.
const TOGETHER: usize = 4;

/// Threads for batches.
pub struct GrammataPool {
    pool: Option<ThreadPool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for GrammataPool {
    /// Joins the threads, so that the library can be unloaded afterwards.
    fn drop(&mut self) {
        drop(self.pool.take());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Makes a pool of `threads` threads; 0 means one per core. A pool does not survive `fork()`: a child must make its
/// own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_pool_new(
    threads: usize,
    out: *mut *mut GrammataPool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.clear(out)?;
        if threads > MOST_THREADS {
            return Err(failure::threads(threads, &format!("{MOST_THREADS} are the most")));
        }
        let mut started = Vec::new();
        let builder = ThreadPoolBuilder::new().num_threads(threads).spawn_handler(|thread| {
            let name = format!("grammata-{}", thread.index());
            started.push(Builder::new().name(name).spawn(|| thread.run())?);
            Ok(())
        });
        let pool = builder.build().map_err(|cause| failure::threads(threads, &cause))?;
        call.give(out, GrammataPool { pool: Some(pool), threads: started })
    })
}

/// Maximum number of threads; a larger number is surely a mistake.
const MOST_THREADS: usize = 4096;

/// Frees a pool after waiting for its threads to end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_pool_free(pool: *mut GrammataPool) {
    free!(pool);
}

/// Writes the mask of each matcher into its own row: the row of matcher `i` begins at `words[i * row_words]`. A matcher
/// that fails does not stop the others, and its row is all 0. A matcher fails, too, if it is NULL, in use by another
/// call, or listed before.
///
/// `pool` may be NULL: the calling thread then does the work. `statuses` may be NULL; otherwise it has room for `count`
/// statuses, one per matcher. The result is OK if all statuses are OK; otherwise the result and `error` are those of
/// the first matcher that failed. If an argument cannot be used, the call fails before any matcher is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_batch_fill_masks(
    pool: *const GrammataPool,
    matchers: *const *mut GrammataMatcher,
    count: usize,
    words: *mut u32,
    words_length: usize,
    row_words: usize,
    statuses: *mut GrammataStatus,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let batch = Batch::new(&call, pool, matchers, count, statuses)?;
        let needed = count.checked_mul(row_words);
        if needed.is_none_or(|needed| needed > words_length) {
            return Err(failure::rows(words_length, needed));
        }
        let words = call.list_mut(words, words_length, "words")?;
        let mut rows: Vec<&mut [u32]> = words.chunks_mut(row_words.max(1)).take(count).collect();
        rows.resize_with(count, Default::default);
        // no row keeps the mask of an earlier step
        let unusable = rows.iter_mut().zip(&batch.matchers).filter(|(_, matcher)| matcher.is_err());
        unusable.for_each(|(row, _)| row.fill(0));
        batch.run(rows, |matcher, row| matcher.matcher().fill_mask(row))
    })
}

/// Accepts one token in each matcher: token `i` in matcher `i`. A matcher that fails does not stop the others, and does
/// not move. `pool`, `statuses` and the result are as for `grammata_batch_fill_masks`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_batch_accept_tokens(
    pool: *const GrammataPool,
    matchers: *const *mut GrammataMatcher,
    tokens: *const u32,
    count: usize,
    statuses: *mut GrammataStatus,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let tokens = call.list(tokens, count, "tokens")?;
        let batch = Batch::new(&call, pool, matchers, count, statuses)?;
        batch.run(tokens.to_vec(), |matcher, token| {
            let token = in_range(matcher.compiled().vocabulary(), token)?;
            matcher.accept_token(token)
        })
    })
}

/// The matchers of a call.
struct Batch<'a> {
    pool: Option<&'a ThreadPool>,
    /// The matchers that can be used. A matcher that occurs twice can be used only at its first place.
    matchers: Vec<Result<Using<'a, EventMatcher>>>,
    /// As integers, since C need not have initialized them.
    statuses: &'a mut [i32],
}

impl<'a> Batch<'a> {
    fn new(
        call: &'a Call,
        pool: *const GrammataPool,
        matchers: *const *mut GrammataMatcher,
        count: usize,
        statuses: *mut GrammataStatus,
    ) -> Result<Batch<'a>> {
        let pool = if pool.is_null() { None } else { call.handle(pool, "pool")?.pool.as_ref() };
        let handles = call.list(matchers, count, "matchers")?;
        let statuses =
            if statuses.is_null() { &mut [] } else { call.list_mut(statuses.cast(), count, "statuses")? };
        let matchers = handles.iter().map(|&handle| GrammataMatcher::acquire(call, handle)).collect();
        Ok(Batch { pool, matchers, statuses })
    }

    /// Runs `work` on each matcher and its input, stores the statuses, and returns the first failure.
    fn run<T: Send>(
        mut self,
        inputs: Vec<T>,
        work: impl Fn(&mut EventMatcher, T) -> Result<()> + Sync,
    ) -> Result<()> {
        let step = |matcher: &mut Result<Using<'a, EventMatcher>>, input: T| match matcher {
            Ok(matcher) => work(matcher, input),
            Err(error) => Err(error.clone()),
        };
        let matchers = &mut self.matchers;
        let results: Vec<Result<()>> = match self.pool {
            None => matchers.iter_mut().zip(inputs).map(|(matcher, input)| step(matcher, input)).collect(),
            Some(pool) => pool.install(|| {
                let pairs = matchers.par_iter_mut().zip(inputs).with_min_len(TOGETHER);
                pairs.map(|(matcher, input)| step(matcher, input)).collect()
            }),
        };
        for (status, result) in self.statuses.iter_mut().zip(&results) {
            *status = GrammataStatus::of_result(result) as i32;
        }
        results.into_iter().find(Result::is_err).unwrap_or(Ok(()))
    }
}
