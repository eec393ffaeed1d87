//! JSON values that were read, for comparison with what is being read.
//!
//! A text is the value that it spells strictly by RFC 8259, but for numbers, which may have leading zeros and no digits after
//! the point; no object has a name twice, and no white space is around the value. All other texts are values of their own.
//! [`Comparison`](super::comparison::Comparison) takes the same texts for spellings of a value, which the tests below hold it
//! to: a search that took others would offer a byte after which an item cannot end, or withhold one after which it can.

use super::string::JsonStringDecoder;
use crate::collections::interner::Interner;
use hashbrown::DefaultHashBuilder;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// `null`, `true`, `false`, and whatever is no JSON: compared byte by byte.
    Text(Box<[u8]>),
    Number(Number),
    /// Decoded.
    String(Box<[u8]>),
    /// Ids of the items.
    Array(Box<[u32]>),
    /// Names and ids of the values, sorted.
    Object(Box<[(Box<[u8]>, u32)]>),
}

/// `digits` times ten to the power of `exponent`; the digits neither begin nor end with a zero, and zero has none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Number {
    pub(crate) negative: bool,
    pub(crate) digits: Box<[u8]>,
    pub(crate) exponent: i64,
}

/// The values read so far, interned: equal values have equal ids, which are places.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// Keyed at random: the texts are chosen by others.
    values: Interner<Value, DefaultHashBuilder>,
    /// What the values own.
    bytes: usize,
}

/// A container that is being read.
enum Open {
    Array(Vec<u32>),
    /// Its members, and the name whose value is being read.
    Object(Vec<(Box<[u8]>, u32)>, Box<[u8]>),
}

/// What is left of a text.
struct Rest<'t>(&'t [u8]);

impl Rest<'_> {
    fn skip_space(&mut self) {
        let end = self.0.iter().position(|&byte| !is_space(byte)).unwrap_or(self.0.len());
        self.0 = &self.0[end..];
    }

    /// Takes a byte, if it is next.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.0.first() == Some(&byte);
        self.0 = &self.0[usize::from(is_next)..];
        is_next
    }

    /// The content of a string from its first quote on.
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

    /// A name, and the colon after it.
    fn name(&mut self) -> Option<Box<[u8]>> {
        let name = self.string()?;
        self.skip_space();
        self.take(b':').then_some(name)
    }

    /// `null`, `true`, `false` or a number.
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

    /// The value that a text says.
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
            // closes what the value is the last part of
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

/// An exponent. Those beyond 10^18 stand for each other.
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

/// One more digit of an exponent.
pub(crate) fn more(value: i64, digit: u8) -> i64 {
    const MOST: i64 = 1_000_000_000_000_000_000;
    value.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::comparison::Comparison;

    /// All texts of this many pieces at most, but for the empty one, which is no item.
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

    /// Whether a comparison takes a text for a spelling of a value.
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
