//! Exact decimal numbers of any size, read from JSON number texts. No binary floating point anywhere: `0.1`
//! is one tenth.

use num_bigint::BigInt;
use std::cmp::Ordering;

/// The number of digits that a bound may have when it is written without an exponent.
pub(super) const MAX_PLAIN_DIGITS: i64 = 4096;

/// A decimal number: `0.DIGITS` times ten to the `point`. Equal numbers are equal structures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    /// Values 0 to 9, neither starting nor ending with 0; empty for zero.
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    pub(super) fn zero() -> Decimal {
        Decimal { negative: false, digits: Vec::new(), point: 0 }
    }

    /// Reads a JSON number. What is no number is zero: callers pass texts of parsed JSON.
    pub(super) fn parse(text: &str) -> Decimal {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, ""),
        };
        // far beyond every length of text, and far from overflowing when digits are counted
        let huge = i64::MAX / 4;
        let exponent = match exponent.strip_prefix('+').unwrap_or(exponent) {
            "" => 0,
            e => e
                .parse::<i64>()
                .map_or(if e.starts_with('-') { -huge } else { huge }, |e| e.clamp(-huge, huge)),
        };
        let negative = mantissa.starts_with('-');
        let mantissa = mantissa.trim_start_matches('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all: Vec<u8> =
            whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
        let Some(first) = all.iter().position(|&d| d != 0) else { return Decimal::zero() };
        let last = all.iter().rposition(|&d| d != 0).unwrap_or(first);
        let point = whole.len() as i64 - first as i64 + exponent;
        Decimal { negative, digits: all[first..=last].to_vec(), point }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(super) fn is_negative(&self) -> bool {
        self.negative
    }

    pub(super) fn is_integer(&self) -> bool {
        self.digits.len() as i64 <= self.point || self.is_zero()
    }

    /// Whether it can be written without an exponent in [`MAX_PLAIN_DIGITS`].
    pub(super) fn is_plain(&self) -> bool {
        self.is_zero() || (self.point.abs() + self.digits.len() as i64) <= MAX_PLAIN_DIGITS
    }

    /// The same without sign.
    pub(super) fn magnitude(&self) -> Decimal {
        Decimal { negative: false, ..self.clone() }
    }

    /// The digits before the point (at least one, no leading zero beside a single one) and after it (no
    /// trailing zero), without sign. Only for [plain](Decimal::is_plain) numbers.
    pub(super) fn plain_digits(&self) -> (Vec<u8>, Vec<u8>) {
        let split = self.point.clamp(0, self.digits.len() as i64) as usize;
        let mut whole = self.digits[..split].to_vec();
        whole.resize(self.point.max(0) as usize, 0);
        if whole.is_empty() {
            whole.push(0);
        }
        let mut fraction = Vec::new();
        if !self.is_zero() {
            fraction.resize((-self.point).max(0) as usize, 0);
            fraction.extend_from_slice(&self.digits[split..]);
        }
        (whole, fraction)
    }

    /// The digits `d.ddd` and the exponent of scientific notation, for numbers that are not zero.
    pub(super) fn scientific(&self) -> Option<(u8, &[u8], i64)> {
        let (&first, rest) = self.digits.split_first()?;
        Some((first, rest, self.point - 1))
    }

    /// The number as text without an exponent; only for plain numbers.
    pub(super) fn to_plain_text(&self) -> String {
        let (whole, fraction) = self.plain_digits();
        let digits = |list: &[u8]| list.iter().map(|&d| char::from(b'0' + d)).collect::<String>();
        let point = if fraction.is_empty() { "" } else { "." };
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}{point}{}", digits(&whole), digits(&fraction))
    }

    /// The smallest integer that is not below it (`strictly`: above it). Only for plain numbers.
    pub(super) fn ceiling(&self, strictly: bool) -> Decimal {
        let down = self.truncated();
        if self.is_integer() && !strictly || !self.is_integer() && self.negative {
            return Decimal::of(down);
        }
        Decimal::of(down + 1)
    }

    /// The greatest integer that is not above it (`strictly`: below it). Only for plain numbers.
    pub(super) fn floor(&self, strictly: bool) -> Decimal {
        let down = self.truncated();
        if self.is_integer() && !strictly || !self.is_integer() && !self.negative {
            return Decimal::of(down);
        }
        Decimal::of(down - 1)
    }

    /// Rounded towards zero.
    fn truncated(&self) -> BigInt {
        let text: Vec<u8> = self.plain_digits().0.into_iter().map(|d| d + b'0').collect();
        let whole = BigInt::parse_bytes(&text, 10).unwrap_or_default();
        if self.negative { -whole } else { whole }
    }

    fn of(integer: BigInt) -> Decimal {
        Decimal::parse(&integer.to_string())
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let sign = |d: &Decimal| if d.is_zero() { 0 } else { 1 - 2 * i8::from(d.negative) };
        let by_sign = sign(self).cmp(&sign(other));
        // without leading and trailing zeros, digit strings compare as fractions do
        let by_size = || self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits));
        by_sign.then_with(|| if self.negative { by_size().reverse() } else { by_size() })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
