//! Sets of numbers and their texts.
//!
//! The texts of a number in the language, depending on [`Numbers`]:
//!
//! - **Integers**: `-?(0|[1-9][0-9]*)`; with [`Numbers::Any`] also with zeros after the point (`2.0`, `2.00`) and with
//!   a non-negative exponent: after any digits (`12.0e+3`) if there are no bounds, otherwise after a single digit that
//!   is not zero, and zeros after the point (`1e3`, `1.0e3`). Zero may have any exponent.
//! - **Numbers without bounds**: every JSON number; with [`Numbers::Plain`] without an exponent.
//! - **Numbers with bounds**: plain notation (`-12.50`), with any number of digits after the point; with `Any` also
//!   normalised scientific notation: one digit that is not zero before the point (`1.5e-06`), or zero with any
//!   exponent.
//! - **Multiples** of numbers other than one, and numbers that are not multiples: plain notation, with any zeros at the
//!   end, but with `Plain` without a point for multiples of integers. With `Any`, numbers between zero and one that are
//!   only required not to be multiples of integers may also be in scientific notation. Whether digits and an exponent
//!   together make a multiple is not a regular property.
//! - **Listed numbers**: as listed (the exponent with or without its plus sign), or plain; with `Any`, integers also
//!   with a point and a zero. So a list of values stays finite.
//!
//! Zero may have a minus sign if the range contains negative numbers.
//!
//! A bound of `n` digits takes O(n) expressions: at each digit there is a choice between staying on the bound and
//! leaving it, after which all digits are free. Multiples are a deterministic automaton (`multiples`). If several
//! divisors together have too many remainders, each gets its own automaton, and the automata are intersected.

use crate::error::{ErrorKind, Result};
use crate::grammar::{ByteSet, ExprId, GrammarBuilder};
use crate::syntax::json_schema::options::Numbers;
use crate::syntax::json_schema::values::decimal::Decimal;
use crate::work::Budget;

pub(in crate::syntax::json_schema) mod digits;
mod magnitude;
mod multiples;
mod range;
mod scientific;

use multiples::Divided;
pub(in crate::syntax::json_schema) use range::{
    Bound, Notation, NumberRange, contains, failures, intersection, is_empty,
};

/// Returns the texts of a listed number, for schemas that distinguish [notations](Notation). An integer has only the
/// texts in the notation of `source`: with, or without, a point or exponent. With [`Numbers::Plain`] it has none with a
/// point or exponent.
pub(in crate::syntax::json_schema) fn listed_alike(
    g: &mut GrammarBuilder,
    source: &str,
    numbers: Numbers,
) -> ExprId {
    let decimal = Decimal::parse(source);
    let is_marked = Notation::Marked.admits(source);
    match decimal.is_plain() && decimal.is_integer() {
        true if !is_marked => g.text(decimal.to_plain_text()),
        true if numbers == Numbers::Plain => g.never(),
        true => {
            let texts =
                [format!("{}.0", decimal.to_plain_text()), source.to_owned(), source.replace("e+", "e")];
            let texts: Vec<ExprId> = texts.into_iter().map(|text| g.text(text)).collect();
            g.choice(texts)
        }
        false => listed(g, source, numbers),
    }
}

/// Returns the texts of a listed number.
pub(in crate::syntax::json_schema) fn listed(
    g: &mut GrammarBuilder,
    source: &str,
    numbers: Numbers,
) -> ExprId {
    let decimal = Decimal::parse(source);
    // the JSON reader adds a plus sign to exponents without a sign
    let unsigned = source.replace("e+", "e");
    let mut texts = vec![g.text(source), g.text(unsigned)];
    if decimal.is_plain() {
        let plain = decimal.to_plain_text();
        if decimal.is_integer() && numbers == Numbers::Any {
            texts.push(g.text(format!("{plain}.0")));
        }
        texts.push(g.text(plain));
    }
    g.choice(texts)
}

/// Where numbers are needed, for errors and work.
#[derive(Clone, Copy)]
pub(in crate::syntax::json_schema) struct Asker<'p> {
    /// The JSON Pointer of the schema, or of one of them.
    pub(in crate::syntax::json_schema) pointer: &'p str,
    /// Remaining work of the compilation.
    pub(in crate::syntax::json_schema) work: &'p Budget,
}

