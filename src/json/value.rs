//! JSON values, interned, for comparison with the text being read.
//!
//! A text denotes the value that it spells by RFC 8259, with these differences: numbers may have leading zeros and no
//! digits after the point; strings may contain unescaped control characters; no object has a name twice; no white space
//! surrounds the value. Every other text is a value of its own. [`Comparison`](super::comparison::Comparison) accepts
//! the same texts as spellings of a value; the tests below check this. If it accepted other texts, a search would offer
//! a byte after which an item cannot end, or withhold a byte after which it can.

use super::string::JsonStringDecoder;
use crate::collections::interner::Interner;
use hashbrown::DefaultHashBuilder;

/// A JSON value, or another text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// `null`, `true`, `false`, and any text that is not JSON; compared byte by byte.
    Text(Box<[u8]>),
    Number(Number),
    /// The decoded content.
    String(Box<[u8]>),
    /// The ids of the items.
    Array(Box<[u32]>),
    /// The names, each with the id of its value, sorted by name.
    Object(Box<[(Box<[u8]>, u32)]>),
}

/// `digits` times ten to the power of `exponent`. The digits neither begin nor end with a zero. Zero has no digits, the
/// exponent 0, and is not negative.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Number {
    pub(crate) negative: bool,
    pub(crate) digits: Box<[u8]>,
    pub(crate) exponent: i64,
}

/// The values read so far, interned: equal values have equal ids. The ids count from 0.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// The hasher has a random key, since outside parties choose the texts.
    values: Interner<Value, DefaultHashBuilder>,
    /// Bytes on the heap that the values own.
    bytes: usize,
}

/// A container that is being read.
enum Open {
    Array(Vec<u32>),
    /// The members read so far, and the name whose value is being read.
    Object(Vec<(Box<[u8]>, u32)>, Box<[u8]>),
}

/// The unread part of a text.
struct Rest<'t>(&'t [u8]);

impl Rest<'_> {
    fn skip_space(&mut self) {
        let end = self.0.iter().position(|&byte| !is_space(byte)).unwrap_or(self.0.len());
        self.0 = &self.0[end..];
    }

    /// Consumes a byte if it is next, and returns whether it was.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(is_next)..];
        is_next
    }

    /// Reads a string, starting at its first quote, and returns its content; `None` if it is not valid.
    fn string(&mut self) -> Option<Box<[u8]>> {
        self.take(b'"').then_some(())?;
        let mut content = Vec::new();
        let mut decoder = JsonStringDecoder::default();
        for (place, &byte) in self.0.iter().enumerate() {
            if byte == b'"' && decoder == JsonStringDecoder::default() {
                self.0 = &self.0[place + 1..];
                return Some(content.into());
            }
            content.extend(decoder.decode(byte)?);
        }
        None
    }

    /// Reads a name and the colon after it, and returns the content of the name; `None` if it is not valid.
    fn name(&mut self) -> Option<Box<[u8]>> {
        let name = self.string()?;
        self.skip_space();
        self.take(b':').then_some(name)
    }

    /// Reads `null`, `true`, `false` or a number; `None` if the next word is none of them.
    fn word(&mut self) -> Option<Value> {
        let ends = |byte: &u8| is_space(*byte) || matches!(byte, b',' | b']' | b'}');
        let end = self.0.iter().position(ends).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        match word {
            b"null" | b"true" | b"false" => Some(Value::Text(word.into())),
            _ => number(word).map(Value::Number),
        }
    }
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Values {
    pub(crate) fn get(&self, id: u32) -> &Value {
        self.values.get(id)
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.values.memory_usage() + self.bytes
    }

    fn add(&mut self, value: Value) -> u32 {
        let size = match &value {
            Value::Text(text) | Value::String(text) => text.len(),
            Value::Number(number) => number.digits.len(),
            Value::Array(items) => items.len() * 4,
            Value::Object(members) => {
                members.iter().map(|(name, _)| name.len() + size_of::<(Box<[u8]>, u32)>()).sum()
            }
        };
        let next = self.values.len() as u32;
        let id = self.values.intern(value);
        if id == next {
            self.bytes += size;
        }
        id
    }

    /// Returns the id of the value that a text denotes.
    pub(crate) fn read(&mut self, text: &[u8]) -> u32 {
        match self.parse(text) {
            Some(value) => value,
            None => self.add(Value::Text(text.into())),
        }
    }

    fn parse(&mut self, text: &[u8]) -> Option<u32> {
        let mut open: Vec<Open> = Vec::new();
        let mut rest = Rest(text);
        loop {
            let mut value = match *rest.0.first()? {
                b'[' => {
                    rest.0 = &rest.0[1..];
                    rest.skip_space();
                    if !rest.take(b']') {
                        open.push(Open::Array(Vec::new()));
                        continue;
                    }
                    self.add(Value::Array(Box::default()))
                }
                b'{' => {
                    rest.0 = &rest.0[1..];
                    rest.skip_space();
                    if !rest.take(b'}') {
                        open.push(Open::Object(Vec::new(), rest.name()?));
                        rest.skip_space();
                        continue;
                    }
                    self.add(Value::Object(Box::default()))
                }
                b'"' => {
                    let content = rest.string()?;
                    self.add(Value::String(content))
                }
                _ => {
                    let word = rest.word()?;
                    self.add(word)
                }
            };
            // close the containers that the value completes
            loop {
                let Some(container) = open.last_mut() else { return rest.0.is_empty().then_some(value) };
                rest.skip_space();
                match container {
                    Open::Array(items) => items.push(value),
                    Open::Object(members, name) => members.push((std::mem::take(name), value)),
                }
                match container {
                    _ if rest.take(b',') => {
                        rest.skip_space();
                        if let Open::Object(_, name) = container {
                            *name = rest.name()?;
                            rest.skip_space();
                        }
                        break;
                    }
                    Open::Array(items) if rest.take(b']') => {
                        let items = std::mem::take(items);
                        value = self.add(Value::Array(items.into()));
                    }
                    Open::Object(members, _) if rest.take(b'}') => {
                        let mut members = std::mem::take(members);
                        members.sort_unstable();
                        if members.windows(2).any(|two| two[0].0 == two[1].0) {
                            return None;
                        }
                        value = self.add(Value::Object(members.into()));
                    }
                    _ => return None,
                }
                open.pop();
            }
        }
    }
}

