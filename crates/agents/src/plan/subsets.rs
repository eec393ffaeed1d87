//! Subsets of a fixed size, in order.

/// Advances a set, given as increasing elements, to the next set of the same size with elements below `end`, in
/// lexicographic order. Returns false, and leaves the set unchanged, if the set is the last in the order.
pub(super) fn next_subset(set: &mut [usize], end: usize) -> bool {
    let size = set.len();
    let Some(place) = (0..size).rev().find(|&place| set[place] + size - place < end) else { return false };
    let from = set[place] + 1;
    set[place..].iter_mut().zip(from..).for_each(|(element, next)| *element = next);
    true
}
