//! A table of the open sequences of a model.

use super::errors;
use grammata::error::Result;
use rustc_hash::FxHashMap;

/// Handle of an open sequence of a [`Model`](super::Model). Each model numbers its own; a closed sequence's handle is
/// not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceId(u64);

/// The state of each open sequence by its handle: for implementations of [`Model`](super::Model).
#[derive(Clone, Debug)]
pub struct Sequences<T> {
    opened: u64,
    open: FxHashMap<SequenceId, T>,
}

impl<T> Default for Sequences<T> {
    fn default() -> Sequences<T> {
        Sequences { opened: 0, open: FxHashMap::default() }
    }
}

impl<T> Sequences<T> {
    /// Creates a table without sequences.
    pub fn new() -> Sequences<T> {
        Sequences::default()
    }

    /// A new sequence in the state `state`.
    pub fn open(&mut self, state: T) -> SequenceId {
        let id = SequenceId(self.opened);
        self.opened += 1;
        self.open.insert(id, state);
        id
    }

    /// The state of an open sequence.
    ///
    /// # Errors
    /// `decode/no-sequence`: the sequence was closed, or is another model's.
    pub fn get(&self, sequence: SequenceId) -> Result<&T> {
        self.open.get(&sequence).ok_or_else(errors::no_sequence)
    }

    /// The state of an open sequence, to be changed.
    ///
    /// # Errors
    /// `decode/no-sequence`: the sequence was closed, or is another model's.
    pub fn get_mut(&mut self, sequence: SequenceId) -> Result<&mut T> {
        self.open.get_mut(&sequence).ok_or_else(errors::no_sequence)
    }

    /// A new sequence in the state that an open one has.
    ///
    /// # Errors
    /// `decode/no-sequence`: the sequence was closed, or is another model's.
    pub fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId>
    where
        T: Clone,
    {
        let copy = self.get(sequence)?.clone();
        Ok(self.open(copy))
    }

    /// Removes a sequence and gives its last state; None if it is not open.
    pub fn close(&mut self, sequence: SequenceId) -> Option<T> {
        self.open.remove(&sequence)
    }

    /// Number of open sequences.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether no sequence is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}
