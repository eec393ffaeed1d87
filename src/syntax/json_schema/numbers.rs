//! Ranges of numbers: exact decimal arithmetic, and the texts of the numbers between two bounds.
//!
//! Spelling:
//! - an integer is `-?(0|[1-9][0-9]*)`;
//! - a number without bounds is any JSON number;
//! - a number with bounds is in plain notation (`-12.50`), with any number of digits after the point, or in
//!   normalised scientific notation: one digit that is not zero before the point (`1.5e-06`), or zero;
//! - zero may have a minus sign where negative numbers are in the range.
//!
//! A range of `n` digits makes O(n) expressions: each place of a bound's digits is one choice between
//! staying on the bound and leaving it, after which every digit is free.

use super::decimal::Decimal;
use crate::grammar::{ByteSet, ExprId, GrammarBuilder};
use std::cmp::Ordering;

mod magnitude;
mod scientific;

/// One end of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bound {
    pub(super) value: Decimal,
    /// Whether the value itself is outside.
    pub(super) exclusive: bool,
}

/// Numbers between two bounds, integers only or all.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct NumberRange {
    pub(super) lower: Option<Bound>,
    pub(super) upper: Option<Bound>,
    pub(super) integer: bool,
}

/// The ranges that together have the numbers that are not in this one.
pub(super) fn failures(range: &NumberRange) -> Vec<NumberRange> {
    let outside = |bound: &Bound| Some(Bound { value: bound.value.clone(), exclusive: !bound.exclusive });
    let mut failures = Vec::new();
    if let Some(lower) = &range.lower {
        failures.push(NumberRange { upper: outside(lower), ..NumberRange::default() });
    }
    if let Some(upper) = &range.upper {
        failures.push(NumberRange { lower: outside(upper), ..NumberRange::default() });
    }
    failures
}

/// Whether a number is in the range.
pub(super) fn contains(range: &NumberRange, number: &Decimal) -> bool {
    let above = range.lower.as_ref().is_none_or(|b| *number > b.value || *number == b.value && !b.exclusive);
    let below = range.upper.as_ref().is_none_or(|b| *number < b.value || *number == b.value && !b.exclusive);
    above && below && (!range.integer || number.is_integer())
}

/// The numbers in both.
pub(super) fn intersection(a: &NumberRange, b: &NumberRange) -> NumberRange {
    let tighter = |a: &Option<Bound>, b: &Option<Bound>, keep: Ordering| match (a, b) {
        (Some(a), Some(b)) => Some(match a.value.cmp(&b.value) {
            Ordering::Equal => Bound { value: a.value.clone(), exclusive: a.exclusive || b.exclusive },
            order if order == keep => a.clone(),
            _ => b.clone(),
        }),
        (a, b) => a.clone().or_else(|| b.clone()),
    };
    NumberRange {
        lower: tighter(&a.lower, &b.lower, Ordering::Greater),
        upper: tighter(&a.upper, &b.upper, Ordering::Less),
        integer: a.integer || b.integer,
    }
}

/// For integers, the same range with inclusive integer bounds.
fn rounded(range: &NumberRange) -> NumberRange {
    if !range.integer {
        return range.clone();
    }
    let whole = |value| Bound { value, exclusive: false };
    NumberRange {
        lower: range.lower.as_ref().map(|b| whole(b.value.ceiling(b.exclusive))),
        upper: range.upper.as_ref().map(|b| whole(b.value.floor(b.exclusive))),
        integer: true,
    }
}

/// Whether no number is in the range.
pub(super) fn is_empty(range: &NumberRange) -> bool {
    match rounded(range) {
        NumberRange { lower: Some(lower), upper: Some(upper), .. } => match lower.value.cmp(&upper.value) {
            Ordering::Less => false,
            Ordering::Equal => lower.exclusive || upper.exclusive,
            Ordering::Greater => true,
        },
        _ => false,
    }
}

