//! Magnitudes between two bounds in plain notation.

use super::{Bound, Part, any_digits, digit, some_digits};
use crate::grammar::{ExprId, GrammarBuilder};

/// A bound as digits.
pub(super) struct Side {
    /// Digits before the point.
    pub(super) whole: Vec<u8>,
    /// Digits after the point, without trailing zeros.
    pub(super) fraction: Vec<u8>,
    pub(super) exclusive: bool,
}

impl Side {
    pub(super) fn of(bound: &Bound) -> Side {
        let (whole, fraction) = bound.value.plain_digits();
        Side { whole, fraction, exclusive: bound.exclusive }
    }
}

/// The digits, or remaining digits, after the point: whether there may be none, and the expression of one or more.
struct Tail {
    none: bool,
    some: ExprId,
}

/// Returns the magnitudes of `part`, without scientific notation.
pub(super) fn plain(g: &mut GrammarBuilder, part: &Part) -> ExprId {
    let whole_only = part.integer;
    let lower = Side::of(&part.lower);
    let least = lower.whole.len();
    let Some(upper) = part.upper.as_ref().map(Side::of) else {
        let tight = at_least(g, &lower, whole_only);
        let longer = of_lengths(g, least + 1, None, whole_only);
        return g.choice([tight, longer]);
    };
    let most = upper.whole.len();
    if least == most {
        return between(g, &lower, &upper, whole_only);
    }
    let low = at_least(g, &lower, whole_only);
    let middle = of_lengths(g, least + 1, Some(most - 1), whole_only);
    let high = at_most(g, &upper, whole_only);
    g.choice([low, middle, high])
}

/// Returns every number whose count of digits before the point is within bounds. `least` is at least two.
fn of_lengths(g: &mut GrammarBuilder, least: usize, most: Option<usize>, whole_only: bool) -> ExprId {
    if most.is_some_and(|most| most < least) {
        return g.never();
    }
    let (first, any) = (digit(g, 1, 9), digit(g, 0, 9));
    let more = g.repeat(any, least as u32 - 1, most.map(|most| most as u32 - 1));
    let end = free_end(g, whole_only);
    g.sequence([first, more, end])
}

/// Returns `count` arbitrary digits and any fraction.
fn free(g: &mut GrammarBuilder, count: usize, whole_only: bool) -> ExprId {
    let any = digit(g, 0, 9);
    let digits = g.repeat(any, count as u32, Some(count as u32));
    let end = free_end(g, whole_only);
    g.sequence([digits, end])
}

/// Returns nothing, or a point and digits.
fn free_end(g: &mut GrammarBuilder, whole_only: bool) -> ExprId {
    let some = some_digits(g);
    end(g, &Tail { none: true, some }, whole_only)
}

fn end(g: &mut GrammarBuilder, tail: &Tail, whole_only: bool) -> ExprId {
    let point = g.text(".");
    let fraction = if whole_only { g.never() } else { g.sequence([point, tail.some]) };
    let none = if tail.none { g.empty() } else { g.never() };
    g.choice([none, fraction])
}

/// Returns the numbers that have as many digits before the point as the bound and are not below it.
pub(super) fn at_least(g: &mut GrammarBuilder, bound: &Side, whole_only: bool) -> ExprId {
    let tail = fraction_at_least(g, bound, 0);
    let mut rest = end(g, &tail, whole_only);
    for (index, &on) in bound.whole.iter().enumerate().rev() {
        let (above, on) = (digit(g, on + 1, 9), digit(g, on, on));
        let free = free(g, bound.whole.len() - index - 1, whole_only);
        let (above, on) = (g.sequence([above, free]), g.sequence([on, rest]));
        rest = g.choice([on, above]);
    }
    rest
}

/// Returns the numbers that have as many digits before the point as the bound and are not above it.
fn at_most(g: &mut GrammarBuilder, bound: &Side, whole_only: bool) -> ExprId {
    at_most_from(g, bound, 0, whole_only)
}

/// Like [`at_most`], for the rest after the first `start` digits, which are those of the bound.
fn at_most_from(g: &mut GrammarBuilder, bound: &Side, start: usize, whole_only: bool) -> ExprId {
    let tail = fraction_at_most(g, bound, 0);
    let mut rest = end(g, &tail, whole_only);
    for (index, &on) in bound.whole.iter().enumerate().skip(start).rev() {
        let least = lowest(index, bound.whole.len());
        let below = if on > least { digit(g, least, on - 1) } else { g.never() };
        let on = digit(g, on, on);
        let free = free(g, bound.whole.len() - index - 1, whole_only);
        let (below, on) = (g.sequence([below, free]), g.sequence([on, rest]));
        rest = g.choice([on, below]);
    }
    rest
}

/// Returns the lowest digit at `index` of `length` digits: the first digit is not zero, unless it is the only one.
fn lowest(index: usize, length: usize) -> u8 {
    u8::from(index == 0 && length > 1)
}

