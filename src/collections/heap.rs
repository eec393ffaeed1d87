//! How much memory hash maps take.

use std::collections::HashMap;

/// The bytes of a map on the heap, without those that its keys and values own.
pub(crate) fn map_bytes<K, V, S>(map: &HashMap<K, V, S>) -> usize {
    // eight buckets of a table have room for seven entries, and each bucket has a byte of the hash
    let buckets = (map.capacity() * 8).div_ceil(7);
    buckets * (size_of::<(K, V)>() + 1)
}
