//! What becomes of a frame when a configuration is taken apart.

use crate::automaton::program::ids::StateId;
use crate::automaton::run::frame_value::FrameValue;

/// Whether a frame stays with a residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::automaton) enum Keep {
    /// It does not: what the state may read before it returns does not depend on the frame.
    Away,
    /// Only where nearly any byte may be read: a pattern in a string may return anywhere.
    InText,
    /// As the last one that stays, with this value.
    Last(FrameValue),
    /// As a frame of this return state and value, and what lies below it may stay too.
    Through(StateId, FrameValue),
}

/// What a frame is over the next bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::automaton) struct Widened {
    /// The frame that does the same, as its return state and value; `None` if no other does.
    pub(in crate::automaton) frame: Option<(StateId, FrameValue)>,
    /// Whether it is one of many that differ over these bytes: over fewer they might not.
    pub(in crate::automaton) depends_on_count: bool,
}
