//! The masks within budgets that are kept with a configuration.

use crate::mask::token_mask::TokenMask;
use smallvec::SmallVec;
use std::sync::Arc;

/// The most masks kept for one configuration.
const MOST: usize = 4;

/// The masks within budgets of one configuration, regardless of the names read.
#[derive(Clone, Debug)]
pub(in crate::mask) struct KeptMasks {
    /// A number of tokens that suffices to complete the text.
    needed: usize,
    masks: SmallVec<[KeptMask; 1]>,
}

/// A mask, and the numbers of tokens after the next one for which it holds.
#[derive(Clone, Debug)]
pub(crate) struct KeptMask {
    /// The least number, and the one from which on more tokens are allowed; [`usize::MAX`] if there is none.
    pub(crate) holds: (usize, usize),
    /// `None` for the mask without a budget.
    pub(crate) mask: Option<Arc<TokenMask>>,
}

impl KeptMask {
    /// Whether the mask holds for all numbers of tokens after the next one from `least` to `most`.
    pub(crate) fn holds_from(&self, least: usize, most: usize) -> bool {
        self.holds.0 <= least && most < self.holds.1
    }
}

impl KeptMasks {
    pub(in crate::mask) fn new(needed: usize) -> KeptMasks {
        KeptMasks { needed, masks: SmallVec::new() }
    }

    /// The mask within a budget; the inner `None` is the mask without one. `None` if it is not kept, or if another
    /// completion may have to be carried along. `letters` is how many tokens more may be needed for names that must
    /// differ from those read: the mask must be the same with that many fewer.
    #[inline]
    pub(in crate::mask) fn get(&self, budget: usize, letters: usize) -> Option<Option<&Arc<TokenMask>>> {
        let least = budget.checked_sub(letters).filter(|least| self.needed <= *least)?;
        let rest = (least.checked_sub(1)?, budget - 1);
        let kept = self.masks.iter().find(|kept| kept.holds_from(rest.0, rest.1))?;
        Some(kept.mask.as_ref())
    }

    /// Whether a mask for the same numbers of tokens is kept.
    pub(in crate::mask) fn has(&self, kept: &KeptMask) -> bool {
        self.masks.iter().any(|known| known.holds == kept.holds)
    }

    /// A number of tokens that suffices after any token that the configuration allows, if one is kept.
    pub(in crate::mask) fn ceiling(&self) -> Option<usize> {
        let of =
            |kept: &KeptMask| (kept.mask.is_none() && kept.holds.1 == usize::MAX).then_some(kept.holds.0);
        self.masks.iter().filter_map(of).min()
    }

    /// The masks with one more. The oldest is dropped if there are too many.
    pub(in crate::mask) fn with(&self, needed: usize, kept: KeptMask) -> KeptMasks {
        let mut all = KeptMasks { needed: self.needed.min(needed), masks: self.masks.clone() };
        if all.masks.len() >= MOST {
            all.masks.remove(0);
        }
        all.masks.push(kept);
        all
    }
}
