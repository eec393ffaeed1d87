//! Ids of configurations and stacks, items and frames: what configurations consist of.

use super::frame_value::FrameValue;
use crate::automaton::program::ids::StateId;

/// The id of a configuration: what the automaton is in after a prefix. Within one [`Cache`](crate::automaton::Cache), equal ids mean
/// equal futures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigurationId(pub(in crate::automaton) u32);

impl ConfigurationId {
    /// The configuration after a byte that is not allowed: no completion exists. Every other configuration
    /// has a completion.
    pub const DEAD: ConfigurationId = ConfigurationId(0);

    /// Of a configuration that does not remember which items of a list came: it takes that to know what comes here. It
    /// only comes up in masks in the making, and nothing is known of its successors.
    pub(crate) const UNKNOWN: ConfigurationId = ConfigurationId(1);

    /// Whether it is neither dead nor unknown.
    #[inline]
    pub(crate) fn is_ordinary(self) -> bool {
        self > ConfigurationId::UNKNOWN
    }

    /// The place in the table of configurations.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A state with the stacks it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Item {
    pub(crate) state: StateId,
    pub(crate) stack: StackSetId,
}

/// The id of a set of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StackSetId(pub(in crate::automaton) u32);

/// One frame on top, and the stacks below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    /// Where to return to; [`Frame::BOTTOM`] marks the empty stack.
    pub(crate) to_return: StateId,
    /// The register.
    pub(crate) value: FrameValue,
    /// The stacks below.
    pub(crate) below: StackSetId,
}

impl Frame {
    /// The return state of the empty stack.
    pub(crate) const BOTTOM: StateId = StateId(u32::MAX);

    pub(in crate::automaton) fn key(&self) -> (StateId, FrameValue) {
        (self.to_return, self.value)
    }
}
