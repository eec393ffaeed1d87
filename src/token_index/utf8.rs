//! The automaton of well-formed UTF-8, from which loop languages are built.

/// The number of states of the UTF-8 automaton of a loop; state 0 is between two characters.
pub(crate) const STATES: usize = 8;

/// A transition on the bytes from `low` to `high`, both included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    pub(crate) from: usize,
    pub(crate) low: u8,
    pub(crate) high: u8,
    pub(crate) to: usize,
}

/// The transitions on characters beyond ASCII: well-formed UTF-8 (Unicode Standard, table 3-7).
pub(crate) const BEYOND_ASCII: [Transition; 15] = {
    const fn t(from: usize, low: u8, high: u8, to: usize) -> Transition {
        Transition { from, low, high, to }
    }
    [
        t(0, 0xC2, 0xDF, 1),
        t(0, 0xE0, 0xE0, 4),
        t(0, 0xE1, 0xEC, 2),
        t(0, 0xED, 0xED, 5),
        t(0, 0xEE, 0xEF, 2),
        t(0, 0xF0, 0xF0, 6),
        t(0, 0xF1, 0xF3, 3),
        t(0, 0xF4, 0xF4, 7),
        t(1, 0x80, 0xBF, 0),
        t(2, 0x80, 0xBF, 1),
        t(3, 0x80, 0xBF, 2),
        t(4, 0xA0, 0xBF, 1),
        t(5, 0x80, 0x9F, 1),
        t(6, 0x90, 0xBF, 2),
        t(7, 0x80, 0x8F, 2),
    ]
};

/// Whether bytes end with the first bytes of a longer character.
pub(super) fn ends_inside(bytes: &[u8]) -> bool {
    let Some(place) = bytes.iter().rposition(|byte| !(0x80..=0xBF).contains(byte)) else { return false };
    let length = match bytes[place] {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    bytes.len() - place < length
}
