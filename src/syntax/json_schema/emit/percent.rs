//! Percent-encoding.

use crate::grammar::{ByteSet, CharClass, ExprId, GrammarBuilder};
use crate::syntax::json_schema::strings::respelled::{self, Code};
use regex_syntax::utf8::Utf8Sequences;

const HEXADECIMAL: &[u8; 16] = b"0123456789ABCDEF";

/// Returns bytes, all except those that stay as `%XX`. Only ASCII stays.
pub(super) fn text(bytes: &[u8], stays: &ByteSet) -> String {
    let mut written = String::with_capacity(bytes.len());
    for &byte in bytes {
        if stays.contains(byte) {
            written.push(char::from(byte));
        } else {
            written.extend([b'%', digit(byte >> 4), digit(byte & 15)].map(char::from));
        }
    }
    written
}

/// Returns one character of a class, percent-encoded.
pub(super) fn character(g: &mut GrammarBuilder, class: &CharClass, stays: &ByteSet) -> ExprId {
    let stays = |byte: u8| stays.contains(byte);
    let plain: ByteSet =
        (0..0x80_u8).filter(|&byte| stays(byte) && class.contains(char::from(byte))).collect();
    let mut ways = vec![g.byte_set(plain)];
    let encoded = (0..0x80_u8).filter(|&byte| !stays(byte) && class.contains(char::from(byte)));
    ways.push(hexadecimal(g, encoded.collect()));
    let further = class.intersection(&CharClass::new([('\u{80}', char::MAX)]));
    for &(low, high) in further.ranges() {
        for sequence in Utf8Sequences::new(low, high) {
            let bytes = sequence.as_slice().iter().map(|range| (range.start..=range.end).collect());
            let parts: Vec<ExprId> = bytes.map(|bytes| hexadecimal(g, bytes)).collect();
            ways.push(g.sequence(parts));
        }
    }
    g.choice(ways)
}

/// Returns one of some bytes as `%XX`, grouped by the first digit.
fn hexadecimal(g: &mut GrammarBuilder, bytes: Vec<u8>) -> ExprId {
    let mut ways: Vec<(ByteSet, ByteSet)> = Vec::new();
    for high in 0..16_u8 {
        let lows = bytes.iter().filter(|byte| *byte >> 4 == high).map(|byte| digit(byte & 15));
        let lows: ByteSet = lows.collect();
        if lows.is_empty() {
            continue;
        }
        match ways.iter_mut().find(|(_, known)| *known == lows) {
            Some((highs, _)) => highs.insert(digit(high)),
            None => ways.push((ByteSet::from_iter([digit(high)]), lows)),
        }
    }
    let ways: Vec<ExprId> = ways
        .into_iter()
        .map(|(highs, lows)| {
            let parts = [g.text("%"), g.byte_set(highs), g.byte_set(lows)];
            g.sequence(parts)
        })
        .collect();
    g.choice(ways)
}

/// Returns the hexadecimal digit of a value below 16.
fn digit(value: u8) -> u8 {
    HEXADECIMAL.get(usize::from(value)).copied().unwrap_or(b'0')
}

/// Returns the words of an expression of numbers or booleans, every byte except those that stay as `%XX`.
pub(super) fn expression(g: &mut GrammarBuilder, all: ExprId, stays: &ByteSet) -> ExprId {
    respelled::expression(g, all, &mut Percent { stays }).unwrap_or_else(|part| {
        // no text is allowed rather than one that is not encoded
        debug_assert!(false, "not encoded: {part:?}");
        g.never()
    })
}

struct Percent<'s> {
    stays: &'s ByteSet,
}

impl Code for Percent<'_> {
    fn literal(&mut self, g: &mut GrammarBuilder, bytes: &[u8]) -> ExprId {
        g.text(text(bytes, self.stays))
    }

    fn bytes(&mut self, g: &mut GrammarBuilder, set: &ByteSet) -> ExprId {
        let plain = g.byte_set(set.intersection(self.stays));
        let others = hexadecimal(g, set.intersection(&self.stays.complement()).iter().collect());
        g.choice([plain, others])
    }

    fn class(&mut self, g: &mut GrammarBuilder, class: &CharClass) -> ExprId {
        character(g, class, self.stays)
    }

    fn any(&mut self, g: &mut GrammarBuilder) -> ExprId {
        self.bytes(g, &ByteSet::FULL)
    }
}
