//! The decoded words that masks share.

use super::container::Container;
use super::graph;
use std::sync::{Arc, OnceLock};

/// Words, decoded on first use; `None` inside if they cannot be read.
type Words = OnceLock<Option<Arc<[u32]>>>;

/// Empty slots for `count` entries of a file, but for no more than take as many bytes as the file has. In a file
/// written by this crate, the mask, the place and the state of an entry alone take more than a slot. A forged file may
/// have entries of four bytes: those without a slot count as unexplored.
pub(crate) fn slots<T>(count: usize, file_bytes: usize) -> Box<[OnceLock<T>]> {
    let count = count.min(file_bytes / size_of::<OnceLock<T>>());
    let mut slots = Vec::new();
    if slots.try_reserve_exact(count).is_err() {
        return Box::default();
    }
    slots.extend((0..count).map(|_| OnceLock::new()));
    slots.into()
}

/// The shared words of a file or an archive, decoded on first use. The masks of all grammars of an archive share them.
#[derive(Debug)]
pub(super) struct SharedWords {
    words: Box<[Words]>,
    /// Words with the bits of all tokens set, computed on first use.
    all: OnceLock<Arc<[u32]>>,
}

impl SharedWords {
    /// A table for `count` sets of words, or for as many as [`slots`] allows.
    pub(super) fn new(count: usize, file_bytes: usize) -> SharedWords {
        SharedWords { words: slots(count, file_bytes), all: OnceLock::new() }
    }

    /// The words with an id; `None` if the file does not have them or they are invalid.
    pub(super) fn get(&self, file: &Container, id: u32) -> Option<Arc<[u32]>> {
        let decode = || graph::words(file, id).map(Arc::from);
        self.words.get(id as usize)?.get_or_init(decode).clone()
    }

    /// Words with the bits of all tokens of the vocabulary set.
    pub(super) fn all(&self, width: usize) -> Arc<[u32]> {
        let all = self.all.get_or_init(|| {
            let mut all = vec![u32::MAX; width.div_ceil(32)];
            if let Some(last) = all.last_mut().filter(|_| !width.is_multiple_of(32)) {
                *last = (1 << (width % 32)) - 1;
            }
            all.into()
        });
        Arc::clone(all)
    }

    /// Bytes of the table. Decoded words are counted with the masks that share them.
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_take_no_more_than_the_file() {
        for (count, bytes) in [(0, 0), (10, 1 << 20), (1 << 20, 4 << 20), (usize::MAX, 1 << 20), (9, 23)] {
            let words = SharedWords::new(count, bytes);
            assert!(words.words.len() <= count && words.memory_usage() <= bytes, "{count} of {bytes}");
        }
        assert_eq!(SharedWords::new(10, 1 << 20).words.len(), 10);
    }
}