/// Returns the texts of the numbers of the range except those of `excluded`.
///
/// # Errors
/// Divisors with too many remainders; the work budget is exhausted.
pub(in crate::syntax::json_schema) fn expression_excluding(
    g: &mut GrammarBuilder,
    range: &NumberRange,
    excluded: &[Decimal],
    numbers: Numbers,
    asker: Asker<'_>,
) -> Result<ExprId> {
    let mut excluded = excluded.to_vec();
    excluded.sort();
    excluded.dedup();
    let mut parts = Vec::with_capacity(excluded.len() + 1);
    let mut rest = range.clone();
    for value in excluded.into_iter().filter(|value| contains(range, value)) {
        let bound = || Some(Bound { value: value.clone(), exclusive: true });
        let below = NumberRange { upper: bound(), ..rest.clone() };
        parts.push(expression(g, &below, numbers, asker)?);
        rest.lower = bound();
    }
    parts.push(expression(g, &rest, numbers, asker)?);
    Ok(g.choice(parts))
}

/// Returns the texts of the numbers of the range.
fn expression(
    g: &mut GrammarBuilder,
    range: &NumberRange,
    numbers: Numbers,
    asker: Asker<'_>,
) -> Result<ExprId> {
    if is_empty(range) {
        return Ok(g.never());
    }
    // `divisor` handles `multiple_of`
    let NumberRange { lower, upper, multiple_of: _, not_multiple_of, notation } = range;
    let not_multiple_of = &range::without_multiples(not_multiple_of);
    let numbers = if *notation == Notation::Digits { Numbers::Plain } else { numbers };
    if *notation == Notation::Marked {
        let all = expression(g, &NumberRange { notation: Notation::Any, ..range.clone() }, numbers, asker)?;
        let marked = marked(g);
        return Ok(g.intersection([all, marked]));
    }
    let Ok(divisor) = range.divisor() else { return one_by_one(g, range, numbers, asker) };
    let integer = divisor == Some(Decimal::one());
    if !not_multiple_of.is_empty() || divisor.is_some() && !integer {
        // a number between two adjacent integers is not a multiple of any integer
        let fractions =
            numbers == Numbers::Any && divisor.is_none() && not_multiple_of.iter().all(Decimal::is_integer);
        let divided = Divided::new(divisor, not_multiple_of, numbers, asker);
        let together = divided.and_then(|divided| {
            signed(g, range, false, |g, part| {
                let plain = divided.expression(g, part)?;
                let small = if fractions { below_one(g, part) } else { g.never() };
                Ok(g.choice([plain, small]))
            })
        });
        return match together {
            // separately, the divisors may have few enough remainders
            Err(error) if error.kind() == ErrorKind::Limit => one_by_one(g, range, numbers, asker),
            other => other,
        };
    }
    if lower.is_none() && upper.is_none() {
        return Ok(unbounded(g, integer, numbers));
    }
    let range = if integer { rounded(range) } else { range.clone() };
    signed(g, &range, integer, |g, part| {
        let mut forms = vec![magnitude::plain(g, part)];
        if numbers == Numbers::Any {
            if integer {
                let zeros = zero_fraction(g);
                forms.push(g.sequence([forms[0], zeros]));
                forms.push(scientific::whole(g, part));
            } else {
                forms.push(scientific::expression(g, part));
            }
        }
        Ok(g.choice(forms))
    })
}

/// Returns texts of digits with a point or an exponent.
fn marked(g: &mut GrammarBuilder) -> ExprId {
    let digits = g.byte_set(ByteSet::range(b'0', b'9').union(&ByteSet::range(b'-', b'-')));
    let mark = g.byte_set(ByteSet::from_iter(*b".eE"));
    let any = g.byte_set(ByteSet::from_iter(*b".eE+-0123456789"));
    let (before, after) = (g.star(digits), g.star(any));
    g.sequence([before, mark, after])
}

/// Returns the numbers of a range with divisors, as an intersection of the bounds with an automaton for each divisor.
fn one_by_one(
    g: &mut GrammarBuilder,
    range: &NumberRange,
    numbers: Numbers,
    asker: Asker<'_>,
) -> Result<ExprId> {
    signed(g, range, false, |g, part| {
        let lower = Bound { value: Decimal::zero(), exclusive: false };
        let free = Part { lower, upper: None, integer: false };
        // `signed` handles the bounds, the caller handles the notation
        let NumberRange { lower: _, upper: _, multiple_of, not_multiple_of, notation: _ } = range;
        let not_multiple_of = range::without_multiples(not_multiple_of);
        let mut all = vec![magnitude::plain(g, part)];
        for divisor in multiple_of {
            let divided = Divided::new(Some(divisor.clone()), &[], numbers, asker)?;
            all.push(divided.expression(g, &free)?);
        }
        for divisor in not_multiple_of {
            let divided = Divided::new(Some(divisor), &[], Numbers::Any, asker)?;
            let multiples = divided.expression(g, &free)?;
            all.push(g.complement(multiples));
        }
        Ok(g.intersection(all))
    })
}

