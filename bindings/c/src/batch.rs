//! One step of many sequences over a pool of threads.

use crate::error::GrammataError;
use crate::failure::{self, Failure, GrammataStatus, Result};
use crate::matcher::GrammataMatcher;
use crate::raw::{Call, Using};
use crate::vocabulary::in_range;
use engine::Matcher;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::thread::{Builder, JoinHandle};

/// Sequences that one thread takes at a time: a known mask takes less than handing it to another thread.
const TOGETHER: usize = 4;

/// Threads for batches.
pub struct GrammataPool {
    pool: Option<ThreadPool>,
    threads: Vec<JoinHandle<()>>,
}

impl Drop for GrammataPool {
    /// Whoever unloads the library next must find none of its threads.
    fn drop(&mut self) {
        drop(self.pool.take());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// Makes a pool of `threads` threads; 0 is one for each core. It does not survive `fork()`: a child makes its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_pool_new(
    threads: usize,
    out: *mut *mut GrammataPool,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
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

/// More is a number that was never meant as one of threads.
const MOST_THREADS: usize = 4096;

/// Frees a pool: waits for its threads to end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_pool_free(pool: *mut GrammataPool) {
    // SAFETY: the contract of the header
    unsafe { Call::new() }.free(pool);
}

/// Writes the mask of each matcher into a row of its own: that of matcher `i` begins at `words[i * row_words]`. One that fails
/// does not stop the others; its row is all 0.
///
/// `pool` may be NULL: the work is then done by the calling thread. `statuses` may be NULL; else it has room for `count`
/// statuses, one for each matcher. The result is OK if all are; otherwise it is that of the first matcher that failed, as is
/// `error`.
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
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let batch = Batch::new(&call, pool, matchers, count, statuses)?;
        let needed = count.checked_mul(row_words);
        if needed.is_none_or(|needed| needed > words_length) {
            return Err(failure::rows(words_length, needed));
        }
        let words = call.list_mut(words, words_length, "words")?;
        let mut rows: Vec<&mut [u32]> = words.chunks_mut(row_words.max(1)).take(count).collect();
        rows.resize_with(count, Default::default);
        batch.run(rows, |matcher, row| Ok(matcher.fill_mask(row)?))
    })
}

/// Accepts one token in each matcher: token `i` in matcher `i`. One that fails does not stop the others, and stays where it was.
/// `pool`, `statuses` and the result are as for `grammata_batch_fill_masks`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_batch_accept_tokens(
    pool: *const GrammataPool,
    matchers: *const *mut GrammataMatcher,
    tokens: *const u32,
    count: usize,
    statuses: *mut GrammataStatus,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    call.run(error, || {
        let tokens = call.list(tokens, count, "tokens")?;
        let batch = Batch::new(&call, pool, matchers, count, statuses)?;
        batch.run(tokens.to_vec(), |matcher, token| {
            let token = in_range(matcher.compiled().vocabulary(), token)?;
            Ok(matcher.accept_token(token)?)
        })
    })
}

/// The matchers of a call.
struct Batch<'a> {
    pool: Option<&'a ThreadPool>,
    /// Those that can be used; a matcher that is there twice can be used at its first place.
    matchers: Vec<Result<Using<'a, Matcher>>>,
    /// As numbers: C need not have initialized them.
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

    /// Does `work` with each matcher and its input, notes the statuses, and gives the first failure.
    fn run<T: Send>(
        mut self,
        inputs: Vec<T>,
        work: impl Fn(&mut Matcher, T) -> Result<()> + Sync,
    ) -> Result<()> {
        let step = |matcher: &mut Result<Using<'a, Matcher>>, input: T| match matcher {
            Ok(matcher) => work(matcher, input),
            Err(failure) => Err(Failure { status: failure.status, error: failure.error.clone() }),
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
            *status = result.as_ref().err().map_or(GrammataStatus::Ok, |failure| failure.status) as i32;
        }
        results.into_iter().find(Result::is_err).unwrap_or(Ok(()))
    }
}
