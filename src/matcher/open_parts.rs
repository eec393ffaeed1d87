//! Which parts bounded in tokens are open after each step of a path, and how many tokens are left for them.

use crate::automaton::PartId;
use crate::mask::{Located, WayOut};
use crate::vocabulary::TokenId;
use std::sync::Arc;

/// Readings after the steps of a path, the latest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub(super) last: Option<Arc<StepReadings>>,
}

/// What is known after a step.
#[derive(Debug)]
pub(super) struct StepReadings {
    /// How many steps there were.
    pub(super) steps: usize,
    /// Nothing if no bound matters from here on.
    pub(super) readings: Option<Vec<BoundedReading>>,
    pub(super) before: Option<Arc<StepReadings>>,
}

/// One way to read the text.
#[derive(Clone, Debug)]
pub(super) struct BoundedReading {
    pub(super) at: Located,
    pub(super) open: Option<BoundedPart>,
}

/// The part that is open in a reading.
#[derive(Clone, Debug)]
pub(super) struct BoundedPart {
    pub(super) part: PartId,
    /// How many more tokens may begin in it.
    pub(super) left: usize,
    pub(super) way_out: WayOut,
}

/// Nodes are dropped one after the other: there may be too many for the stack.
impl Drop for StepReadings {
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut node) = next.and_then(Arc::into_inner) {
            next = node.before.take();
        }
    }
}

impl BoundedPart {
    /// The tokens of the way out of the part.
    pub(super) fn way_left(&self) -> &[TokenId] {
        self.way_out.tokens()
    }
}

impl Parts {
    /// Whether no bound matters any more.
    pub(super) fn are_free(&self) -> bool {
        self.last.as_ref().is_some_and(|node| node.readings.is_none())
    }

    /// Of a matcher that regards no bounds.
    pub(super) fn free() -> Parts {
        Parts { last: Some(Arc::new(StepReadings { steps: 0, readings: None, before: None })) }
    }

    /// Adds what is known after a number of steps.
    pub(super) fn push(&mut self, steps: usize, readings: Option<Vec<BoundedReading>>) {
        let before = self.last.take();
        self.last = Some(Arc::new(StepReadings { steps, readings, before }));
    }

    /// Takes notice that only `steps` steps are left.
    pub(super) fn rolled_back(&mut self, steps: usize) {
        while let Some(node) = self.last.take_if(|node| node.steps > steps) {
            self.last = node.before.clone();
        }
    }
}
