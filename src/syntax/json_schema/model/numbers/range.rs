//! Sets of numbers: bounds, divisors and non-divisors, in exact decimal arithmetic.

use crate::syntax::json_schema::values::decimal::Decimal;
use num_bigint::BigInt;
use std::cmp::Ordering;

/// Greatest number of multiples that are examined one by one to see whether all are excluded.
const MAX_LOOKED_AT: u32 = 10_000;

/// Greatest number of divisors whose least common multiple is computed.
const MAX_DIVISORS: usize = 64;

/// A range has more than [`MAX_DIVISORS`].
#[derive(Debug)]
pub(super) struct TooManyDivisors;

/// One end of a range of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::syntax::json_schema) struct Bound {
    pub(in crate::syntax::json_schema) value: Decimal,
    /// Whether the value itself is outside.
    pub(in crate::syntax::json_schema) exclusive: bool,
}

/// Numbers between two bounds that are multiples of some numbers and not of others. Integers are the multiples of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(in crate::syntax::json_schema) struct NumberRange {
    pub(in crate::syntax::json_schema) lower: Option<Bound>,
    pub(in crate::syntax::json_schema) upper: Option<Bound>,
    /// Divisors, all positive: the numbers are multiples of each.
    pub(in crate::syntax::json_schema) multiple_of: Vec<Decimal>,
    /// Non-divisors, all positive: the numbers are multiples of none.
    pub(in crate::syntax::json_schema) not_multiple_of: Vec<Decimal>,
    /// The notation of the numbers.
    pub(in crate::syntax::json_schema) notation: Notation,
}

/// Notations of numbers. Up to draft 4, `2.0` is not an integer, though it equals `2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(in crate::syntax::json_schema) enum Notation {
    /// Any notation.
    #[default]
    Any,
    /// Digits without a point and without an exponent.
    Digits,
    /// With a point or an exponent.
    Marked,
    /// No notation: contradictory notations are required.
    None,
}

impl Notation {
    /// Whether a number may be written as `text`.
    pub(in crate::syntax::json_schema) fn admits(self, text: &str) -> bool {
        let is_marked = || text.contains(['.', 'e', 'E']);
        match self {
            Notation::Any => true,
            Notation::Digits => !is_marked(),
            Notation::Marked => is_marked(),
            Notation::None => false,
        }
    }

    fn intersection(self, other: Notation) -> Notation {
        match (self, other) {
            (Notation::Any, one) | (one, Notation::Any) => one,
            (one, other) if one == other => one,
            _ => Notation::None,
        }
    }
}

impl NumberRange {
    /// Returns the range of all integers, in digits only if `is_plain`.
    pub(in crate::syntax::json_schema) fn integers(is_plain: bool) -> NumberRange {
        let notation = if is_plain { Notation::Digits } else { Notation::Any };
        NumberRange { multiple_of: vec![Decimal::one()], notation, ..NumberRange::default() }
    }

    /// Whether a divisor is an integer, so that the range has only integers.
    pub(in crate::syntax::json_schema) fn is_integer(&self) -> bool {
        self.multiple_of.iter().any(Decimal::is_integer)
    }

    /// Returns the least common multiple of all divisors; `None` if there are none.
    ///
    /// # Errors
    /// There are more than [`MAX_DIVISORS`].
    pub(super) fn divisor(&self) -> Result<Option<Decimal>, TooManyDivisors> {
        if self.multiple_of.len() > MAX_DIVISORS {
            return Err(TooManyDivisors);
        }
        Ok(self.multiple_of.iter().cloned().reduce(|a, b| a.least_common_multiple(&b)))
    }

    /// Returns the same set of numbers with one divisor, if there are few, and without needless non-divisors. Equal
    /// sets of multiples that overlapping schemas put together differently become equal.
    pub(in crate::syntax::json_schema) fn normal(&self) -> NumberRange {
        let multiple_of = self.divisor().map_or_else(|_| self.multiple_of.clone(), Vec::from_iter);
        let not_multiple_of = without_multiples(&self.not_multiple_of);
        NumberRange { multiple_of, not_multiple_of, ..self.clone() }
    }

    /// Returns the number of divisors and non-divisors.
    pub(in crate::syntax::json_schema) fn divisors(&self) -> usize {
        self.multiple_of.len() + self.not_multiple_of.len()
    }
}

/// Returns non-divisors without those that are multiples of another one: what is no multiple of 2 is no multiple of 4.
/// More than [`MAX_DIVISORS`] are returned as they are.
pub(super) fn without_multiples(non_divisors: &[Decimal]) -> Vec<Decimal> {
    let is_few = non_divisors.len() <= MAX_DIVISORS;
    let is_needless =
        |one: &Decimal| non_divisors.iter().any(|other| other != one && one.is_multiple_of(other));
    non_divisors.iter().filter(|one| !(is_few && is_needless(one))).cloned().collect()
}

