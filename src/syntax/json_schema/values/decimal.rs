//! Exact decimal numbers of any size, read from the texts of JSON numbers. There is no binary floating point: `0.1` is
//! one tenth.

use num_bigint::BigInt;
use std::cmp::Ordering;

/// Bound on the digits of a number that is written without an exponent.
pub(in crate::syntax::json_schema) const MAX_PLAIN_DIGITS: i64 = 4096;

/// A decimal number: `0.DIGITS` times ten to the power of `point`. Equal numbers have equal fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::syntax::json_schema) struct Decimal {
    negative: bool,
    /// Values from 0 to 9. The first and the last are not 0; empty for zero.
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    pub(in crate::syntax::json_schema) fn zero() -> Decimal {
        Decimal { negative: false, digits: Vec::new(), point: 0 }
    }

    pub(in crate::syntax::json_schema) fn one() -> Decimal {
        Decimal { negative: false, digits: vec![1], point: 1 }
    }

    /// Parses a JSON number. Any other text may give any number, zero for instance: callers pass texts of parsed JSON.
    pub(in crate::syntax::json_schema) fn parse(text: &str) -> Decimal {
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, ""),
        };
        // beyond the length of any text, but far from overflow when digits are added
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

    pub(in crate::syntax::json_schema) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    pub(in crate::syntax::json_schema) fn is_negative(&self) -> bool {
        self.negative
    }

    pub(in crate::syntax::json_schema) fn is_integer(&self) -> bool {
        self.digits.len() as i64 <= self.point || self.is_zero()
    }

    /// Whether the number has at most [`MAX_PLAIN_DIGITS`] digits without an exponent, apart from a zero before the
    /// point.
    pub(in crate::syntax::json_schema) fn is_plain(&self) -> bool {
        let digits = self.digits.len() as i64;
        let written = digits.max(self.point).max(digits - self.point);
        self.is_zero() || written <= MAX_PLAIN_DIGITS
    }

    /// Returns the absolute value.
    pub(in crate::syntax::json_schema) fn magnitude(&self) -> Decimal {
        Decimal { negative: false, ..self.clone() }
    }

    /// Returns the digits before the point (at least one, no leading zeros except for a single zero) and after it (no
    /// trailing zeros), without the sign. Only for [plain](Decimal::is_plain) numbers.
    pub(in crate::syntax::json_schema) fn plain_digits(&self) -> (Vec<u8>, Vec<u8>) {
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

    /// Returns the scientific notation `d.ddd` and exponent: first digit, further digits, exponent. `None` for zero.
    pub(in crate::syntax::json_schema) fn scientific(&self) -> Option<(u8, &[u8], i64)> {
        let (&first, rest) = self.digits.split_first()?;
        Some((first, rest, self.point - 1))
    }

    /// Returns the number as text without an exponent. Only for [plain](Decimal::is_plain) numbers.
    pub(in crate::syntax::json_schema) fn to_plain_text(&self) -> String {
        let (whole, fraction) = self.plain_digits();
        let digits = |list: &[u8]| list.iter().map(|&d| char::from(b'0' + d)).collect::<String>();
        let point = if fraction.is_empty() { "" } else { "." };
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}{point}{}", digits(&whole), digits(&fraction))
    }

    /// Returns the smallest integer that is not below this number (above it if `strictly`). Only for plain numbers.
    pub(in crate::syntax::json_schema) fn ceiling(&self, strictly: bool) -> Decimal {
        let down = self.truncated();
        if self.is_integer() && !strictly || !self.is_integer() && self.negative {
            return Decimal::of(down);
        }
        Decimal::of(down + 1)
    }

    /// Returns the greatest integer that is not above this number (below it if `strictly`). Only for plain numbers.
    pub(in crate::syntax::json_schema) fn floor(&self, strictly: bool) -> Decimal {
        let down = self.truncated();
        if self.is_integer() && !strictly || !self.is_integer() && !self.negative {
            return Decimal::of(down);
        }
        Decimal::of(down - 1)
    }

    /// Whether this number is an integer multiple of `divisor`, which is not zero.
    pub(in crate::syntax::json_schema) fn is_multiple_of(&self, divisor: &Decimal) -> bool {
        if self.is_zero() {
            return true;
        }
        // the digits without trailing zeros are not a multiple of ten
        let exponent = |d: &Decimal| d.point - d.digits.len() as i64;
        let Ok(shift) = u64::try_from(exponent(self) - exponent(divisor)) else { return false };
        let whole = |d: &Decimal| integer(&d.digits);
        let modulus = whole(divisor);
        let power = BigInt::from(10).modpow(&BigInt::from(shift), &modulus);
        (whole(self) * power % modulus) == BigInt::ZERO
    }

    /// Returns the least common multiple, without sign. Both numbers are plain and not zero.
    pub(in crate::syntax::json_schema) fn least_common_multiple(&self, other: &Decimal) -> Decimal {
        let scale = self.scale().max(other.scale());
        let (a, b) = (self.in_units(scale), other.in_units(scale));
        let (mut divisor, mut rest) = (a.clone(), b.clone());
        while rest != BigInt::ZERO {
            (divisor, rest) = (rest.clone(), divisor % rest);
        }
        Decimal::parse(&format!("{}e-{scale}", a / divisor * b)).magnitude()
    }

    /// Returns the least integer `n` such that `n` times `divisor` is not below this number (above it if `strictly`).
    /// The divisor is positive; both numbers are plain.
    pub(in crate::syntax::json_schema) fn quotient_above(&self, divisor: &Decimal, strictly: bool) -> BigInt {
        let (quotient, rest) = self.quotient(divisor);
        if rest == BigInt::ZERO && !strictly { quotient } else { quotient + 1 }
    }

    /// Returns the greatest integer `n` such that `n` times `divisor` is not above this number (below it if
    /// `strictly`). The divisor is positive; both numbers are plain.
    pub(in crate::syntax::json_schema) fn quotient_below(&self, divisor: &Decimal, strictly: bool) -> BigInt {
        let (quotient, rest) = self.quotient(divisor);
        if rest == BigInt::ZERO && strictly { quotient - 1 } else { quotient }
    }

    /// Returns the quotient, rounded down, and the remainder, which is not negative.
    fn quotient(&self, divisor: &Decimal) -> (BigInt, BigInt) {
        let scale = self.scale().max(divisor.scale());
        let (a, b) = (self.in_units(scale), divisor.in_units(scale));
        let (quotient, rest) = (&a / &b, a % &b);
        if rest < BigInt::ZERO { (quotient - 1, rest + b) } else { (quotient, rest) }
    }

    /// Returns the product with an integer.
    pub(in crate::syntax::json_schema) fn times(&self, factor: &BigInt) -> Decimal {
        let scale = self.scale();
        Decimal::parse(&format!("{}e-{scale}", self.in_units(scale) * factor))
    }

    /// Returns the number of digits after the point, without an exponent.
    pub(in crate::syntax::json_schema) fn scale(&self) -> u32 {
        u32::try_from(self.digits.len() as i64 - self.point).unwrap_or(0)
    }

    /// Returns this number in units of ten to the power of `-scale`. `scale` is at least that of the number. Only for
    /// plain numbers.
    pub(in crate::syntax::json_schema) fn in_units(&self, scale: u32) -> BigInt {
        let zeros = self.point - self.digits.len() as i64 + i64::from(scale);
        let size = integer(&self.digits) * BigInt::from(10).pow(u32::try_from(zeros).unwrap_or(0));
        if self.negative { -size } else { size }
    }

    /// Returns the number rounded towards zero.
    fn truncated(&self) -> BigInt {
        let whole = integer(&self.plain_digits().0);
        if self.negative { -whole } else { whole }
    }

    fn of(integer: BigInt) -> Decimal {
        Decimal::parse(&integer.to_string())
    }
}

fn integer(digits: &[u8]) -> BigInt {
    let text: Vec<u8> = digits.iter().map(|d| d + b'0').collect();
    BigInt::parse_bytes(&text, 10).unwrap_or_default()
}

impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let sign = |d: &Decimal| if d.is_zero() { 0 } else { 1 - 2 * i8::from(d.negative) };
        let by_sign = sign(self).cmp(&sign(other));
        // without leading and trailing zeros, digit strings compare like fractions
        let by_size = || self.point.cmp(&other.point).then_with(|| self.digits.cmp(&other.digits));
        by_sign.then_with(|| if self.negative { by_size().reverse() } else { by_size() })
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
