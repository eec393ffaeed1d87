//! Memory used by hash tables.

use std::collections::HashMap;

/// Approximately the bytes of a hash table on the heap, without the memory that its entries own: seven of eight buckets
/// may be in use, and each has a byte of its hash. A matcher calls this function at every step, so the function has no
/// branch and counts up to one bucket too many.
#[inline]
pub(crate) fn table_bytes<T>(capacity: usize) -> usize {
    (capacity + capacity / 7 + 1) * (size_of::<T>() + 1)
}

/// Approximately the bytes of a map on the heap, without the memory that its keys and values own.
#[inline]
pub(crate) fn map_bytes<K, V, S>(map: &HashMap<K, V, S>) -> usize {
    table_bytes::<(K, V)>(map.capacity())
}
