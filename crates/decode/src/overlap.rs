//! Runs of the model, and masks that are computed while the model runs.
//!
//! The threads are those of rayon's current pool. Handing a mask to another thread and waiting for it costs some
//! microseconds, so only masks that take work are handed over.

use super::logits::Logits;
use super::model::{Feed, Model};
use super::output::Output;
use grammata::error::Result;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How many of its pending tokens a decoder is fed in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Portion {
    All,
    /// The given number of first tokens, fewer than come before the first requested row of logits.
    First(usize),
}

/// The state of the mask of the next choice.
#[derive(Clone, Debug, Default)]
pub(super) enum NextMask {
    /// There is no such mask, or the decoder has used it.
    #[default]
    Settled,
    /// The mask is to be computed during the run of the model.
    Open,
    /// The mask was computed, during the run of the model or after it.
    Done(Overlapped),
}

/// The result of computing a mask that was left open for the run of the model.
#[derive(Clone, Debug)]
pub(super) struct Overlapped {
    pub(super) result: Result<()>,
    /// How long the computation took.
    pub(super) time: Duration,
    /// How long the logits waited for the mask.
    pub(super) wait: Duration,
}

/// The task of computing one mask.
pub(super) struct MaskTask<'a, 'c> {
    pub(super) output: &'a mut Output<'c>,
    pub(super) mask: &'a mut Vec<u32>,
    /// Number of tokens of the vocabulary, which is the number of bits of the mask.
    pub(super) count: usize,
    pub(super) next: &'a mut NextMask,
}

impl MaskTask<'_, '_> {
    /// Computes the mask and stores its result. `fed` is set when the run of the model ends.
    fn run(self, fed: &OnceLock<Instant>) {
        let start = Instant::now();
        let result = self.output.fill_mask(self.mask, self.count, None).map(|_| ());
        let wait = fed.get().map_or(Duration::ZERO, Instant::elapsed);
        *self.next = NextMask::Done(Overlapped { result, time: start.elapsed(), wait });
    }
}

/// Feeds the model and computes masks meanwhile. Returns the logits and the time of the run. All masks are computed
/// when the function returns, also if the model fails. A panic while computing a mask is propagated after the run.
///
/// # Errors
/// Errors of [`Model::feed`].
pub(super) fn feed_meanwhile<'m>(
    model: &'m mut dyn Model,
    batch: &[Feed<'_>],
    tasks: Vec<MaskTask<'_, '_>>,
) -> Result<(Logits<'m>, Duration)> {
    let start = Instant::now();
    if tasks.is_empty() {
        return Ok((model.feed(batch)?, start.elapsed()));
    }
    let fed = OnceLock::new();
    rayon::in_place_scope(|scope| {
        for task in tasks {
            scope.spawn(|_| task.run(&fed));
        }
        let logits = model.feed(batch);
        let end = *fed.get_or_init(Instant::now);
        Ok((logits?, end.duration_since(start)))
    })
}
