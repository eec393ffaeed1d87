//! Magnitudes between two bounds in normalised scientific notation: `d.ddde±x` with `d` not zero, and zero with any
//! exponent. Normalised numbers compare by their exponents first, so the texts of a range are a regular language.

use super::magnitude::{Side, at_least, between, plain};
use super::{Bound, Part, digit, some_digits, zero_fraction};
use crate::grammar::{ByteSet, ExprId, GrammarBuilder};
use crate::syntax::json_schema::values::decimal::Decimal;

/// Returns `e` or `E`, an optional sign, and digits.
pub(super) fn any_exponent(g: &mut GrammarBuilder) -> ExprId {
    let e = g.byte_set(ByteSet::from_iter(*b"eE"));
    let sign = g.byte_set(ByteSet::from_iter(*b"+-"));
    let (sign, digits) = (g.optional(sign), some_digits(g));
    g.sequence([e, sign, digits])
}

/// Returns the magnitudes of `part`.
pub(super) fn expression(g: &mut GrammarBuilder, part: &Part) -> ExprId {
    let lower = side(&part.lower);
    let upper = part.upper.as_ref().map(side);
    let mut alternatives = Vec::new();
    if part.lower.value.is_zero() && !part.lower.exclusive {
        alternatives.push(zero(g));
    }
    match (lower, upper) {
        // only zero
        (_, Some(None)) => {}
        (None, None) => {
            let (any, exponent) = (any_mantissa(g), any_exponent(g));
            alternatives.push(g.sequence([any, exponent]));
        }
        (None, Some(Some((high, most)))) => {
            let any = any_mantissa(g);
            alternatives.push(scaled(g, any, None, Some(most - 1)));
            let tight = at_most(g, &high);
            alternatives.push(scaled(g, tight, Some(most), Some(most)));
        }
        (Some((low, least)), None) => {
            let any = any_mantissa(g);
            let tight = at_least(g, &low, false);
            alternatives.push(scaled(g, tight, Some(least), Some(least)));
            alternatives.push(scaled(g, any, Some(least + 1), None));
        }
        (Some((low, least)), Some(Some((high, most)))) if least == most => {
            let tight = between(g, &low, &high, false);
            alternatives.push(scaled(g, tight, Some(least), Some(least)));
        }
        (Some((low, least)), Some(Some((high, most)))) => {
            let any = any_mantissa(g);
            let (from, to) = (at_least(g, &low, false), at_most(g, &high));
            alternatives.push(scaled(g, from, Some(least), Some(least)));
            if least + 1 < most {
                alternatives.push(scaled(g, any, Some(least + 1), Some(most - 1)));
            }
            alternatives.push(scaled(g, to, Some(most), Some(most)));
        }
    }
    g.choice(alternatives)
}

/// Returns the integers of `part` that are one digit from 1 to 9, an optional fraction of zeros, and a non-negative
/// exponent; and zero with any exponent if `part` contains it.
pub(super) fn whole(g: &mut GrammarBuilder, part: &Part) -> ExprId {
    let mut alternatives = Vec::new();
    if part.lower.value.is_zero() {
        alternatives.push(zero(g));
    }
    // the bounds rounded inwards to one digit
    let (low, least) = match part.lower.value.scientific() {
        None => (1, 0),
        Some((digit, [], exponent)) => (digit, exponent),
        Some((9, _, exponent)) => (1, exponent + 1),
        Some((digit, _, exponent)) => (digit + 1, exponent),
    };
    let upper = part.upper.as_ref().map(|bound| bound.value.scientific());
    let (high, most) = match upper {
        // only zero
        Some(None) => return g.choice(alternatives),
        Some(Some((digit, _, exponent))) => (digit, Some(exponent)),
        None => (9, None),
    };
    let mut add = |low: u8, high: u8, least: i64, most: Option<i64>| {
        if low <= high && most.is_none_or(|most| least <= most) {
            let (digit, zeros) = (digit(g, low, high), zero_fraction(g));
            let zeros = g.optional(zeros);
            let mantissa = g.sequence([digit, zeros]);
            alternatives.push(scaled(g, mantissa, Some(least), most));
        }
    };
    if most == Some(least) {
        add(low, high, least, most);
    } else if most.is_none_or(|most| least < most) {
        add(low, 9, least, Some(least));
        add(1, 9, least + 1, most.map(|most| most - 1));
        if let Some(most) = most {
            add(1, high, most, Some(most));
        }
    }
    g.choice(alternatives)
}

/// Returns `e` or `E`, an optional plus sign, and digits.
pub(super) fn positive_exponent(g: &mut GrammarBuilder) -> ExprId {
    let (e, plus) = (g.byte_set(ByteSet::from_iter(*b"eE")), g.text("+"));
    let (plus, digits) = (g.optional(plus), some_digits(g));
    g.sequence([e, plus, digits])
}

/// Returns the bound's mantissa and exponent; `None` for zero.
fn side(bound: &Bound) -> Option<(Side, i64)> {
    let (first, rest, exponent) = bound.value.scientific()?;
    Some((Side { whole: vec![first], fraction: rest.to_vec(), exclusive: bound.exclusive }, exponent))
}

/// Returns mantissas from 1 to the bound, since a mantissa does not begin with zero.
fn at_most(g: &mut GrammarBuilder, bound: &Side) -> ExprId {
    let one = Side { whole: vec![1], fraction: Vec::new(), exclusive: false };
    between(g, &one, bound, false)
}

/// Returns zero with any exponent: `0e5`, `0.00E-1`.
pub(super) fn zero(g: &mut GrammarBuilder) -> ExprId {
    let (zero, point) = (g.text("0"), g.text("."));
    let zeros = g.plus(zero);
    let fraction = g.sequence([point, zeros]);
    let fraction = g.optional(fraction);
    let exponent = any_exponent(g);
    g.sequence([zero, fraction, exponent])
}

fn any_mantissa(g: &mut GrammarBuilder) -> ExprId {
    let (first, point, some) = (digit(g, 1, 9), g.text("."), some_digits(g));
    let fraction = g.sequence([point, some]);
    let fraction = g.optional(fraction);
    g.sequence([first, fraction])
}

/// Returns the mantissa with an exponent between `least` and `most`, whose text may have leading zeros.
fn scaled(g: &mut GrammarBuilder, mantissa: ExprId, least: Option<i64>, most: Option<i64>) -> ExprId {
    let integers =
        |lower: i64, upper: Option<i64>| Part { lower: bound(lower), upper: upper.map(bound), integer: true };
    let zero = g.text("0");
    let zeros = g.star(zero);
    let mut exponents = Vec::new();
    if most.is_none_or(|most| most >= 0) {
        let size = plain(g, &integers(least.unwrap_or(0).max(0), most));
        let sign = g.text("+");
        let sign = g.optional(sign);
        exponents.push(g.sequence([sign, zeros, size]));
    }
    if least.is_none_or(|least| least <= 0) {
        let size = plain(g, &integers(most.map_or(0, |most| (-most).max(0)), least.map(|least| -least)));
        let sign = g.text("-");
        exponents.push(g.sequence([sign, zeros, size]));
    }
    let e = g.byte_set(ByteSet::from_iter(*b"eE"));
    let exponent = g.choice(exponents);
    g.sequence([mantissa, e, exponent])
}

fn bound(value: i64) -> Bound {
    Bound { value: Decimal::parse(&value.to_string()), exclusive: false }
}
