//! A list that grows under one writer while any thread reads it without a lock.
//!
//! Entries lie in segments, each twice as long as the one before, which are made once and never move.

use bytemuck::zeroed_slice_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// So many segments have their places from the start, the others when one of them is made: most lists stay short.
const FEW: usize = 6;

/// A segment, once it is made.
type Segment<T> = OnceLock<Box<[T]>>;

/// The list: of every index there is an entry, a [fresh](Fresh) one until something else is stored in it. Entries are changed
/// through shared references; they are atomics or cells that are set once.
#[derive(Debug)]
pub(crate) struct Segmented<T> {
    few: [Segment<T>; FEW],
    more: OnceLock<Box<[Segment<T>]>>,
    /// Bytes of the segments that have been made.
    bytes: AtomicUsize,
}

impl<T> Default for Segmented<T> {
    fn default() -> Segmented<T> {
        Segmented { few: [const { OnceLock::new() }; FEW], more: OnceLock::new(), bytes: AtomicUsize::new(0) }
    }
}

/// What a list may be of.
pub(crate) trait Fresh: Sized {
    /// The length of the first segment, as a power of two.
    const FIRST: u32;

    /// Entries that nothing has been stored in.
    fn fresh(len: usize) -> Box<[Self]>;
}

/// Zero. The memory is not touched before it is used.
impl Fresh for AtomicU32 {
    /// A row of successors (256 entries at most) fits into each.
    const FIRST: u32 = 8;

    fn fresh(len: usize) -> Box<[AtomicU32]> {
        zeroed_slice_box(len)
    }
}

impl Fresh for AtomicU64 {
    const FIRST: u32 = 6;

    fn fresh(len: usize) -> Box<[AtomicU64]> {
        zeroed_slice_box(len)
    }
}

impl<T> Fresh for OnceLock<T> {
    const FIRST: u32 = 4;

    fn fresh(len: usize) -> Box<[OnceLock<T>]> {
        (0..len).map(|_| OnceLock::new()).collect()
    }
}

impl<T: Fresh> Segmented<T> {
    /// The segment of an index, and the place in there.
    #[inline]
    fn locate(index: usize) -> (usize, usize) {
        let shifted = index + (1 << T::FIRST);
        let power = shifted.ilog2();
        ((power - T::FIRST) as usize, shifted - (1 << power))
    }

    /// A segment, if it has been made.
    #[inline]
    fn segment(&self, segment: usize) -> Option<&[T]> {
        let made = match self.few.get(segment) {
            Some(one) => one.get(),
            None => self.more.get()?.get(segment - FEW)?.get(),
        };
        made.map(|made| &**made)
    }

    /// An entry, if its segment has been made.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        let (segment, place) = Self::locate(index);
        self.segment(segment)?.get(place)
    }

    /// An entry; its segment is made where it is missing.
    #[inline]
    pub(crate) fn entry(&self, index: usize) -> &T {
        let (segment, place) = Self::locate(index);
        match self.segment(segment) {
            Some(made) => &made[place],
            None => &self.make(segment)[place],
        }
    }

    #[cold]
    fn make(&self, segment: usize) -> &[T] {
        let one = match self.few.get(segment) {
            Some(one) => one,
            None => &self.more.get_or_init(|| self.places())[segment - FEW],
        };
        one.get_or_init(|| {
            let len = 1usize << (segment as u32 + T::FIRST);
            self.bytes.fetch_add(len * size_of::<T>(), Ordering::Relaxed);
            T::fresh(len)
        })
    }

    /// The places of all further segments: enough for 2³² entries.
    fn places(&self) -> Box<[Segment<T>]> {
        let count = 33 - T::FIRST as usize - FEW;
        self.bytes.fetch_add(count * size_of::<Segment<T>>(), Ordering::Relaxed);
        (0..count).map(|_| OnceLock::new()).collect()
    }

    /// `len` entries from an index on that lie in one segment; none if it has not been made.
    #[inline]
    pub(crate) fn slice(&self, index: usize, len: usize) -> &[T] {
        let (segment, place) = Self::locate(index);
        self.segment(segment).and_then(|whole| whole.get(place..place + len)).unwrap_or(&[])
    }

    /// The first index from `index` on from which `len` (the length of the first segment at most) entries lie in one segment.
    pub(crate) fn room(index: usize, len: usize) -> usize {
        let (segment, place) = Self::locate(index);
        let size = 1usize << (segment as u32 + T::FIRST);
        if place + len <= size { index } else { index + size - place }
    }

    /// Bytes on the heap, without what the entries own.
    pub(crate) fn memory_usage(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_places_and_rows_lie_in_one_segment() {
        let list: Segmented<AtomicU32> = Segmented::default();
        assert!(list.get(0).is_none() && list.slice(5000, 3).is_empty());
        let mut next = 0;
        for row in 0..400u32 {
            let at = Segmented::<AtomicU32>::room(next, 100);
            (0..100).for_each(|place| list.entry(at + place).store(row + 1, Ordering::Relaxed));
            let read: Vec<u32> = list.slice(at, 100).iter().map(|e| e.load(Ordering::Relaxed)).collect();
            assert_eq!(read, vec![row + 1; 100]);
            next = at + 100;
        }
        assert_eq!(list.entry(0).load(Ordering::Relaxed), 1);
        assert!(list.memory_usage() >= 400 * 100 * 4 && list.memory_usage() < 400 * 100 * 12);
    }
}
