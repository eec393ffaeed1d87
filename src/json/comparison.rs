//! An incremental comparison of a text with a JSON value: whether some spelling of the value begins with the text.

use super::string::JsonStringDecoder;
use super::value::{Number, Value, Values, is_space, more};
use smallvec::{SmallVec, smallvec};

/// The state of comparing a text with a value. The text is added byte by byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Comparison {
    /// The open containers, outermost first: the id of the container's value, and the part of it that was read.
    open: SmallVec<[(u32, Came); 2]>,
    at: At,
}

/// The part of a container that was read: the number of items of an array, or a bit per member of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Came {
    Items(u32),
    Members(SmallVec<[u64; 1]>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum At {
    /// Before a value.
    Value(u32),
    /// After `[`: an item or the end must follow.
    First(u32),
    /// In a value that is compared byte by byte: its id, and the number of bytes read.
    Text(u32, u32),
    Number(u32, Digits),
    /// In a string: the id of its value, the number of bytes of its content read, and the state of the decoder.
    String(u32, u32, JsonStringDecoder),
    /// Before a name of an object. `true` after `{`, where the object may also end.
    Name(bool),
    InName(SmallVec<[u8; 16]>, JsonStringDecoder),
    /// After a name, before the colon; with the id of the member's value.
    Colon(u32),
    /// After an item or a member of an open container.
    After,
    Done,
}

/// The greatest absolute value of [`Digits::power`] that [`Comparison::widened`] keeps.
const ZEROS: i64 = 64;

/// The state of comparing the text of a number with a number. `matched` is how many digits of the value were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Digits {
    matched: u32,
    /// Once all digits of the value are read: the text before the exponent is these digits times ten to this power.
    power: i64,
    negative: bool,
    begun: bool,
    /// Whether the text read is a complete number rather than a prefix of one.
    complete: bool,
    part: Part,
    exponent: i64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Part {
    #[default]
    Whole,
    Fraction,
    /// After `e` or `E`, before a sign or a digit.
    Exponent,
    Positive,
    Negative,
}

impl Comparison {
    /// The state before the first byte of a text that is compared with the value of id `value`.
    pub(crate) fn new(value: u32) -> Comparison {
        Comparison { open: SmallVec::new(), at: At::Value(value) }
    }

    /// Whether the text is a complete spelling of the value.
    pub(crate) fn is_equal(&self, values: &Values) -> bool {
        match (&self.at, self.open.is_empty()) {
            (At::Done, _) => true,
            (At::Number(id, digits), true) => {
                matches!(values.get(*id), Value::Number(number) if digits.are_equal(number))
            }
            _ => false,
        }
    }

    /// Whether the text ends in the exponent of a number, or directly after its `e`.
    pub(crate) fn is_in_exponent(&self) -> bool {
        matches!(&self.at, At::Number(_, digits) if !matches!(digits.part, Part::Whole | Part::Fraction))
    }

    /// Whether [`widened`](Comparison::widened) would change the comparison.
    pub(crate) fn needs_widening(&self) -> bool {
        matches!(&self.at, At::Number(_, digits) if !(-ZEROS..=ZEROS).contains(&digits.power))
    }

    /// A copy that no longer counts zeros beyond [`ZEROS`], so that a search that reads only zeros of a number
    /// terminates.
    pub(crate) fn widened(&self) -> Comparison {
        let mut widened = self.clone();
        if let At::Number(_, digits) = &mut widened.at {
            digits.power = digits.power.clamp(-ZEROS, ZEROS);
        }
        widened
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        let open = if self.open.spilled() { self.open.capacity() * size_of::<(u32, Came)>() } else { 0 };
        let name = match &self.at {
            At::InName(name, _) if name.spilled() => name.capacity(),
            _ => 0,
        };
        let came = self.open.iter().map(|(_, came)| match came {
            Came::Members(bits) if bits.spilled() => bits.capacity() * 8,
            _ => 0,
        });
        open + name + came.sum::<usize>()
    }

    /// Adds a byte to the text. Returns whether the text can still become a spelling of the value. After the result
    /// false, the comparison must not be used.
    pub(crate) fn add(&mut self, values: &Values, byte: u8) -> bool {
        match &mut self.at {
            At::Done => false,
            At::Value(_) | At::First(_) | At::Name(_) | At::Colon(_) | At::After
                if is_space(byte) && !self.open.is_empty() =>
            {
                true
            }
            &mut At::Value(value) => self.begin(values, value, byte),
            &mut At::First(id) => match values.get(id) {
                Value::Array(items) if byte == b']' => items.is_empty() && self.close(),
                Value::Array(items) => items.first().is_some_and(|&item| self.begin(values, item, byte)),
                _ => false,
            },
            At::Text(id, at) => {
                let Value::Text(text) = values.get(*id) else { return false };
                let agrees = text.get(*at as usize) == Some(&byte);
                *at += 1;
                if agrees && *at as usize == text.len() {
                    self.value_ends();
                }
                agrees
            }
            At::Number(id, digits) => {
                let Value::Number(number) = values.get(*id) else { return false };
                if matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E') {
                    return digits.add(number, byte);
                }
                if self.open.is_empty() || !digits.are_equal(number) {
                    return false;
                }
                self.value_ends();
                self.add(values, byte)
            }
            At::String(id, at, decoder) => {
                let Value::String(content) = values.get(*id) else { return false };
                if byte == b'"' && *decoder == JsonStringDecoder::Plain {
                    let agrees = *at as usize == content.len();
                    self.value_ends();
                    return agrees;
                }
                let Some(more) = decoder.decode(byte) else { return false };
                let rest = &content[*at as usize..];
                *at += more.len() as u32;
                if more.is_empty() { decoder.may_become(rest) } else { rest.starts_with(&more) }
            }
            At::Name(may_end) => match byte {
                b'"' => {
                    self.at = At::InName(SmallVec::new(), JsonStringDecoder::Plain);
                    true
                }
                b'}' => *may_end && self.is_complete(values) && self.close(),
                _ => false,
            },
            At::InName(name, decoder) => {
                let Some((Value::Object(members), Came::Members(came))) =
                    self.open.last_mut().map(|(id, came)| (values.get(*id), came))
                else {
                    return false;
                };
                let left = |place: usize| came[place / 64] >> (place % 64) & 1 == 0;
                if byte == b'"' && *decoder == JsonStringDecoder::Plain {
                    let found = (0..members.len()).find(|&m| left(m) && *members[m].0 == **name);
                    let Some(found) = found else { return false };
                    came[found / 64] |= 1 << (found % 64);
                    self.at = At::Colon(members[found].1);
                    return true;
                }
                let Some(more) = decoder.decode(byte) else { return false };
                name.extend(more);
                let begins = |full: &[u8]| {
                    let rest = full.strip_prefix(&**name);
                    rest.is_some_and(|rest| *decoder == JsonStringDecoder::Plain || decoder.may_become(rest))
                };
                (0..members.len()).any(|m| left(m) && begins(&members[m].0))
            }
            &mut At::Colon(value) => {
                self.at = At::Value(value);
                byte == b':'
            }
            At::After => match (byte, self.open.last()) {
                (b',', Some((id, Came::Items(count)))) => match values.get(*id) {
                    Value::Array(items) => match items.get(*count as usize) {
                        Some(&next) => {
                            self.at = At::Value(next);
                            true
                        }
                        None => false,
                    },
                    _ => false,
                },
                (b',', Some((_, Came::Members(_)))) => {
                    let more = !self.is_complete(values);
                    self.at = At::Name(false);
                    more
                }
                (b']', Some((_, Came::Items(_)))) | (b'}', Some((_, Came::Members(_)))) => {
                    self.is_complete(values) && self.close()
                }
                _ => false,
            },
        }
    }

    fn begin(&mut self, values: &Values, id: u32, byte: u8) -> bool {
        match (values.get(id), byte) {
            (Value::Array(_), b'[') => {
                self.open.push((id, Came::Items(0)));
                self.at = At::First(id);
                true
            }
            (Value::Object(members), b'{') => {
                self.open.push((id, Came::Members(smallvec![0; members.len().div_ceil(64)])));
                self.at = At::Name(true);
                true
            }
            (Value::String(_), b'"') => {
                self.at = At::String(id, 0, JsonStringDecoder::Plain);
                true
            }
            (Value::Number(number), _) => {
                let mut digits = Digits::default();
                let agrees = matches!(byte, b'0'..=b'9' | b'-') && digits.add(number, byte);
                self.at = At::Number(id, digits);
                agrees
            }
            (Value::Text(_), _) => {
                self.at = At::Text(id, 0);
                self.add(values, byte)
            }
            _ => false,
        }
    }

    /// Whether the innermost container has all its members or items.
    fn is_complete(&self, values: &Values) -> bool {
        match self.open.last().map(|(id, came)| (values.get(*id), came)) {
            Some((Value::Array(items), Came::Items(count))) => *count as usize == items.len(),
            Some((Value::Object(members), Came::Members(came))) => {
                came.iter().map(|bits| bits.count_ones() as usize).sum::<usize>() == members.len()
            }
            _ => false,
        }
    }

    fn close(&mut self) -> bool {
        self.open.pop();
        self.value_ends();
        true
    }

    fn value_ends(&mut self) {
        self.at = match self.open.last_mut() {
            None => At::Done,
            Some((_, Came::Items(count))) => {
                *count += 1;
                At::After
            }
            Some(_) => At::After,
        };
    }
}

