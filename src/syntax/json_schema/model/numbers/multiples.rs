//! Multiples of decimals in plain notation, as a deterministic automaton over digits. A state has the remainder of the
//! digits so far, and how they compare with the bounds.
//!
//! The unit is the last digit after the point of any divisor; in units, divisors are integers. In multiples, later
//! digits must be zeros. A later digit that is not zero makes a number a non-multiple.

use super::magnitude::Side;
use super::{Asker, Part};
use crate::collections::interner::Interner;
use crate::error::Result;
use crate::grammar::{ByteSet, ExprId, GrammarBuilder};
use crate::syntax::deterministic::Automaton;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::options::Numbers;
use crate::syntax::json_schema::values::decimal::Decimal;
use num_bigint::BigInt;
use std::cmp::Ordering;

/// Greatest number of states of the automaton of one range, before minimisation.
const MAX_STATES: usize = 50_000;
/// Steps of work for a state: one for each symbol.
const STATE_WORK: usize = 11;
/// The symbol of the point. The symbols of the digits are their values.
const POINT: u8 = 10;

/// Divisors and non-divisors.
pub(super) struct Divided<'p> {
    /// Number of digits after the point that are counted in the remainder.
    scale: usize,
    /// The modulus of the remainders: the least common multiple of `divisor` and `others` in units, without its `zeros`
    /// at the end.
    modulus: u64,
    /// Number of zeros at the end of a multiple, in units.
    zeros: u32,
    has_divisor: bool,
    /// The divisor in units, without its `zeros` at the end. It divides `modulus`, like each of `others`.
    divisor: u64,
    others: Vec<u64>,
    /// Whether numbers are written without a point.
    whole_only: bool,
    asker: Asker<'p>,
    shown: String,
}

impl<'p> Divided<'p> {
    /// Prepares the automaton of multiples of `divisor` that are not multiples of `others`.
    ///
    /// # Errors
    /// There are too many remainders.
    pub(super) fn new(
        divisor: Option<Decimal>,
        others: &[Decimal],
        numbers: Numbers,
        asker: Asker<'p>,
    ) -> Result<Divided<'p>> {
        let all: Vec<&Decimal> = divisor.iter().chain(others).collect();
        let shown = all.iter().map(|d| d.to_plain_text()).collect::<Vec<_>>().join(", ");
        let scale = all.iter().map(|d| d.scale()).max().unwrap_or(0);
        let common = all.iter().map(|&d| d.clone()).reduce(|a, b| a.least_common_multiple(&b));
        let mut modulus = common.unwrap_or_else(Decimal::one).in_units(scale);
        let mut zeros = 0;
        if others.is_empty() {
            let ten = BigInt::from(10);
            while &modulus % &ten == BigInt::ZERO {
                modulus /= &ten;
                zeros += 1;
            }
        }
        let bounded = |number: &BigInt| u64::try_from(number).ok().filter(|&n| n as usize <= MAX_STATES);
        let too_many = || errors::too_many_remainders(asker.pointer, &shown, MAX_STATES);
        let modulus = bounded(&modulus).ok_or_else(too_many)?;
        // if there are non-divisors, these divide the modulus
        let units = |d: &Decimal| bounded(&d.in_units(scale));
        let others: Option<Vec<u64>> = others.iter().map(units).collect();
        let has_divisor = divisor.is_some();
        let whole_only = numbers == Numbers::Plain && divisor.as_ref().is_some_and(Decimal::is_integer);
        let divisor = match (&divisor, &others) {
            (Some(divisor), Some(others)) if !others.is_empty() => units(divisor).ok_or_else(too_many)?,
            _ => modulus,
        };
        let others = others.ok_or_else(too_many)?;
        let scale = scale as usize;
        Ok(Divided { scale, modulus, zeros, has_divisor, divisor, others, whole_only, asker, shown })
    }

    /// Returns the magnitudes of `part` that satisfy the divisors.
    ///
    /// # Errors
    /// There are too many states; the work budget is exhausted.
    pub(super) fn expression(&self, g: &mut GrammarBuilder, part: &Part) -> Result<ExprId> {
        let (lower, upper) = (Side::of(&part.lower), part.upper.as_ref().map(Side::of));
        let sides = [Some(lower), upper];
        let longest = |digits: fn(&Side) -> usize| sides.iter().flatten().map(digits).max().unwrap_or(0);
        let reader = Reader {
            divided: self,
            whole: longest(|side| side.whole.len()) + 1,
            fraction: longest(|side| side.fraction.len()).max(self.scale).max(1),
            sides,
        };
        let mut states: Interner<State> = Interner::default();
        states.intern(State::start(self.zeros));
        let mut automaton = Automaton::new(usize::from(POINT) + 1);
        while automaton.len() < states.len() {
            let state = *states.get(automaton.len() as u32);
            let spent = self.asker.work.spend(STATE_WORK);
            spent.map_err(|error| errors::placed(error, self.asker.pointer))?;
            let next = (0..=POINT).map(|symbol| Some(states.intern(reader.step(state, symbol)?)));
            let next: Vec<Option<u32>> = next.collect();
            if states.len() > MAX_STATES {
                return Err(errors::too_many_remainders(self.asker.pointer, &self.shown, MAX_STATES));
            }
            automaton.push(next, reader.accepts(state));
        }
        Ok(automaton.expression(g, &mut |g, symbols| {
            let byte =
                |&symbol: &usize| if symbol == usize::from(POINT) { b'.' } else { b'0' + symbol as u8 };
            g.byte_set(ByteSet::from_iter(symbols.iter().map(byte)))
        }))
    }

    /// Returns the remainder and the number of zeros at the end after one more digit. At most `self.zeros` zeros are
    /// counted; the remainder is that of the digits before them.
    fn divide(&self, (mut remainder, zeros): (u64, u32), digit: u8) -> (u64, u32) {
        if digit == 0 && zeros < self.zeros {
            return (remainder, zeros + 1);
        }
        if digit == 0 {
            return (remainder * 10 % self.modulus, zeros);
        }
        for _ in 0..=zeros {
            remainder = remainder * 10 % self.modulus;
        }
        ((remainder + u64::from(digit)) % self.modulus, 0)
    }

    /// Whether this number of further digits may result in a multiple.
    fn may_divide(&self, (remainder, _): (u64, u32), digits: usize) -> bool {
        if !self.has_divisor || self.zeros > 0 || digits > 8 {
            return true;
        }
        let power = 10u64.pow(digits as u32);
        let rest = remainder % self.divisor * power % self.divisor;
        rest == 0 || self.divisor - rest < power
    }

    fn accepts(&self, (remainder, zeros): (u64, u32)) -> bool {
        let divided = !self.has_divisor || zeros == self.zeros && remainder % self.divisor == 0;
        divided && self.others.iter().all(|other| remainder % other != 0)
    }
}

