//! Counts of the bytes that pass between the host and a device.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of bytes that an [`OrtModel`](super::OrtModel) copied between the host and its device, by purpose. On the
/// CPU nothing is copied, but the same bytes are counted; without [`on_device`](super::ModelOptions::on_device) only
/// those of `tokens`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Copied {
    /// Ids, positions and attention masks of tokens, to the device.
    pub tokens: u64,
    /// Masks and settings of choices, to the device.
    pub choices: u64,
    /// Chosen tokens and their log-probabilities, to the host. A token takes 8 bytes, a log-probability 4.
    pub chosen: u64,
    /// Logits, to the host. When a row is first read on the host, all rows of its run of the model are copied.
    pub logits: u64,
}

/// The counters whose values [`Copied`] reports.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) tokens: AtomicU64,
    pub(super) choices: AtomicU64,
    pub(super) chosen: AtomicU64,
    pub(super) logits: AtomicU64,
}

impl Counts {
    pub(super) fn read(&self) -> Copied {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Copied {
            tokens: of(&self.tokens),
            choices: of(&self.choices),
            chosen: of(&self.chosen),
            logits: of(&self.logits),
        }
    }
}

pub(super) fn count(counter: &AtomicU64, bytes: usize) {
    counter.fetch_add(bytes as u64, Ordering::Relaxed);
}
