//! Classes of test outcomes, each with few tests: prime implicants (W. V. Quine, *The Problem of Simplifying Truth
//! Functions*, 1952). Some outcomes never occur.

use super::conjunction::ConjunctionId;

/// Outcomes of tests, one bit for each.
pub(super) type Outcomes = u64;

/// A set of outcomes: those that agree with `holds` in the bits of `care`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cube {
    pub(super) care: Outcomes,
    pub(super) holds: Outcomes,
}

impl Cube {
    /// All outcomes.
    pub(super) const ALL: Cube = Cube { care: 0, holds: 0 };

    fn contains(self, outcomes: Outcomes) -> bool {
        outcomes & self.care == self.holds
    }
}

/// Given the value for each outcome of `tests` tests that can occur, returns cubes on which the value is constant, and
/// which cannot be enlarged. Cubes of the same value may overlap.
pub(super) fn cover(values: &[(Outcomes, ConjunctionId)], tests: usize) -> Vec<(Cube, ConjunctionId)> {
    let mut cover: Vec<(Cube, ConjunctionId)> = Vec::new();
    for &(outcomes, value) in values {
        if cover.iter().any(|(cube, _)| cube.contains(outcomes)) {
            continue;
        }
        let care = Outcomes::MAX.checked_shr(Outcomes::BITS - tests as u32).unwrap_or(0);
        let mut cube = Cube { care, holds: outcomes };
        // drop tests that fail first: they say less than tests that hold
        let fails = (0..tests).filter(|test| outcomes >> test & 1 == 0);
        let holds = (0..tests).filter(|test| outcomes >> test & 1 == 1);
        for test in fails.chain(holds).map(|test| 1 << test) {
            let larger = Cube { care: cube.care & !test, holds: cube.holds & !test };
            if values.iter().all(|&(other, its)| its == value || !larger.contains(other)) {
                cube = larger;
            }
        }
        cover.push((cube, value));
    }
    cover
}
