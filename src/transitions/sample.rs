//! Uniform sampling of words: at each state a choice is drawn in proportion to the number of words that continue with
//! it (the recursive method of Nijenhuis and Wilf 1978).

use super::{Completable, Count, Counts, Letters, open_choices};
use crate::error::Result;
use num_bigint::BigUint;
use rand::RngCore;

/// The result of [`sample`]: a word drawn from a language, or the reason why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sample<L> {
    /// A word, given by its letters in order.
    Word(Vec<L>),
    /// The language has no word, or none within the bound.
    Empty,
    /// The language is infinite, and no bound was given.
    Infinite,
}

/// Draws a word uniformly, among the words of at most `most` letters if a bound is given. Without a bound, an infinite
/// language gives [`Sample::Infinite`]. `counts` must belong to the same system and can be reused for the next draw.
///
/// # Errors
/// Errors of the system, for instance an exceeded limit.
pub fn sample<T: Letters, R: RngCore>(
    system: &mut T,
    counts: &mut Counts<T::State>,
    most: Option<usize>,
    random: &mut R,
) -> Result<Sample<T::Letter>> {
    let (mut state, mut used, mut word) = (system.start(), T::Used::default(), Vec::new());
    loop {
        let left = most.map(|most| most.saturating_sub(word.len()));
        let ends: BigUint = u8::from(system.is_accepting(&state)).into();
        let mut total = ends.clone();
        let mut weighed = Vec::new();
        if left != Some(0) {
            for (choice, to) in open_choices(system, &state, &used)? {
                if system.completable(&to)? == Completable::No {
                    continue;
                }
                let words = match left {
                    Some(left) => counts.count_within(system, &to, left - 1)?,
                    None => match counts.count(system, &to)? {
                        Count::Finite(words) => words,
                        Count::Infinite => return Ok(Sample::Infinite),
                    },
                };
                let weight = words * system.size(&choice);
                total += &weight;
                weighed.push((choice, to, weight));
            }
        }
        if total == BigUint::ZERO {
            return Ok(Sample::Empty);
        }
        let mut drawn = below(&total, random);
        if drawn < ends {
            return Ok(Sample::Word(word));
        }
        drawn -= ends;
        for (choice, to, weight) in weighed {
            if drawn < weight {
                word.push(system.draw(&choice, random));
                system.use_up(&choice, &mut used);
                state = to;
                break;
            }
            drawn -= weight;
        }
    }
}

/// A uniformly distributed number below `limit`, which must not be 0: with 0 the function never returns.
pub fn below<R: RngCore>(limit: &BigUint, random: &mut R) -> BigUint {
    let bits = limit.bits();
    loop {
        let mut bytes = vec![0; bits.div_ceil(8) as usize];
        random.fill_bytes(&mut bytes);
        if let Some(top) = bytes.last_mut() {
            *top &= 0xff >> ((8 - bits % 8) % 8);
        }
        let drawn = BigUint::from_bytes_le(&bytes);
        if drawn < *limit {
            return drawn;
        }
    }
}
