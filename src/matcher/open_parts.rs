//! The parts bounded in tokens that are open after each step of a path, and how many tokens are left for them.

use crate::automaton::PartId;
use crate::mask::{Located, WayOut};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// The readings after the steps of a path, as a linked list from the latest known step back; `None` before the first
/// readings are computed.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) last: Option<Arc<StepReadings>>,
}

/// The readings after the first `steps` steps of a path, linked to those after fewer steps.
#[derive(Debug)]
pub(super) struct StepReadings {
    pub(super) steps: usize,
    /// `None` if no bound can matter after these steps.
    pub(super) readings: Option<Vec<BoundedReading>>,
    pub(super) before: Option<Arc<StepReadings>>,
}

/// One reading of the text: a configuration whose stacks all have the same part open, or none.
#[derive(Clone, Debug)]
pub(super) struct BoundedReading {
    pub(super) at: Located,
    pub(super) open: Option<BoundedPart>,
}

/// The open part of a reading.
#[derive(Clone, Debug)]
pub(super) struct BoundedPart {
    pub(super) part: PartId,
    /// The number of further tokens that may begin in the part.
    pub(super) left: usize,
    pub(super) way_out: WayOut,
}

/// Nodes are dropped in a loop: recursion could overflow the stack.
impl Drop for StepReadings {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.before.take();
        }
    }
}

impl BoundedPart {
    /// The tokens of the way out of the part that are not yet read.
    pub(super) fn way_left(&self) -> &[TokenId] {
        self.way_out.tokens()
    }
}

impl Parts {
    /// Whether it is known that no bound can matter after the last step.
    pub(super) fn are_free(&self) -> bool {
        self.last.as_ref().is_some_and(|node| node.readings.is_none())
    }

    /// The parts of a matcher that ignores bounds.
    pub(super) fn free() -> Parts {
        Parts { last: Some(Arc::new(StepReadings { steps: 0, readings: None, before: None })) }
    }

    /// Appends the readings after `steps` steps; `None` if no bound can matter after these steps.
    pub(super) fn push(&mut self, steps: usize, readings: Option<Vec<BoundedReading>>) {
        let before = self.last.take();
        self.last = Some(Arc::new(StepReadings { steps, readings, before }));
    }

    /// Drops the data of steps after the first `steps`.
    pub(super) fn rolled_back(&mut self, steps: usize) {
        while let Some(node) = self.last.take_if(|node| node.steps > steps) {
            self.last = node.before.clone();
        }
    }
}