/// Returns the numbers between two bounds with the same number of digits before the point.
pub(super) fn between(g: &mut GrammarBuilder, lower: &Side, upper: &Side, whole_only: bool) -> ExprId {
    let length = lower.whole.len();
    let Some(split) = lower.whole.iter().zip(&upper.whole).position(|(l, u)| l != u) else {
        let tail = fraction_between(g, lower, upper);
        let end = end(g, &tail, whole_only);
        return after(g, &lower.whole, end);
    };
    let (l, u) = (lower.whole[split], upper.whole[split]);
    let cut = |side: &Side| Side {
        whole: side.whole[split + 1..].to_vec(),
        fraction: side.fraction.clone(),
        exclusive: side.exclusive,
    };
    let middle = if l + 1 < u { digit(g, l + 1, u - 1) } else { g.never() };
    let (low, high) = (digit(g, l, l), digit(g, u, u));
    let low_rest = at_least(g, &cut(lower), whole_only);
    let high_rest = at_most_from(g, upper, split + 1, whole_only);
    let free = free(g, length - split - 1, whole_only);
    let low = g.sequence([low, low_rest]);
    let middle = g.sequence([middle, free]);
    let high = g.sequence([high, high_rest]);
    let rest = g.choice([low, middle, high]);
    after(g, &lower.whole[..split], rest)
}

/// Returns the digits, followed by `rest`.
fn after(g: &mut GrammarBuilder, digits: &[u8], rest: ExprId) -> ExprId {
    let text: Vec<u8> = digits.iter().map(|d| b'0' + d).collect();
    let digits = g.bytes(text);
    g.sequence([digits, rest])
}

/// Returns one digit of a fraction followed by `tail`, in the form of [`Tail::some`].
fn step(g: &mut GrammarBuilder, digit: ExprId, tail: &Tail) -> ExprId {
    let none = if tail.none { g.empty() } else { g.never() };
    let rest = g.choice([none, tail.some]);
    g.sequence([digit, rest])
}

/// Returns fraction digits that follow the bound's first `start` ones and are not below the bound.
fn fraction_at_least(g: &mut GrammarBuilder, bound: &Side, start: usize) -> Tail {
    let any = any_digits(g);
    let mut tail = if bound.exclusive {
        let (zero, first) = (digit(g, 0, 0), digit(g, 1, 9));
        let zeros = g.star(zero);
        Tail { none: false, some: g.sequence([zeros, first, any]) }
    } else {
        Tail { none: true, some: some_digits(g) }
    };
    for &on in bound.fraction.iter().skip(start).rev() {
        let (above, on) = (digit(g, on + 1, 9), digit(g, on, on));
        let above = g.sequence([above, any]);
        let on = step(g, on, &tail);
        tail = Tail { none: false, some: g.choice([on, above]) };
    }
    tail
}

/// Returns fraction digits that follow the bound's first `start` ones and are not above the bound.
fn fraction_at_most(g: &mut GrammarBuilder, bound: &Side, start: usize) -> Tail {
    let any = any_digits(g);
    let mut tail = if bound.exclusive {
        Tail { none: false, some: g.never() }
    } else {
        let zero = digit(g, 0, 0);
        Tail { none: true, some: g.plus(zero) }
    };
    for &on in bound.fraction.iter().skip(start).rev() {
        let below = if on > 0 { digit(g, 0, on - 1) } else { g.never() };
        let below = g.sequence([below, any]);
        let on = digit(g, on, on);
        let on = step(g, on, &tail);
        tail = Tail { none: true, some: g.choice([on, below]) };
    }
    tail
}

/// Returns fraction digits between two bounds that are equal before the point.
fn fraction_between(g: &mut GrammarBuilder, lower: &Side, upper: &Side) -> Tail {
    let at = |side: &Side, index: usize| side.fraction.get(index).copied().unwrap_or(0);
    // whether the number may end after `index` digits that are those of both bounds
    let may_end = |index: usize| {
        let above = lower.fraction.len() <= index && !lower.exclusive;
        above && (upper.fraction.len() > index || !upper.exclusive)
    };
    let length = lower.fraction.len().max(upper.fraction.len());
    let split = (0..length).find(|&i| at(lower, i) != at(upper, i));
    let mut tail = match split {
        None => {
            let zero = digit(g, 0, 0);
            let inside = !lower.exclusive && !upper.exclusive;
            Tail { none: inside, some: if inside { g.plus(zero) } else { g.never() } }
        }
        Some(split) => {
            let (l, u) = (at(lower, split), at(upper, split));
            let above = fraction_at_least(g, lower, split + 1);
            let below = fraction_at_most(g, upper, split + 1);
            let (low, high) = (digit(g, l, l), digit(g, u, u));
            let (low, high) = (step(g, low, &above), step(g, high, &below));
            let middle = if l + 1 < u { digit(g, l + 1, u - 1) } else { g.never() };
            let any = any_digits(g);
            let middle = g.sequence([middle, any]);
            Tail { none: may_end(split), some: g.choice([low, middle, high]) }
        }
    };
    for index in (0..split.unwrap_or(length)).rev() {
        let on = digit(g, at(lower, index), at(lower, index));
        tail = Tail { none: may_end(index), some: step(g, on, &tail) };
    }
    tail
}
