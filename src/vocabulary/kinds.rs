//! Kinds of characters that may stand in a JSON string (RFC 8259, section 7): digits, small letters and capitals, which
//! patterns mostly do not tell apart; each other ASCII character by itself; those beyond ASCII by their first byte, as far
//! as some of them are white space or end a line.

use super::loops::Ranges;

/// A kind; there are fewer than 64.
pub(crate) type Kind = u8;

/// No kind: control characters, quotes, backslashes and bytes that do not begin a character.
const NONE: u8 = u8::MAX;

/// The kinds of several ASCII characters come first.
pub(crate) const LETTERS_AND_DIGITS: [(u8, u8); 3] = [(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')];

/// First bytes of characters beyond ASCII, by kind. White space (`\s`) begins with C2, E1, E2, E3 or EF, and so do U+2028 and
/// U+2029, which end a line (ECMA-262, sections 12.2 and 12.3). What is kept by group is kept by this address.
pub(crate) static GROUPS: [Ranges; 6] = [
    &[(0xC3, 0xE0), (0xE4, 0xEE), (0xF0, 0xF4)],
    &[(0xC2, 0xC2)],
    &[(0xE1, 0xE1)],
    &[(0xE2, 0xE2)],
    &[(0xE3, 0xE3)],
    &[(0xEF, 0xEF)],
];

/// The kind of the character that each byte begins, and how many kinds there are.
const OF_AND_COUNT: ([u8; 256], u8) = {
    let mut of = [NONE; 256];
    let mut next = 0;
    while (next as usize) < LETTERS_AND_DIGITS.len() {
        let (low, high) = LETTERS_AND_DIGITS[next as usize];
        let mut byte = low;
        while byte <= high {
            of[byte as usize] = next;
            byte += 1;
        }
        next += 1;
    }
    let mut byte = b' ';
    while byte < 0x80 {
        if of[byte as usize] == NONE && byte != b'"' && byte != b'\\' {
            of[byte as usize] = next;
            next += 1;
        }
        byte += 1;
    }
    let mut group = 0;
    while group < GROUPS.len() {
        let mut range = 0;
        while range < GROUPS[group].len() {
            let (low, high) = GROUPS[group][range];
            let mut byte = low;
            while byte <= high {
                of[byte as usize] = next;
                byte += 1;
            }
            range += 1;
        }
        next += 1;
        group += 1;
    }
    assert!(next < 64);
    (of, next)
};

const OF: [u8; 256] = OF_AND_COUNT.0;

/// The kind of the character that a byte begins.
#[inline]
pub(crate) const fn kind_of(byte: u8) -> Option<Kind> {
    match OF[byte as usize] {
        NONE => None,
        kind => Some(kind),
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Kinds(u64);

impl Kinds {
    /// All kinds.
    pub(crate) const ALL: Kinds = Kinds((1 << OF_AND_COUNT.1) - 1);

    /// The kinds that some of the bytes begin.
    pub(crate) fn of_bytes(bytes: impl Iterator<Item = u8>) -> Kinds {
        Kinds(bytes.filter_map(kind_of).fold(0, |kinds, kind| kinds | 1 << kind))
    }

    /// One kind.
    #[inline]
    pub(crate) fn of(kind: Kind) -> Kinds {
        Kinds(1 << kind)
    }

    #[inline]
    pub(crate) fn add(&mut self, other: Kinds) {
        self.0 |= other.0;
    }

    #[inline]
    pub(crate) fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Those that both sets have.
    pub(crate) fn common(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    /// Those that another set has not.
    pub(crate) fn without(self, other: Kinds) -> Kinds {
        Kinds(self.0 & !other.0)
    }

    #[inline]
    pub(crate) fn are_in(self, other: Kinds) -> bool {
        self.0 & !other.0 == 0
    }
}
