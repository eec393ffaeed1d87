//! Runs of the model, and masks that are computed meanwhile.
//!
//! The threads are those of rayon's current pool. Handing a mask over and waiting for it costs some microseconds, so
//! only masks that take work are handed over.

use super::logits::Logits;
use super::model::{Feed, Model};
use super::output::Output;
use grammata::error::Result;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How many of its tokens a decoder is fed in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Portion {
    All,
    /// The first ones, fewer than come before the first row of logits.
    First(usize),
}

/// How far the mask of the next choice is.
#[derive(Clone, Debug, Default)]
pub(super) enum NextMask {
    /// There is none, or the decoder has used it.
    #[default]
    Settled,
    /// To be computed during the run of the model.
    Open,
    /// Computed during the run.
    Done(Overlapped),
}

/// A mask that was computed during a run of the model.
#[derive(Clone, Debug)]
pub(super) struct Overlapped {
    pub(super) result: Result<()>,
    /// Time of the computation.
    pub(super) time: Duration,
    /// How long the logits waited for it.
    pub(super) wait: Duration,
}

/// The computation of one mask.
pub(super) struct MaskTask<'a, 'c> {
    pub(super) output: &'a mut Output<'c>,
    pub(super) mask: &'a mut Vec<u32>,
    /// Number of tokens of the vocabulary.
    pub(super) count: usize,
    pub(super) next: &'a mut NextMask,
}

impl MaskTask<'_, '_> {
    /// Computes the mask. `fed` is set when the model's run ends.
    fn run(self, fed: &OnceLock<Instant>) {
        let start = Instant::now();
        let result = self.output.fill_mask(self.mask, self.count, None).map(|_| ());
        let wait = fed.get().map_or(Duration::ZERO, Instant::elapsed);
        *self.next = NextMask::Done(Overlapped { result, time: start.elapsed(), wait });
    }
}

/// Feeds the model and computes masks meanwhile. Returns the logits and the time of the run. All masks are computed
/// when it returns, also if the model fails. A panic of a mask is passed on after the run.
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
