//! JSON values that were read, for comparison with what is being read.

use crate::automaton::string_text::Decoder;
use rustc_hash::FxHashMap;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
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
pub(super) struct Number {
    pub(super) negative: bool,
    pub(super) digits: Box<[u8]>,
    pub(super) exponent: i64,
}

/// The values read so far, interned: equal values have equal ids, which are places.
#[derive(Debug, Default)]
pub(super) struct Values {
    values: Vec<Value>,
    ids: FxHashMap<Value, u32>,
    bytes: usize,
}

/// A container that is being read.
enum Open {
    Array(Vec<u32>),
    Object(Vec<(Box<[u8]>, u32)>, Option<Box<[u8]>>),
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

impl Values {
    pub(super) fn get(&self, id: u32) -> &Value {
        &self.values[id as usize]
    }

    pub(super) fn memory_usage(&self) -> usize {
        self.values.capacity() * size_of::<Value>()
            + self.ids.capacity() * (size_of::<Value>() + 5)
            + self.bytes
    }

    fn add(&mut self, mut value: Value) -> u32 {
        if let Value::Object(members) = &mut value {
            members.sort_unstable();
        }
        if let Some(&id) = self.ids.get(&value) {
            return id;
        }
        let size = match &value {
            Value::Text(text) | Value::String(text) => text.len(),
            Value::Number(number) => number.digits.len(),
            Value::Array(items) => items.len() * 4,
            Value::Object(members) => members.iter().map(|(name, _)| name.len() + 24).sum(),
        };
        self.bytes += 2 * size;
        let id = self.values.len() as u32;
        self.values.push(value.clone());
        self.ids.insert(value, id);
        id
    }

    /// The value that a text says.
    pub(super) fn read(&mut self, text: &[u8]) -> u32 {
        match self.parse(text) {
            Some(value) => value,
            None => self.add(Value::Text(text.into())),
        }
    }

    fn parse(&mut self, text: &[u8]) -> Option<u32> {
        let mut open: Vec<Open> = Vec::new();
        let mut rest = text;
        loop {
            while rest.first().is_some_and(|&byte| is_space(byte) || byte == b',' || byte == b':') {
                rest = &rest[1..];
            }
            let value = match *rest.first()? {
                b'[' => {
                    open.push(Open::Array(Vec::new()));
                    rest = &rest[1..];
                    continue;
                }
                b'{' => {
                    open.push(Open::Object(Vec::new(), None));
                    rest = &rest[1..];
                    continue;
                }
                b']' | b'}' => {
                    rest = &rest[1..];
                    match open.pop()? {
                        Open::Array(items) => Value::Array(items.into()),
                        Open::Object(members, None) => Value::Object(members.into()),
                        Open::Object(..) => return None,
                    }
                }
                b'"' => {
                    let (content, after) = string(&rest[1..])?;
                    rest = after;
                    if let Some(Open::Object(_, name @ None)) = open.last_mut() {
                        *name = Some(content);
                        continue;
                    }
                    Value::String(content)
                }
                _ => {
                    let ends = |byte: &u8| is_space(*byte) || matches!(byte, b',' | b']' | b'}');
                    let end = rest.iter().position(ends).unwrap_or(rest.len());
                    let (word, after) = rest.split_at(end);
                    rest = after;
                    match word {
                        b"null" | b"true" | b"false" => Value::Text(word.into()),
                        _ => Value::Number(number(word)?),
                    }
                }
            };
            let value = self.add(value);
            match open.last_mut() {
                None if rest.is_empty() => return Some(value),
                None => return None,
                Some(Open::Array(items)) => items.push(value),
                Some(Open::Object(members, name)) => members.push((name.take()?, value)),
            }
        }
    }
}

/// The content of a string, whose text begins after its quote, and what follows it.
fn string(text: &[u8]) -> Option<(Box<[u8]>, &[u8])> {
    let mut content = Vec::new();
    let mut decoder = Decoder::default();
    for (place, &byte) in text.iter().enumerate() {
        if byte == b'"' && decoder == Decoder::default() {
            return Some((content.into(), &text[place + 1..]));
        }
        content.extend(decoder.decode(byte)?);
    }
    None
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
pub(super) fn more(value: i64, digit: u8) -> i64 {
    const MOST: i64 = 1_000_000_000_000_000_000;
    value.saturating_mul(10).saturating_add(i64::from(digit - b'0')).min(MOST)
}
