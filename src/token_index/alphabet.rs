//! Kinds of characters allowed unescaped in a JSON string (RFC 8259, section 7). Digits, small letters and capitals are
//! one kind each, because patterns mostly do not distinguish their members; every other allowed ASCII character is a
//! kind of its own. Beyond ASCII there are four kinds: the signs of Latin-1, white space, line terminators, and all
//! others; a fifth is for incomplete characters whose first bytes do not determine their kind.

use regex_syntax::utf8::{Utf8Range, Utf8Sequence, Utf8Sequences};
use std::sync::LazyLock;

/// The number of a kind, below 64.
pub(crate) type CharKind = u8;

/// The value of ASCII characters without a kind: control characters below U+0020, quotes and backslashes.
const NONE: u8 = u8::MAX;

/// The kinds with several ASCII characters; they come first.
const LETTERS_AND_DIGITS: [(u8, u8); 3] = [(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')];

/// Ranges of characters, both ends included.
type Characters = &'static [(char, char)];

/// The kinds of some characters beyond ASCII: the signs of Latin-1 that are not white space; white space that is not a
/// line terminator, matched by `\s` (ECMA-262, section 12.2: Unicode's `Zs` beyond ASCII, and U+FEFF); line
/// terminators, matched by `\s` but not by `.` (section 12.3).
const SOME: [Characters; 3] = [
    &[('\u{80}', '\u{9F}'), ('\u{A1}', '\u{BF}')],
    &[
        ('\u{A0}', '\u{A0}'),
        ('\u{1680}', '\u{1680}'),
        ('\u{2000}', '\u{200A}'),
        ('\u{202F}', '\u{202F}'),
        ('\u{205F}', '\u{205F}'),
        ('\u{3000}', '\u{3000}'),
        ('\u{FEFF}', '\u{FEFF}'),
    ],
    &[('\u{2028}', '\u{2029}')],
];

/// The number of kinds beyond ASCII, including the kind of all other characters, but not the kind of [incomplete
/// characters](ANY_BEYOND).
const BEYOND_ASCII: usize = SOME.len() + 1;

/// Per kind, the UTF-8 sequences of its characters.
pub(crate) static SPELLED: LazyLock<Vec<Vec<Utf8Sequence>>> = LazyLock::new(|| {
    let ascii = |kind: CharKind| {
        let of_kind = |byte: &u8| kind_of(*byte) == Some(kind);
        let sequence = |byte| Utf8Sequence::One(Utf8Range { start: byte, end: byte });
        (0..0x80).filter(of_kind).map(sequence).collect()
    };
    (0..BEYOND).map(ascii).chain(spelled_beyond_ascii()).collect()
});

/// The UTF-8 sequences of the kinds beyond ASCII.
fn spelled_beyond_ascii() -> [Vec<Utf8Sequence>; BEYOND_ASCII] {
    let mut some: Vec<(char, char)> = SOME.iter().copied().flatten().copied().collect();
    some.sort_unstable();
    let (mut others, mut first) = (Vec::new(), '\u{80}');
    for (low, high) in some {
        others.extend(char::from_u32(u32::from(low) - 1).map(|before| (first, before)));
        first = char::from_u32(u32::from(high) + 1).unwrap_or(char::MAX);
    }
    others.push((first, char::MAX));
    others.retain(|(low, high)| low <= high);
    let spelled = |ranges: &[(char, char)]| {
        ranges.iter().flat_map(|&(low, high)| Utf8Sequences::new(low, high)).collect()
    };
    std::array::from_fn(|group| spelled(SOME.get(group).copied().unwrap_or(&others)))
}

/// The kind of each ASCII character, and the number of these kinds.
const OF_AND_COUNT: ([u8; 128], u8) = {
    let mut of = [NONE; 128];
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
    assert!(next + (BEYOND_ASCII as u8) < 63);
    (of, next)
};

const OF: [u8; 128] = OF_AND_COUNT.0;

/// The first kind beyond ASCII.
const BEYOND: CharKind = OF_AND_COUNT.1;

/// The kind of an incomplete character whose first bytes do not determine its kind.
const ANY_BEYOND: CharKind = BEYOND + BEYOND_ASCII as CharKind;

/// The kind of an ASCII character; `None` for bytes of 0x80 or more, and for characters without a kind.
#[inline]
pub(crate) const fn kind_of(byte: u8) -> Option<CharKind> {
    if !byte.is_ascii() {
        return None;
    }
    match OF[byte as usize] {
        NONE => None,
        kind => Some(kind),
    }
}

/// The kind of a character; `None` for ASCII characters without a kind.
pub(crate) fn kind_of_char(c: char) -> Option<CharKind> {
    if let Some(byte) = u8::try_from(c).ok().filter(u8::is_ascii) {
        return kind_of(byte);
    }
    let is_in = |ranges: &Characters| ranges.iter().any(|&(low, high)| (low..=high).contains(&c));
    Some(BEYOND + SOME.iter().position(is_in).unwrap_or(SOME.len()) as CharKind)
}

/// The kind of an incomplete character beyond ASCII, given its first bytes; [`ANY_BEYOND`] if they do not determine the
/// kind or begin no character.
pub(crate) fn kind_of_begun(bytes: &[u8]) -> CharKind {
    let begins = |sequence: &Utf8Sequence| {
        sequence.len() > bytes.len()
            && sequence.as_slice().iter().zip(bytes).all(|(range, &byte)| range.matches(byte))
    };
    let beyond = (BEYOND..).zip(&SPELLED[usize::from(BEYOND)..]);
    let mut groups = beyond.filter(|(_, group)| group.iter().any(begins));
    match (groups.next(), groups.next()) {
        (Some((kind, _)), None) => kind,
        _ => ANY_BEYOND,
    }
}

/// A set of kinds of characters, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct CharKinds(u64);

impl CharKinds {
    /// All kinds, including the kind of incomplete characters.
    pub(crate) const ALL: CharKinds = CharKinds((1 << (ANY_BEYOND + 1)) - 1);

    /// The kinds of ASCII characters.
    pub(crate) const ASCII: CharKinds = CharKinds((1 << BEYOND) - 1);

    /// The kind of incomplete characters.
    const ANY_BEYOND: CharKinds = CharKinds(1 << ANY_BEYOND);

    /// The kinds of characters beyond ASCII, including the kind of incomplete characters.
    const BEYOND: CharKinds = CharKinds(CharKinds::ALL.0 & !((1 << BEYOND) - 1));

    /// The kinds of the characters that start with any of the bytes; for a byte beyond ASCII, all kinds beyond ASCII.
    pub(crate) fn of_bytes(bytes: impl Iterator<Item = u8>) -> CharKinds {
        let of = |byte| if byte < 0x80 { kind_of(byte).map(CharKinds::of) } else { Some(CharKinds::BEYOND) };
        CharKinds(bytes.filter_map(of).fold(0, |all, kinds| all | kinds.0))
    }

    /// The set of the kinds whose bits are set in `groups`. If the set includes a kind beyond ASCII, the kind of
    /// incomplete characters is added.
    pub(crate) fn of_groups(groups: u64) -> CharKinds {
        let begun = if groups & CharKinds::BEYOND.0 != 0 { CharKinds::ANY_BEYOND.0 } else { 0 };
        CharKinds(groups | begun)
    }

    /// The kinds as bits, in the form that [`of_groups`](CharKinds::of_groups) takes: bit `k` is kind `k`.
    pub(crate) fn groups(self) -> u64 {
        self.0
    }

    /// The set of one kind.
    #[inline]
    pub(crate) fn of(kind: CharKind) -> CharKinds {
        CharKinds(1 << kind)
    }

    #[inline]
    pub(crate) fn add(&mut self, other: CharKinds) {
        self.0 |= other.0;
    }

    #[inline]
    pub(crate) fn intersects(self, other: CharKinds) -> bool {
        self.0 & other.0 != 0
    }

    /// The kinds that are in at least one of the two sets.
    pub(crate) fn union(self, other: CharKinds) -> CharKinds {
        CharKinds(self.0 | other.0)
    }

    /// The kinds that are in both sets.
    pub(crate) fn intersection(self, other: CharKinds) -> CharKinds {
        CharKinds(self.0 & other.0)
    }

    /// The kinds of this set that are not in `other`.
    pub(crate) fn difference(self, other: CharKinds) -> CharKinds {
        CharKinds(self.0 & !other.0)
    }

    #[inline]
    pub(crate) fn is_subset(self, other: CharKinds) -> bool {
        self.0 & !other.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_is_of_the_kind_that_spells_it() {
        for c in '\0'..=char::MAX {
            let mut buffer = [0; 4];
            let bytes = c.encode_utf8(&mut buffer).as_bytes();
            let spells =
                |kind: &CharKind| SPELLED[usize::from(*kind)].iter().any(|sequence| sequence.matches(bytes));
            let of: Vec<CharKind> = (0..ANY_BEYOND).filter(spells).collect();
            assert_eq!(of, Vec::from_iter(kind_of_char(c)), "{c:?}");
            // an incomplete character has either the kind of the character or `ANY_BEYOND`
            for end in 1..bytes.len() {
                let begun = kind_of_begun(&bytes[..end]);
                assert!(begun == ANY_BEYOND || of == [begun], "{c:?}");
            }
        }
        assert_eq!(kind_of_begun(&[0xE2, 0x80]), ANY_BEYOND);
        assert_eq!(Some(kind_of_begun(&[0xE3, 0x81])), kind_of_char('あ'));
    }

    #[test]
    fn white_space_is_what_ecma_262_says() {
        let [space, line_end] = ['\u{A0}', '\u{2028}'].map(kind_of_char);
        for c in '\u{80}'..=char::MAX {
            let is_space = c == '\u{FEFF}' || c.is_whitespace() && c != '\u{85}';
            assert_eq!([space, line_end].contains(&kind_of_char(c)), is_space, "{c:?}");
        }
    }
}