/// Returns ranges whose union is the complement of this one. Its notation is not [`Notation::None`].
pub(in crate::syntax::json_schema) fn failures(range: &NumberRange) -> Vec<NumberRange> {
    let outside = |bound: &Bound| Some(Bound { value: bound.value.clone(), exclusive: !bound.exclusive });
    let NumberRange { lower, upper, multiple_of, not_multiple_of, notation } = range;
    let mut failures = Vec::new();
    if let Some(lower) = lower {
        failures.push(NumberRange { upper: outside(lower), ..NumberRange::default() });
    }
    if let Some(upper) = upper {
        failures.push(NumberRange { lower: outside(upper), ..NumberRange::default() });
    }
    for divisor in multiple_of {
        failures.push(NumberRange { not_multiple_of: vec![divisor.clone()], ..NumberRange::default() });
    }
    for divisor in not_multiple_of {
        failures.push(NumberRange { multiple_of: vec![divisor.clone()], ..NumberRange::default() });
    }
    match notation {
        Notation::Any | Notation::None => {}
        Notation::Digits => {
            failures.push(NumberRange { notation: Notation::Marked, ..NumberRange::default() })
        }
        // a number in digits is an integer
        Notation::Marked => failures.push(NumberRange::integers(true)),
    }
    failures
}

/// Whether a number is in the range, regardless of its notation.
pub(in crate::syntax::json_schema) fn contains(range: &NumberRange, number: &Decimal) -> bool {
    // the notation is not a property of the value: callers use `Notation::admits`
    let NumberRange { lower, upper, multiple_of, not_multiple_of, notation: _ } = range;
    lower.as_ref().is_none_or(|b| *number > b.value || *number == b.value && !b.exclusive)
        && upper.as_ref().is_none_or(|b| *number < b.value || *number == b.value && !b.exclusive)
        && multiple_of.iter().all(|divisor| number.is_multiple_of(divisor))
        && !not_multiple_of.iter().any(|divisor| number.is_multiple_of(divisor))
}

/// Returns the numbers that are in both ranges. There may be none.
pub(in crate::syntax::json_schema) fn intersection(a: &NumberRange, b: &NumberRange) -> NumberRange {
    let tighter = |a: &Option<Bound>, b: &Option<Bound>, keep: Ordering| match (a, b) {
        (Some(a), Some(b)) => Some(match a.value.cmp(&b.value) {
            Ordering::Equal => Bound { value: a.value.clone(), exclusive: a.exclusive || b.exclusive },
            order if order == keep => a.clone(),
            _ => b.clone(),
        }),
        (a, b) => a.clone().or_else(|| b.clone()),
    };
    let all = |a: &[Decimal], b: &[Decimal]| {
        let mut all = [a, b].concat();
        all.sort();
        all.dedup();
        all
    };
    NumberRange {
        lower: tighter(&a.lower, &b.lower, Ordering::Greater),
        upper: tighter(&a.upper, &b.upper, Ordering::Less),
        multiple_of: all(&a.multiple_of, &b.multiple_of),
        not_multiple_of: all(&a.not_multiple_of, &b.not_multiple_of),
        notation: a.notation.intersection(b.notation),
    }
}

/// Whether surely no number is in the range. False if this is not known.
pub(in crate::syntax::json_schema) fn is_empty(range: &NumberRange) -> bool {
    // `divisor` handles `multiple_of`
    let NumberRange { lower, upper, multiple_of: _, not_multiple_of, notation } = range;
    if *notation == Notation::None {
        return true;
    }
    let Ok(divisor) = range.divisor() else { return false };
    let Some(divisor) = divisor else {
        let (Some(lower), Some(upper)) = (lower, upper) else { return false };
        return match lower.value.cmp(&upper.value) {
            // between two different numbers there are infinitely many that are not multiples of the listed ones
            Ordering::Less => false,
            Ordering::Equal => !contains(range, &lower.value),
            Ordering::Greater => true,
        };
    };
    if not_multiple_of.iter().any(|other| divisor.is_multiple_of(other)) {
        return true;
    }
    // the bounds in units of the divisor
    let least = lower.as_ref().map(|b| b.value.quotient_above(&divisor, b.exclusive));
    let most = upper.as_ref().map(|b| b.value.quotient_below(&divisor, b.exclusive));
    let (Some(least), Some(most)) = (least, most) else { return false };
    if least > most {
        return true;
    }
    if not_multiple_of.is_empty()
        || not_multiple_of.len() > MAX_DIVISORS
        || &most - &least > BigInt::from(MAX_LOOKED_AT)
    {
        return false;
    }
    let mut multiple = least;
    while multiple <= most {
        let number = divisor.times(&multiple);
        if !not_multiple_of.iter().any(|other| number.is_multiple_of(other)) {
            return false;
        }
        multiple += 1;
    }
    true
}
