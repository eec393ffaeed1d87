//! Tests that tell values apart, as few as possible: prime implicants (W. V. Quine, *The Problem of Simplifying Truth
//! Functions*, 1952), over a handful of tests, some outcomes of which never come about.

use super::conjunction::ConjunctionId;

/// Outcomes of tests, a bit each.
pub(super) type Outcomes = u64;

/// The outcomes of tests: those in `care` are as in `holds`, the others do not matter.
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

/// Given a value for all outcomes of `tests` tests that may come about, cubes on which the value is the same, none of
/// which can be larger. They may overlap where the value is the same.
pub(super) fn cover(values: &[(Outcomes, ConjunctionId)], tests: usize) -> Vec<(Cube, ConjunctionId)> {
    let mut cover: Vec<(Cube, ConjunctionId)> = Vec::new();
    for &(outcomes, value) in values {
        if cover.iter().any(|(cube, _)| cube.contains(outcomes)) {
            continue;
        }
        let care = Outcomes::MAX.checked_shr(Outcomes::BITS - tests as u32).unwrap_or(0);
        let mut cube = Cube { care, holds: outcomes };
        // what fails says less than what holds
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
