//! How frames are treated when a configuration is decomposed.

use crate::automaton::program::ids::StateId;
use crate::automaton::run::frame_value::FrameValue;

/// Whether a frame stays with a residual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::automaton) enum Keep {
    /// No: the texts that the state may read before it returns do not depend on the frame.
    Away,
    /// Only if at least `WIDE_CALL_BYTES` bytes may be read, as inside a string: a pattern inside a string may return
    /// anywhere.
    InText,
    /// Yes, with this value, as the last frame that stays.
    Last(FrameValue),
    /// Yes, with this return address and value; frames below it may stay too.
    Through(StateId, FrameValue),
}

/// The abstraction of a frame over a given number of next bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::automaton) struct Widened {
    /// The return address and value of the equivalent frame; `None` if only the frame itself is equivalent.
    pub(in crate::automaton) frame: Option<(StateId, FrameValue)>,
    /// Whether the frame is one of many that behave differently over the next bytes. Over fewer bytes they might behave
    /// alike.
    pub(in crate::automaton) depends_on_count: bool,
}
