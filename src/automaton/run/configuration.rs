//! The parts of configurations: ids of configurations and stacks, items and frames.

use super::frame_value::FrameValue;
use crate::automaton::program::ids::StateId;

/// The id of a configuration: the state of the automaton after a prefix. Within one [`Cache`](crate::automaton::Cache),
/// equal ids mean equal futures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigurationId(pub(in crate::automaton) u32);

impl ConfigurationId {
    /// The configuration after a byte that is not allowed: the dead configuration has no completion. Every ordinary
    /// configuration has one.
    pub const DEAD: ConfigurationId = ConfigurationId(0);

    /// The configuration after a forgetful configuration where the result depends on the items seen. The unknown
    /// configuration occurs only while masks are computed. It has no items, so its successors cannot be computed.
    pub(crate) const UNKNOWN: ConfigurationId = ConfigurationId(1);

    /// Whether the configuration is neither dead nor unknown.
    #[inline]
    pub(crate) fn is_ordinary(self) -> bool {
        self > ConfigurationId::UNKNOWN
    }

    /// The index in the table of configurations of the cache.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A state with its set of stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Item {
    pub(crate) state: StateId,
    pub(crate) stack: StackSetId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StackSetId(pub(in crate::automaton) u32);

/// A top frame, and the stacks below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    /// The return address; [`Frame::BOTTOM`] marks the empty stack.
    pub(crate) to_return: StateId,
    /// The value of the register that the frame returns to; [`FrameValue::NONE`] for a plain call.
    pub(crate) value: FrameValue,
    /// The set of the stacks below this frame.
    pub(crate) below: StackSetId,
}

impl Frame {
    /// The return address of the empty stack.
    pub(crate) const BOTTOM: StateId = StateId(u32::MAX);

    pub(in crate::automaton) fn key(&self) -> (StateId, FrameValue) {
        (self.to_return, self.value)
    }
}