impl Digits {
    fn add(&mut self, number: &Number, byte: u8) -> bool {
        let own = &number.digits;
        let whole = self.matched as usize == own.len();
        let is_number = std::mem::replace(&mut self.complete, byte.is_ascii_digit() || byte == b'.');
        match (byte, self.part) {
            (b'-', Part::Whole) if !self.begun => {
                self.begun = true;
                self.negative = true;
                number.negative || own.is_empty()
            }
            (b'0'..=b'9', Part::Whole | Part::Fraction) => {
                self.begun = true;
                let fraction = self.part == Part::Fraction;
                if own.is_empty() {
                    return byte == b'0';
                }
                if self.negative != number.negative {
                    return false;
                }
                if self.matched == 0 && byte == b'0' {
                    self.power -= i64::from(fraction);
                    return true;
                }
                if whole {
                    self.power += i64::from(!fraction);
                    return byte == b'0';
                }
                let agrees = own[self.matched as usize] == byte;
                self.matched += 1;
                self.power -= i64::from(fraction);
                agrees
            }
            (b'.', Part::Whole) => {
                self.part = Part::Fraction;
                is_number
            }
            (b'e' | b'E', Part::Whole | Part::Fraction) => {
                self.part = Part::Exponent;
                whole && is_number
            }
            (b'-', Part::Exponent) => {
                self.part = Part::Negative;
                own.is_empty() || number.exponent <= self.power
            }
            (b'+', Part::Exponent) => {
                self.part = Part::Positive;
                own.is_empty() || number.exponent >= self.power
            }
            (b'0'..=b'9', Part::Exponent | Part::Positive | Part::Negative) => {
                if self.part == Part::Exponent {
                    self.part = Part::Positive;
                }
                if own.is_empty() {
                    return true;
                }
                self.exponent = more(self.exponent, byte);
                let wanted = number.exponent.saturating_sub(self.power);
                let wanted = if self.part == Part::Negative { wanted.saturating_neg() } else { wanted };
                self.exponent <= wanted
            }
            _ => false,
        }
    }

    fn are_equal(&self, number: &Number) -> bool {
        if !self.complete {
            return false;
        }
        if number.digits.is_empty() {
            return true;
        }
        let exponent = if self.part == Part::Negative { -self.exponent } else { self.exponent };
        self.matched as usize == number.digits.len() && self.power.saturating_add(exponent) == number.exponent
    }
}
