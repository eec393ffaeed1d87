//! Sets of names, by rank.

/// A set of names, by rank. If fewer than one rank in [`SPARSE`] names is given for the set, the ranks are listed, so
/// that a request that names few of many tools writes little memory. Otherwise there is a bit per name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bits {
    ranks: Ranks,
    count: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Ranks {
    /// The ranks, sorted and without duplicates.
    Few(Box<[u32]>),
    /// One bit per name.
    Many(Box<[u64]>),
}

/// Ranks are listed if the set has fewer than one in this many names, because a rank takes 32 bits and a name otherwise
/// one bit.
const SPARSE: usize = 32;

impl Bits {
    /// Creates the set of all of `len` names.
    pub(super) fn all(len: usize) -> Bits {
        let mut words = vec![u64::MAX; len.div_ceil(64)];
        if let (Some(last), used @ 1..) = (words.last_mut(), len % 64) {
            *last = (1 << used) - 1;
        }
        Bits { ranks: Ranks::Many(words.into()), count: len }
    }

    /// Creates the set of the given ranks of `len` names.
    pub(super) fn of(len: usize, mut ranks: Vec<u32>) -> Bits {
        if ranks.len().saturating_mul(SPARSE) < len {
            ranks.sort_unstable();
            ranks.dedup();
            return Bits { count: ranks.len(), ranks: Ranks::Few(ranks.into()) };
        }
        let mut words = vec![0_u64; len.div_ceil(64)];
        for rank in ranks {
            words[rank as usize / 64] |= 1 << (rank % 64);
        }
        let count = words.iter().map(|word| word.count_ones() as usize).sum();
        Bits { ranks: Ranks::Many(words.into()), count }
    }

    pub(super) fn has(&self, rank: u32) -> bool {
        match &self.ranks {
            Ranks::Few(ranks) => ranks.binary_search(&rank).is_ok(),
            Ranks::Many(words) => words[rank as usize / 64] >> (rank % 64) & 1 == 1,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the first rank of the set in `low..high`.
    pub(super) fn first(&self, low: u32, high: u32) -> Option<u32> {
        let words = match &self.ranks {
            Ranks::Few(ranks) => {
                let found = *ranks.get(ranks.partition_point(|&rank| rank < low))?;
                return (found < high).then_some(found);
            }
            Ranks::Many(words) => words,
        };
        let mut at = low;
        while at < high {
            let word = words[at as usize / 64] >> (at % 64);
            if word != 0 {
                let found = at + word.trailing_zeros();
                return (found < high).then_some(found);
            }
            at = (at / 64 + 1) * 64;
        }
        None
    }

    /// Returns the last rank of the set in `low..high`.
    pub(super) fn last(&self, low: u32, high: u32) -> Option<u32> {
        let words = match &self.ranks {
            Ranks::Few(ranks) => {
                let before = ranks.partition_point(|&rank| rank < high);
                let found = ranks[..before].last().copied();
                return found.filter(|&found| found >= low);
            }
            Ranks::Many(words) => words,
        };
        let mut end = high;
        while end > low {
            let at = end - 1;
            let word = words[at as usize / 64] << (63 - at % 64);
            if word != 0 {
                let found = at - word.leading_zeros();
                return (found >= low).then_some(found);
            }
            end = at / 64 * 64;
        }
        None
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let high = match &self.ranks {
            Ranks::Few(_) => u32::MAX,
            Ranks::Many(words) => words.len() as u32 * 64,
        };
        let mut from = 0;
        std::iter::from_fn(move || {
            let found = self.first(from, high)?;
            from = found + 1;
            Some(found)
        })
    }
}
