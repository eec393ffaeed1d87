//! Words that masks share, decoded.

use super::container::Container;
use super::graph;
use std::sync::{Arc, OnceLock};

/// Words, decoded when they are first asked for; nothing where they cannot be read.
type Words = OnceLock<Option<Arc<[u32]>>>;

/// The shared words of a file or an archive, each decoded when it is first asked for. The masks of all grammars of an archive share
/// them.
#[derive(Debug)]
pub(super) struct SharedWords {
    words: Box<[Words]>,
    /// A bit for each token.
    all: OnceLock<Arc<[u32]>>,
}

impl SharedWords {
    /// Those of a file that has this number of them.
    pub(super) fn new(count: usize) -> SharedWords {
        SharedWords { words: (0..count).map(|_| OnceLock::new()).collect(), all: OnceLock::new() }
    }

    /// The words of an id, if the file has them.
    pub(super) fn get(&self, file: &Container, id: u32) -> Option<Arc<[u32]>> {
        let decode = || graph::words(file, id).map(Arc::from);
        self.words.get(id as usize)?.get_or_init(decode).clone()
    }

    /// Words in which all tokens of the vocabulary are.
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

    /// Bytes of the table; decoded words count with the masks that share them.
    pub(super) fn memory_usage(&self) -> usize {
        size_of_val(&*self.words)
    }
}