/// The position in the text of a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Start,
    /// After a zero before the point, which no digit may follow.
    Zero,
    /// After this number of digits before the point.
    Whole(usize),
    /// After the point and this number of digits.
    Fraction(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct State {
    place: Place,
    /// How the digits compare with as many digits of the lower and the upper bound.
    compared: [Ordering; 2],
    rest: (u64, u32),
    /// Whether a digit beyond those that are counted was not zero.
    beyond: bool,
}

impl State {
    fn start(zeros: u32) -> State {
        State { place: Place::Start, compared: [Ordering::Equal; 2], rest: (0, zeros), beyond: false }
    }
}

struct Reader<'r, 'p> {
    divided: &'r Divided<'p>,
    sides: [Option<Side>; 2],
    /// Greatest number of digits that are counted before the point, and after it.
    whole: usize,
    fraction: usize,
}

impl Reader<'_, '_> {
    fn step(&self, state: State, symbol: u8) -> Option<State> {
        if symbol == POINT {
            return self.point(state);
        }
        let (place, read) = match state.place {
            Place::Start if symbol == 0 => (Place::Zero, 0),
            Place::Start => (Place::Whole(1), 0),
            Place::Zero => return None,
            Place::Whole(count) => (Place::Whole((count + 1).min(self.whole)), count),
            Place::Fraction(count) => (Place::Fraction((count + 1).min(self.fraction)), count),
        };
        let in_fraction = matches!(place, Place::Fraction(_));
        let mut next = State { place, ..state };
        if in_fraction && read >= self.divided.scale {
            next.beyond |= symbol != 0;
            if next.beyond && self.divided.has_divisor {
                return None;
            }
        } else {
            next.rest = self.divided.divide(state.rest, symbol);
            let read = if in_fraction { read + 1 } else { 0 };
            if in_fraction && !self.divided.may_divide(next.rest, self.divided.scale - read) {
                return None;
            }
        }
        for (side, compared) in self.sides.iter().zip(&mut next.compared) {
            let Some(side) = side else { continue };
            *compared = match (*compared, in_fraction) {
                (_, false) if read >= side.whole.len() => Ordering::Greater,
                (Ordering::Equal, false) => symbol.cmp(&side.whole[read]),
                (Ordering::Equal, true) => symbol.cmp(side.fraction.get(read).unwrap_or(&0)),
                (known, _) => known,
            };
        }
        self.may_be_below(&next).then_some(next)
    }

    fn point(&self, state: State) -> Option<State> {
        let count = match state.place {
            Place::Zero => 1,
            Place::Whole(count) => count,
            Place::Start | Place::Fraction(_) => return None,
        };
        if self.divided.whole_only {
            return None;
        }
        let mut next = State { place: Place::Fraction(0), ..state };
        for (side, compared) in self.sides.iter().zip(&mut next.compared) {
            if side.as_ref().is_some_and(|side| count < side.whole.len()) {
                *compared = Ordering::Less;
            }
        }
        self.may_be_below(&next).then_some(next)
    }

    /// Whether some number with this prefix is not above the upper bound.
    fn may_be_below(&self, state: &State) -> bool {
        let Some(upper) = &self.sides[1] else { return true };
        let decided = match state.place {
            Place::Start | Place::Zero => false,
            Place::Whole(count) => count >= upper.whole.len(),
            Place::Fraction(_) => true,
        };
        !decided || state.compared[1] != Ordering::Greater
    }

    fn accepts(&self, state: State) -> bool {
        let (whole, fraction) = match state.place {
            Place::Start | Place::Fraction(0) => return false,
            Place::Zero => (1, 0),
            Place::Whole(count) => (count, 0),
            Place::Fraction(count) => (usize::MAX, count),
        };
        let [lower, upper] = [0, 1].map(|index| {
            let side = self.sides[index].as_ref()?;
            let less = whole < side.whole.len()
                || state.compared[index] == Ordering::Equal && fraction < side.fraction.len();
            Some((if less { Ordering::Less } else { state.compared[index] }, side.exclusive))
        });
        let above = lower.is_none_or(|(compared, exclusive)| {
            compared == Ordering::Greater || compared == Ordering::Equal && !exclusive
        });
        let below = upper.is_none_or(|(compared, exclusive)| {
            compared == Ordering::Less || compared == Ordering::Equal && !exclusive
        });
        let missing = self.divided.scale.saturating_sub(fraction);
        let rest = (0..missing).fold(state.rest, |rest, _| self.divided.divide(rest, 0));
        above && below && (state.beyond || self.divided.accepts(rest))
    }
}
