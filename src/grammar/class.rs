//! Sets of bytes and sets of characters.

use std::fmt;

/// A set of bytes, stored as one bit for each of the 256 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ByteSet([u64; 4]);

impl ByteSet {
    /// The empty set.
    pub const EMPTY: ByteSet = ByteSet([0; 4]);
    /// All 256 bytes.
    pub const FULL: ByteSet = ByteSet([u64::MAX; 4]);

    /// The set of the bytes whose bits are set; bit `b` of word `w` is the byte `64 * w + b`.
    pub(crate) const fn from_words(words: [u64; 4]) -> ByteSet {
        ByteSet(words)
    }

    /// The bytes `low..=high`; empty if `low > high`.
    pub fn range(low: u8, high: u8) -> ByteSet {
        let mut range = ByteSet::EMPTY;
        range.insert_range(low, high);
        range
    }

    /// Adds the bytes `low..=high`; adds nothing if `low > high`.
    pub fn insert_range(&mut self, low: u8, high: u8) {
        let (first, last) = (low >> 6, high >> 6);
        for word in first..=last {
            let from = if word == first { u64::MAX << (low & 63) } else { u64::MAX };
            let to = if word == last { u64::MAX >> (63 - (high & 63)) } else { u64::MAX };
            self.0[usize::from(word)] |= from & to;
        }
    }

    /// Adds a byte; no effect if it is in the set.
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Whether the byte is in the set, in constant time.
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    /// How many bytes are in the set, 0 to 256.
    pub fn len(&self) -> usize {
        self.0.iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether the set is empty; as a language it then has no word.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// The bytes that are in at least one of the two sets.
    pub fn union(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// The bytes that are in both sets.
    pub fn intersection(&self, other: &ByteSet) -> ByteSet {
        ByteSet(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// Whether `other` has all bytes of this set.
    pub fn is_subset(&self, other: &ByteSet) -> bool {
        self.intersection(other) == *self
    }

    /// The bytes that are not in the set.
    pub fn complement(&self) -> ByteSet {
        ByteSet(self.0.map(|w| !w))
    }

    /// The bytes in increasing order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.iter().enumerate().flat_map(|(i, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| (i as u32 * 64 + w.trailing_zeros()) as u8)
        })
    }

    /// The maximal ranges of consecutive bytes, both ends included, in increasing order.
    pub fn ranges(&self) -> impl Iterator<Item = (u8, u8)> + use<> {
        let (set, others) = (*self, self.complement());
        let mut at = 0;
        std::iter::from_fn(move || {
            let low = set.first_from(at)?;
            at = others.first_from(low).unwrap_or(256);
            Some((low as u8, (at - 1) as u8))
        })
    }

    /// The first byte of the set at or after `at`, which is at most 256; `None` if there is none.
    fn first_from(&self, at: u32) -> Option<u32> {
        let mut word = (at / 64) as usize;
        let mut bits = self.0.get(word)? & (u64::MAX << (at % 64));
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        Some(word as u32 * 64 + bits.trailing_zeros())
    }
}

impl FromIterator<u8> for ByteSet {
    fn from_iter<I: IntoIterator<Item = u8>>(bytes: I) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        bytes.into_iter().for_each(|b| set.insert(b));
        set
    }
}

impl fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.ranges()).finish()
    }
}

/// A set of Unicode scalar values, as sorted, disjoint, non-adjacent ranges. As a language it is the UTF-8 encodings of
/// its members.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CharClass(Box<[(char, char)]>);

impl CharClass {
    /// The union of `ranges`, given in any order, both ends included; a range with crossed ends is empty.
    pub fn new(ranges: impl IntoIterator<Item = (char, char)>) -> CharClass {
        let mut ranges: Vec<(char, char)> = ranges.into_iter().filter(|(low, high)| low <= high).collect();
        ranges.sort_unstable();
        let mut merged: Vec<(char, char)> = Vec::with_capacity(ranges.len());
        for (low, high) in ranges {
            match merged.last_mut() {
                Some((_, end)) if next_char(*end).is_none_or(|n| low <= n) => *end = high.max(*end),
                _ => merged.push((low, high)),
            }
        }
        CharClass(merged.into())
    }

    /// All Unicode scalar values.
    pub fn any() -> CharClass {
        CharClass::new([('\0', char::MAX)])
    }

    /// The ranges, both ends included: sorted, disjoint, not adjacent.
    pub fn ranges(&self) -> &[(char, char)] {
        &self.0
    }

    /// Whether the set is empty; as a language it then has no word.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the character is in the set, by a binary search of the ranges.
    pub fn contains(&self, c: char) -> bool {
        let after = self.0.partition_point(|&(low, _)| low <= c);
        after > 0 && c <= self.0[after - 1].1
    }

    /// The characters that are in at least one of the two sets.
    pub fn union(&self, other: &CharClass) -> CharClass {
        CharClass::new(self.0.iter().chain(other.0.iter()).copied())
    }

    /// The Unicode scalar values that are not in the set.
    pub fn complement(&self) -> CharClass {
        let mut ranges = Vec::with_capacity(self.0.len() + 1);
        let mut next = Some('\0');
        for &(low, high) in &self.0 {
            if let (Some(start), Some(end)) = (next, previous_char(low)) {
                ranges.push((start, end));
            }
            next = next_char(high);
        }
        if let Some(start) = next {
            ranges.push((start, char::MAX));
        }
        CharClass::new(ranges)
    }

    /// The characters that are in both sets.
    pub fn intersection(&self, other: &CharClass) -> CharClass {
        self.complement().union(&other.complement()).complement()
    }
}

impl FromIterator<char> for CharClass {
    fn from_iter<I: IntoIterator<Item = char>>(chars: I) -> CharClass {
        CharClass::new(chars.into_iter().map(|c| (c, c)))
    }
}

fn next_char(c: char) -> Option<char> {
    match c {
        '\u{D7FF}' => Some('\u{E000}'),
        _ => char::from_u32(u32::from(c) + 1),
    }
}

fn previous_char(c: char) -> Option<char> {
    match c {
        '\u{E000}' => Some('\u{D7FF}'),
        _ => u32::from(c).checked_sub(1).and_then(char::from_u32),
    }
}
