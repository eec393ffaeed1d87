//! Subsets of a fixed size, in order.

/// Changes a set, its elements in rising order, to the next of the same size with elements below `end`; sets are in the order of
/// their elements. False after the last one, which stays.
pub(super) fn next_subset(set: &mut [usize], end: usize) -> bool {
    let size = set.len();
    let Some(place) = (0..size).rev().find(|&place| set[place] + size - place < end) else { return false };
    let from = set[place] + 1;
    set[place..].iter_mut().zip(from..).for_each(|(element, next)| *element = next);
    true
}
