//! The numbers in a mask file: little-endian words, and LEB128 for numbers that are mostly small.

/// Appends a LEB128 number: seven bits per byte, low bits first; all bytes but the last have their highest bit set.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Appends the length of a text and the text.
pub(super) fn put_text(bytes: &mut Vec<u8>, text: &[u8]) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text);
}

/// The little-endian 32-bit word at an offset, if it is within `bytes`.
#[inline]
pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

/// The little-endian 64-bit word at an offset, if it is within `bytes`.
pub(super) fn double_word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

/// A cursor in the bytes of a section. Its methods return `None` at the end of the bytes.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0 }
    }

    /// The number of bytes read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Skips all unread bytes.
    pub(super) fn skip(&mut self) {
        self.at = self.bytes.len();
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// Reads a LEB128 number of at most 35 bits; `None` for a longer one.
    pub(super) fn long_number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a LEB128 number of at most 32 bits; `None` for a greater one.
    pub(super) fn number(&mut self) -> Option<u32> {
        u32::try_from(self.long_number()?).ok()
    }

    /// Reads the number of items that follow. Each item takes at least one byte, so the result is `None` if fewer bytes
    /// than items are left.
    pub(super) fn count(&mut self) -> Option<usize> {
        let count = self.number()? as usize;
        (count <= self.bytes.len() - self.at).then_some(count)
    }

    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.count()?;
        self.take(len)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_long_ones_are_refused() {
        for number in [0, 1, 127, 128, 300, 1 << 21, u64::from(u32::MAX)] {
            let mut bytes = Vec::new();
            put(&mut bytes, number);
            assert_eq!(Reader::new(&bytes).number().map(u64::from), Some(number));
            assert_eq!(Reader::new(&bytes[..bytes.len() - 1]).number(), None);
        }
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]).number(), None);
        assert_eq!(Reader::new(&[0x80; 12]).number(), None);
        assert_eq!(Reader::new(&[5, 1, 2]).count(), None);
    }
}
