//! The values of frames: registers by kind, told from each other by their highest bits.

/// Values from here on are registers of lists whose items must differ; counts and ids never come so far, as texts do
/// not.
pub(in crate::automaton) const REGISTER: u32 = 1 << 31;

/// Those from here on are registers of lists between two items, the others of lists inside an item.
pub(in crate::automaton) const BETWEEN: u32 = 3 << 30;

/// The value of a list's frame inside an item of which nothing is known: it takes the history to know what its bytes lead to.
/// Counts and ids that lists have do not come so far.
pub(in crate::automaton) const DOUBTFUL: u32 = 1 << 30;

/// The same inside an item after which it takes the history to know.
pub(in crate::automaton) const UNKNOWN: u32 = DOUBTFUL + 1;

/// Whether a frame's value is a register.
pub(in crate::automaton) fn is_register(value: u32) -> bool {
    value >= REGISTER
}

/// The set of all numbers: of a loop without bounds, or one whose bounds are too far away to be met. The values of frames
/// from here to [`DOUBTFUL`] are sets of numbers of rounds.
pub(in crate::automaton) const ANY_ROUNDS: u32 = DOUBTFUL >> 1;

/// Whether the value of a frame is a set of numbers of rounds.
pub(in crate::automaton) fn is_rounds(value: u32) -> bool {
    (ANY_ROUNDS..DOUBTFUL).contains(&value)
}
