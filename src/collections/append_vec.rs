//! A list that grows under one writer while any thread reads it without a lock.
//!
//! Entries are stored in segments, each twice as long as the one before. A segment is allocated once and never moves.

use crate::sync;
use crate::sync::{AtomicU32, AtomicU64, AtomicUsize, OnceLock, Ordering};

/// Enough segments for almost 2³⁰ entries or, if the first segment is longer than 32 entries, for more; that many
/// entries would take about 8 GiB or more.
const SEGMENTS: usize = 25;

/// The list. Every index below its capacity has an entry; the entry is [fresh](SlotInit) until something is stored in
/// it. Entries are changed through shared references, so they are atomics or cells that are set once.
#[derive(Debug)]
pub(crate) struct AppendVec<T> {
    segments: [OnceLock<Box<[T]>>; SEGMENTS],
    /// Bytes of the allocated segments.
    bytes: AtomicUsize,
}

impl<T> Default for AppendVec<T> {
    fn default() -> AppendVec<T> {
        AppendVec { segments: std::array::from_fn(|_| OnceLock::new()), bytes: AtomicUsize::new(0) }
    }
}

/// A type of entries of an [`AppendVec`].
pub(crate) trait SlotInit: Sized {
    /// The base-2 logarithm of the length of the first segment. The default suits rows of successors, which must fit
    /// into one segment and have at most 256 entries.
    const FIRST: u32 = 8;

    /// `len` entries in which nothing was stored.
    fn fresh(len: usize) -> Box<[Self]>;
}

/// Fresh entries are zero.
impl SlotInit for AtomicU32 {
    fn fresh(len: usize) -> Box<[AtomicU32]> {
        sync::zeros(len)
    }
}

impl SlotInit for AtomicU64 {
    fn fresh(len: usize) -> Box<[AtomicU64]> {
        sync::zeros(len)
    }
}

impl<T> SlotInit for OnceLock<T> {
    /// Smaller than the default: all entries of a segment are written when the segment is allocated, and a first mask
    /// needs few entries.
    const FIRST: u32 = 5;

    fn fresh(len: usize) -> Box<[OnceLock<T>]> {
        (0..len).map(|_| OnceLock::new()).collect()
    }
}

impl<T: SlotInit> AppendVec<T> {
    /// The segment of an index, and the index within the segment.
    #[inline]
    fn locate(index: usize) -> (usize, usize) {
        let shifted = index + (1 << T::FIRST);
        let power = shifted.ilog2();
        ((power - T::FIRST) as usize, shifted - (1 << power))
    }

    /// An entry; `None` if its segment was not allocated yet.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        let (segment, place) = Self::locate(index);
        self.segments.get(segment)?.get()?.get(place)
    }

    /// An entry; allocates its segment if necessary. Panics if the index is beyond the capacity.
    pub(crate) fn entry(&self, index: usize) -> &T {
        let (segment, place) = Self::locate(index);
        let new = || {
            let len = 1usize << (segment as u32 + T::FIRST);
            self.bytes.fetch_add(len * size_of::<T>(), Ordering::Relaxed);
            T::fresh(len)
        };
        &self.segments[segment].get_or_init(new)[place]
    }

    /// The `len` entries from an index on; empty if they are not all in one segment, or if the segment was not
    /// allocated yet.
    #[inline]
    pub(crate) fn slice(&self, index: usize, len: usize) -> &[T] {
        let (segment, place) = Self::locate(index);
        let whole = self.segments.get(segment).and_then(OnceLock::get);
        whole.and_then(|whole| whole.get(place..place + len)).unwrap_or(&[])
    }

    /// The first index at or after `index` from which `len` entries are in one segment; `len` must not exceed the
    /// length of the first segment.
    pub(crate) fn room(index: usize, len: usize) -> usize {
        let (segment, place) = Self::locate(index);
        let size = 1usize << (segment as u32 + T::FIRST);
        if place + len <= size { index } else { index + size - place }
    }

    /// Bytes of the allocated segments, without the memory that the entries own.
    pub(crate) fn memory_usage(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_places_and_rows_lie_in_one_segment() {
        let list: AppendVec<AtomicU32> = AppendVec::default();
        assert!(list.get(0).is_none() && list.slice(5000, 3).is_empty());
        let mut next = 0;
        for row in 0..400u32 {
            let at = AppendVec::<AtomicU32>::room(next, 100);
            (0..100).for_each(|place| list.entry(at + place).store(row + 1, Ordering::Relaxed));
            let read: Vec<u32> = list.slice(at, 100).iter().map(|e| e.load(Ordering::Relaxed)).collect();
            assert_eq!(read, vec![row + 1; 100]);
            next = at + 100;
        }
        assert_eq!(list.entry(0).load(Ordering::Relaxed), 1);
        assert!(list.memory_usage() >= 400 * 100 * 4 && list.memory_usage() < 400 * 100 * 12);
    }
}
