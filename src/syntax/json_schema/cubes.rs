//! Tests that tell values apart, as few as possible: the prime implicants of each value (W. V. Quine, *The
//! Problem of Simplifying Truth Functions*, 1952), over a handful of tests.

use super::conjunction::ConjunctionId;
use rustc_hash::FxHashSet;

/// The outcomes of tests: those in `care` are as in `holds`, the others do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cube {
    pub(super) care: usize,
    pub(super) holds: usize,
}

/// Given a value for every outcome of `tests` tests, the largest cubes on which the value is the same. They may
/// overlap where the value is the same.
pub(super) fn cover(values: &[ConjunctionId], tests: usize) -> Vec<(Cube, ConjunctionId)> {
    let all = (1usize << tests) - 1;
    let mut cover = Vec::new();
    let mut seen = FxHashSet::default();
    for &value in values.iter().filter(|value| seen.insert(**value)) {
        let outcomes = values.iter().enumerate().filter(|(_, v)| **v == value);
        let mut level: FxHashSet<Cube> = outcomes.map(|(holds, _)| Cube { care: all, holds }).collect();
        while !level.is_empty() {
            let mut larger = FxHashSet::default();
            let mut primes = Vec::new();
            for cube in &level {
                let mut joined = false;
                for test in (0..tests).map(|test| 1usize << test).filter(|test| cube.care & test != 0) {
                    if level.contains(&Cube { holds: cube.holds ^ test, ..*cube }) {
                        larger.insert(Cube { care: cube.care & !test, holds: cube.holds & !test });
                        joined = true;
                    }
                }
                if !joined {
                    primes.push(*cube);
                }
            }
            primes.sort_unstable();
            cover.extend(primes.into_iter().map(|cube| (cube, value)));
            level = larger;
        }
    }
    cover
}