/// The texts of the numbers of the range that are none of `excluded`.
pub(super) fn expression_excluding(g: &mut GrammarBuilder, range: &NumberRange, excluded: &[Decimal]) -> ExprId {
    let mut excluded = excluded.to_vec();
    excluded.sort();
    let mut parts = Vec::with_capacity(excluded.len() + 1);
    let mut rest = range.clone();
    for value in excluded.into_iter().filter(|value| contains(range, value)) {
        let bound = || Some(Bound { value: value.clone(), exclusive: true });
        let below = NumberRange { upper: bound(), ..rest.clone() };
        parts.push(expression(g, &below));
        rest.lower = bound();
    }
    parts.push(expression(g, &rest));
    g.choice(parts)
}

/// The texts of the numbers of the range.
pub(super) fn expression(g: &mut GrammarBuilder, range: &NumberRange) -> ExprId {
    if is_empty(range) {
        return g.never();
    }
    let range = rounded(range);
    if range.lower.is_none() && range.upper.is_none() {
        return unbounded(g, range.integer);
    }
    let (positive, negative) = by_sign(&range);
    let mut alternatives = Vec::new();
    for (sign, part) in [("", positive), ("-", negative)] {
        let Some(part) = part else { continue };
        let mut forms = vec![magnitude::plain(g, &part)];
        if !range.integer {
            forms.push(scientific::expression(g, &part));
        }
        let sign = g.text(sign);
        let forms = g.choice(forms);
        alternatives.push(g.sequence([sign, forms]));
    }
    g.choice(alternatives)
}

fn unbounded(g: &mut GrammarBuilder, integer: bool) -> ExprId {
    let minus = g.text("-");
    let sign = g.optional(minus);
    let (zero, first, digits) = (g.text("0"), digit(g, 1, 9), any_digits(g));
    let long = g.sequence([first, digits]);
    let whole = g.choice([zero, long]);
    if integer {
        return g.sequence([sign, whole]);
    }
    let (point, some) = (g.text("."), some_digits(g));
    let fraction = g.sequence([point, some]);
    let fraction = g.optional(fraction);
    let exponent = scientific::any_exponent(g);
    let exponent = g.optional(exponent);
    g.sequence([sign, whole, fraction, exponent])
}

/// A range of magnitudes; the lower bound is at least zero.
struct Part {
    lower: Bound,
    upper: Option<Bound>,
    integer: bool,
}

/// The range of the numbers without sign and that of the numbers with a minus sign, if they are not empty.
fn by_sign(range: &NumberRange) -> (Option<Part>, Option<Part>) {
    let zero = || Bound { value: Decimal::zero(), exclusive: false };
    let flipped = |b: &Bound| Bound { value: b.value.magnitude(), exclusive: b.exclusive };
    let below_zero = |b: &Bound| b.value.is_negative() || b.value.is_zero() && b.exclusive;
    let positive = match &range.upper {
        Some(upper) if below_zero(upper) => None,
        upper => Some(Part {
            lower: range.lower.clone().filter(|b| !b.value.is_negative()).unwrap_or_else(zero),
            upper: upper.clone(),
            integer: range.integer,
        }),
    };
    let negative = match &range.lower {
        Some(lower) if !lower.value.is_negative() => None,
        lower => Some(Part {
            lower: match &range.upper {
                Some(upper) if below_zero(upper) => flipped(upper),
                _ => zero(),
            },
            upper: lower.as_ref().map(flipped),
            integer: range.integer,
        }),
    };
    (positive, negative)
}

/// One digit from `low` to `high`; none if they are crossed.
fn digit(g: &mut GrammarBuilder, low: u8, high: u8) -> ExprId {
    if low > high {
        return g.never();
    }
    if low == high {
        return g.bytes([b'0' + low]);
    }
    g.byte_set(ByteSet::range(b'0' + low, b'0' + high))
}

fn any_digits(g: &mut GrammarBuilder) -> ExprId {
    let digit = digit(g, 0, 9);
    g.star(digit)
}

fn some_digits(g: &mut GrammarBuilder) -> ExprId {
    let digit = digit(g, 0, 9);
    g.plus(digit)
}