/// Returns the numbers of the range between zero and one, both excluded, in scientific notation.
fn below_one(g: &mut GrammarBuilder, part: &Part) -> ExprId {
    let one = Decimal::one();
    if part.lower.value >= one {
        return g.never();
    }
    let exclusive = |value| Bound { value, exclusive: true };
    let lower = if part.lower.value.is_zero() { exclusive(Decimal::zero()) } else { part.lower.clone() };
    let upper = part.upper.clone().filter(|upper| upper.value < one).unwrap_or_else(|| exclusive(one));
    if lower.value >= upper.value {
        return g.never();
    }
    scientific::expression(g, &Part { lower, upper: Some(upper), integer: false })
}

/// Returns the same range of integers with inclusive integer bounds.
fn rounded(range: &NumberRange) -> NumberRange {
    let whole = |value| Bound { value, exclusive: false };
    NumberRange {
        lower: range.lower.as_ref().map(|b| whole(b.value.ceiling(b.exclusive))),
        upper: range.upper.as_ref().map(|b| whole(b.value.floor(b.exclusive))),
        ..range.clone()
    }
}

/// Returns the texts of both signs, given a function for the texts of the magnitudes.
fn signed(
    g: &mut GrammarBuilder,
    range: &NumberRange,
    integer: bool,
    mut make: impl FnMut(&mut GrammarBuilder, &Part) -> Result<ExprId>,
) -> Result<ExprId> {
    let (positive, negative) = by_sign(range, integer);
    let mut alternatives = Vec::new();
    // without bounds, the magnitudes of both signs are the same
    let mut last: Option<(Part, ExprId)> = None;
    for (sign, part) in [("", positive), ("-", negative)] {
        let Some(part) = part else { continue };
        let magnitude = match last {
            Some((other, magnitude)) if other == part => magnitude,
            _ => make(g, &part)?,
        };
        last = Some((part, magnitude));
        let sign = g.text(sign);
        alternatives.push(g.sequence([sign, magnitude]));
    }
    Ok(g.choice(alternatives))
}

fn unbounded(g: &mut GrammarBuilder, integer: bool, numbers: Numbers) -> ExprId {
    let minus = g.text("-");
    let sign = g.optional(minus);
    let (zero, first, digits) = (g.text("0"), digit(g, 1, 9), any_digits(g));
    let long = g.sequence([first, digits]);
    let whole = g.choice([zero, long]);
    let fraction = match (integer, numbers) {
        (true, Numbers::Plain) => return g.sequence([sign, whole]),
        (true, Numbers::Any) => zero_fraction(g),
        (false, _) => {
            let (point, some) = (g.text("."), some_digits(g));
            g.sequence([point, some])
        }
    };
    let fraction = g.optional(fraction);
    let exponent = match (integer, numbers) {
        (_, Numbers::Plain) => g.empty(),
        (true, Numbers::Any) => scientific::positive_exponent(g),
        (false, Numbers::Any) => scientific::any_exponent(g),
    };
    let exponent = g.optional(exponent);
    let all = g.sequence([sign, whole, fraction, exponent]);
    if !integer || numbers == Numbers::Plain {
        return all;
    }
    // zero, with any exponent
    let zero = scientific::zero(g);
    let zero = g.sequence([sign, zero]);
    g.choice([all, zero])
}

/// A range of magnitudes. The lower bound is at least zero.
#[derive(PartialEq, Eq)]
struct Part {
    lower: Bound,
    upper: Option<Bound>,
    integer: bool,
}

/// Returns the ranges of the magnitudes of numbers without and with a minus sign; `None` if a range is surely empty.
/// Zero is in both if the range contains it and negative numbers.
fn by_sign(range: &NumberRange, integer: bool) -> (Option<Part>, Option<Part>) {
    let zero = || Bound { value: Decimal::zero(), exclusive: false };
    let flipped = |b: &Bound| Bound { value: b.value.magnitude(), exclusive: b.exclusive };
    let below_zero = |b: &Bound| b.value.is_negative() || b.value.is_zero() && b.exclusive;
    let positive = match &range.upper {
        Some(upper) if below_zero(upper) => None,
        upper => Some(Part {
            lower: range.lower.clone().filter(|b| !b.value.is_negative()).unwrap_or_else(zero),
            upper: upper.clone(),
            integer,
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
            integer,
        }),
    };
    (positive, negative)
}

/// Returns one digit from `low` to `high`; the empty language if `low` is greater.
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

fn some_zeros(g: &mut GrammarBuilder) -> ExprId {
    let zero = digit(g, 0, 0);
    g.plus(zero)
}

/// Returns a point and zeros.
fn zero_fraction(g: &mut GrammarBuilder) -> ExprId {
    let (point, zeros) = (g.text("."), some_zeros(g));
    g.sequence([point, zeros])
}
