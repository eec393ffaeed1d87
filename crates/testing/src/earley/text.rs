//! UTF-8 by arithmetic on ranges of scalar values, and the classes of bytes that a grammar distinguishes.

use grammata::grammar::{CharClass, Expression, Grammar};
use std::collections::BTreeSet;

/// The number of bytes of the character that begins with `lead`, if one does.
pub(super) fn length(lead: u8) -> Option<usize> {
    match lead {
        0x00..=0x7F => Some(1),
        0xC2..=0xDF => Some(2),
        0xE0..=0xEF => Some(3),
        0xF0..=0xF4 => Some(4),
        _ => None,
    }
}

/// Whether the encoding of some character of the class begins with `read`, which is not empty.
pub(super) fn begins_a_char(read: &[u8], class: &CharClass) -> bool {
    let Some(wanted) = length(read[0]) else { return false };
    if read.len() > wanted || read[1..].iter().any(|b| b & 0xC0 != 0x80) {
        return false;
    }
    let lead = match wanted {
        1 => u32::from(read[0]),
        2 => u32::from(read[0] & 0x1F),
        3 => u32::from(read[0] & 0x0F),
        _ => u32::from(read[0] & 0x07),
    };
    let bits = read[1..].iter().fold(lead, |bits, b| bits << 6 | u32::from(b & 0x3F));
    let open = 6 * (wanted - read.len());
    // the scalar values with this prefix, without those with a shorter encoding or none
    let (least, most) = match wanted {
        1 => (0, 0x7F),
        2 => (0x80, 0x7FF),
        3 => (0x800, 0xFFFF),
        _ => (0x1_0000, 0x10_FFFF),
    };
    let low = (bits << open).max(least);
    let high = (bits << open | ((1 << open) - 1)).min(most);
    class.ranges().iter().any(|&(from, to)| {
        let (from, to) = (low.max(u32::from(from)), high.min(u32::from(to)));
        // a range may span the surrogates, which are not characters
        from <= to && !(0xD800 <= from && to <= 0xDFFF)
    })
}

/// One representative of each class of bytes that the grammar does not distinguish.
pub(super) fn alphabet(grammar: &Grammar) -> Vec<u8> {
    // the bytes at which a class may begin
    let mut cuts = BTreeSet::from([0u16]);
    let mut alone = |byte: u8| cuts.extend([u16::from(byte), u16::from(byte) + 1]);
    let mut classes = false;
    for expression in grammar.expressions() {
        match expression {
            Expression::Bytes(bytes) => bytes.iter().for_each(|&b| alone(b)),
            Expression::Members(members) => {
                members.members.iter().flat_map(|m| m.key.iter()).for_each(|&b| alone(b));
            }
            Expression::ByteSet(set) => {
                for (low, high) in set.ranges() {
                    [low, high].into_iter().for_each(&mut alone);
                }
            }
            Expression::WordGraph(graph) => {
                for edge in (0..graph.len()).flat_map(|node| graph.own_edges(node)) {
                    [edge.low, edge.high].into_iter().for_each(&mut alone);
                }
            }
            Expression::Class(class) => {
                classes = true;
                for &(low, high) in class.ranges() {
                    for c in [low, high] {
                        c.encode_utf8(&mut [0; 4]).bytes().for_each(&mut alone);
                    }
                }
            }
            _ => {}
        }
    }
    if classes {
        // the ends of the ranges of each length, on both sides of the surrogates
        for c in "\0\u{7F}\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}".chars() {
            c.encode_utf8(&mut [0; 4]).bytes().for_each(&mut alone);
        }
    }
    cuts.into_iter().filter_map(|cut| u8::try_from(cut).ok()).collect()
}