fn number(text: &[u8]) -> Option<Number> {
    let negative = text.first() == Some(&b'-');
    let text = &text[usize::from(negative)..];
    let (mantissa, exponent) = match text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        Some(place) => (&text[..place], signed(&text[place + 1..])?),
        None => (text, 0),
    };
    let mut parts = mantissa.split(|&byte| byte == b'.');
    let (whole, fraction) = (parts.next()?, parts.next().unwrap_or_default());
    let digits = [whole, fraction].concat();
    if whole.is_empty() || parts.next().is_some() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let Some(first) = digits.iter().position(|&digit| digit != b'0') else {
        return Some(Number { negative: false, digits: Box::default(), exponent: 0 });
    };
    let zeros = digits.iter().rev().take_while(|&&digit| digit == b'0').count();
    Some(Number {
        negative,
        digits: digits[first..digits.len() - zeros].into(),
        exponent: exponent.saturating_sub(fraction.len() as i64).saturating_add(zeros as i64),
    })
}

/// Reads an exponent with an optional sign, clamped to ±10^18; `None` if it is not valid.
fn signed(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0i64, |value, digit| more(value, *digit));
    Some(if negative { -value } else { value })
}

/// Appends a digit to a non-negative exponent, clamped to 10^18.
pub(crate) fn more(value: i64, digit: u8) -> i64 {
    const MOST: i64 = 1_000_000_000_000_000_000;
    value.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::comparison::Comparison;

    /// All non-empty texts of at most this many pieces; the empty text is not an item.
    fn texts(pieces: &[&str], most: usize) -> Vec<String> {
        let mut texts = vec![String::new()];
        let mut from = 0;
        for _ in 0..most {
            let to = texts.len();
            for place in from..to {
                texts.extend(
                    pieces.iter().map(|piece| format!("{}{piece}", texts[place])).collect::<Vec<_>>(),
                );
            }
            from = to;
        }
        texts.sort_unstable();
        texts.dedup();
        texts.split_off(1)
    }

    /// Whether a comparison accepts a text as a spelling of a value.
    fn compared(values: &Values, value: u32, text: &[u8]) -> bool {
        let mut comparison = Comparison::new(value);
        text.iter().all(|&byte| comparison.add(values, byte)) && comparison.is_equal(values)
    }

    #[test]
    fn a_text_compares_as_equal_to_the_value_that_it_is_read_as() {
        for (pieces, most) in [
            (&["0", "1", ".", "e", "-", "+"][..], 5),
            (&["[", "]", ",", "1", " ", "{}"], 5),
            (&["{", "}", "\"a\":1", "\"b\" :", "1", ",", " "], 5),
            (&["\"", "\\", "n", "u", "0061", "a"], 5),
            (&["null", "nul", "[", "]", "true"], 4),
        ] {
            let mut values = Values::default();
            let texts = texts(pieces, most);
            let read: Vec<u32> = texts.iter().map(|text| values.read(text.as_bytes())).collect();
            let mut known = read.clone();
            known.sort_unstable();
            known.dedup();
            let is_text = |value: &u32| matches!(values.get(*value), Value::Text(_));
            let (plain, json): (Vec<u32>, Vec<u32>) = known.into_iter().partition(is_text);
            assert!(json.len() > 4 || plain.len() > 4);
            for (text, &id) in texts.iter().zip(&read) {
                assert!(compared(&values, id, text.as_bytes()), "{text:?} is {:?}", values.get(id));
                for &other in json.iter().chain(plain.iter().take(20)).filter(|&&other| other != id) {
                    let value = values.get(other);
                    assert!(!compared(&values, other, text.as_bytes()), "{text:?} is not {value:?}");
                }
            }
        }
    }
}
