//! Arithmetic of the summary: percentiles and grouping.

use std::collections::HashMap;
use std::hash::Hash;

/// Returns the value at `thousandths` of a sorted list, by nearest rank: the least value that at least so many
/// thousandths of all values do not exceed. `None` if there are no values.
pub(crate) fn percentile(sorted: &[u64], thousandths: usize) -> Option<u64> {
    let rank = (sorted.len() * thousandths).div_ceil(1000);
    sorted.get(rank.max(1) - 1).or(sorted.last()).copied()
}

/// Returns the mean; `None` if there are no values.
pub(crate) fn mean(values: &[u64]) -> Option<f64> {
    let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
    (!values.is_empty()).then(|| sum as f64 / values.len() as f64)
}

/// Returns the share of values over `bound`, from 0 to 1; 0 if there are no values.
pub(crate) fn share_over(values: &[u64], bound: u64) -> f64 {
    let over = values.iter().filter(|&&value| value > bound).count();
    over as f64 / values.len().max(1) as f64
}

/// Counts each key. The most frequent keys come first; equally frequent ones are sorted.
pub(crate) fn grouped<K: Hash + Ord>(keys: impl IntoIterator<Item = K>) -> Vec<(K, usize)> {
    let mut counts: HashMap<K, usize> = HashMap::new();
    for key in keys {
        *counts.entry(key).or_default() += 1;
    }
    let mut groups: Vec<(K, usize)> = counts.into_iter().collect();
    groups.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    groups
}
