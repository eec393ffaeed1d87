//! Percent-encoding.

use crate::grammar::{ByteSet, CharClass, ExprId, Expression, GrammarBuilder, RuleId};
use regex_syntax::utf8::Utf8Sequences;
use rustc_hash::FxHashMap;

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

/// Returns the words of an expression of bytes, every byte except those that stay as `%XX`.
pub(super) fn expression(g: &mut GrammarBuilder, all: ExprId, stays: &ByteSet) -> ExprId {
    let mut encoder =
        Encoder { stays, made: FxHashMap::default(), rules: FxHashMap::default(), open: Vec::new() };
    let all = encoder.expression(g, all);
    while let Some((rule, copy)) = encoder.open.pop() {
        if let Some(body) = g.body(rule) {
            let body = encoder.expression(g, body);
            g.define(copy, body);
        }
    }
    all
}

struct Encoder<'s> {
    stays: &'s ByteSet,
    made: FxHashMap<ExprId, ExprId>,
    /// The encoded copy of each rule.
    rules: FxHashMap<RuleId, RuleId>,
    /// Rules whose copies are not defined yet, with these.
    open: Vec<(RuleId, RuleId)>,
}

impl Encoder<'_> {
    fn expression(&mut self, g: &mut GrammarBuilder, root: ExprId) -> ExprId {
        for id in g.within(root) {
            if !self.made.contains_key(&id) {
                let encoded = self.encoded(g, id);
                self.made.insert(id, encoded);
            }
        }
        self.of(root)
    }

    fn of(&self, id: ExprId) -> ExprId {
        self.made.get(&id).copied().unwrap_or(id)
    }

    /// Encodes an expression whose operands are encoded.
    fn encoded(&mut self, g: &mut GrammarBuilder, id: ExprId) -> ExprId {
        let all = |list: &[ExprId]| list.iter().map(|id| self.of(*id)).collect::<Vec<_>>();
        match g.expression(id).clone() {
            Expression::Bytes(bytes) => g.text(text(&bytes, self.stays)),
            Expression::ByteSet(set) => {
                let plain = g.byte_set(set.intersection(self.stays));
                let others = hexadecimal(g, set.intersection(&self.stays.complement()).iter().collect());
                g.choice([plain, others])
            }
            Expression::Sequence(parts) => g.sequence(all(&parts)),
            Expression::Choice(parts) => g.choice(all(&parts)),
            Expression::Intersection(parts) => g.intersection(all(&parts)),
            // the complement contains unencoded bytes, which no encoding contains
            Expression::Complement(body) => {
                let any = g.byte_set(ByteSet::EMPTY.complement());
                let any = self.encoded(g, any);
                let parts = [g.repeat(any, 0, None), g.complement(self.of(body))];
                g.intersection(parts)
            }
            Expression::Repeat { body, min, max } => g.repeat(self.of(body), min, max),
            Expression::Class(class) => character(g, &class, self.stays),
            Expression::Label(_, body) => self.of(body),
            Expression::Empty | Expression::Never => id,
            Expression::Rule(rule) => {
                let copy = *self.rules.entry(rule).or_insert_with(|| {
                    let copy = g.declare_generated("encoded states");
                    self.open.push((rule, copy));
                    copy
                });
                g.rule(copy)
            }
            // Texts of numbers and booleans have none of these. No text is allowed rather than one that is not encoded.
            Expression::Token(_)
            | Expression::Members(_)
            | Expression::Distinct(_)
            | Expression::WordGraph(_)
            | Expression::Name(..)
            | Expression::MaxTokens { .. } => {
                debug_assert!(false, "not encoded: {:?}", g.expression(id));
                g.never()
            }
        }
    }
}
