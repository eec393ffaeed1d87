//! Sets of small numbers and their sums: the possible numbers of members.

use smallvec::SmallVec;

/// A set of natural numbers, one bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums(SmallVec<[u64; 2]>);

impl Sums {
    /// The set of one number.
    pub(super) fn of(number: usize) -> Sums {
        let mut sums = Sums::default();
        sums.unite_shifted(&Sums(SmallVec::from_slice(&[1])), number);
        sums
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The numbers, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(place, &word)| {
            let rest = |&word: &u64| Some(word & (word - 1)).filter(|&rest| rest != 0);
            let words = std::iter::successors(Some(word).filter(|&word| word != 0), rest);
            words.map(move |word| place * 64 + word.trailing_zeros() as usize)
        })
    }

    /// Adds the elements of `other` to this set.
    pub(super) fn unite(&mut self, other: &Sums) {
        self.unite_shifted(other, 0);
    }

    /// The set of all sums of one element of this set and one element of `other`.
    pub(super) fn plus(&self, other: &Sums) -> Sums {
        let mut sums = Sums::default();
        other.iter().for_each(|number| sums.unite_shifted(self, number));
        sums
    }

    /// Adds the elements of `other`, each increased by `by`, to this set.
    fn unite_shifted(&mut self, other: &Sums, by: usize) {
        let (words, bits) = (by / 64, by % 64);
        self.0.resize(self.0.len().max(other.0.len() + words + 1), 0);
        for (place, &word) in other.0.iter().enumerate() {
            self.0[place + words] |= word << bits;
            if bits > 0 {
                self.0[place + words + 1] |= word >> (64 - bits);
            }
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_numbers() {
        let mut small = Sums::of(0);
        small.unite(&Sums::of(63));
        let mut large = Sums::of(1);
        large.unite(&Sums::of(128));
        assert_eq!(small.plus(&large).iter().collect::<Vec<_>>(), [1, 64, 128, 191]);
        assert!(Sums::default().plus(&small).is_empty());
        assert!(Sums::default().is_empty() && !Sums::of(200).is_empty());
    }
}
