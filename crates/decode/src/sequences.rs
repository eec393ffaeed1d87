//! A table of the open sequences of a model.

use super::errors;
use grammata::error::Result;
use rustc_hash::FxHashMap;

/// Handle of an open sequence of a [`Model`](super::Model). Each model numbers its own sequences, so a handle means
/// nothing to another model. The handle of a closed sequence is not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SequenceId(u64);

/// A table of open sequences and their states, for implementations of [`Model`](super::Model).
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

    /// Opens a sequence with the state `state`, and returns its handle.
    pub fn open(&mut self, state: T) -> SequenceId {
        let id = SequenceId(self.opened);
        self.opened += 1;
        self.open.insert(id, state);
        id
    }

    /// Returns the state of an open sequence.
    ///
    /// # Errors
    /// `decode/no-sequence`: the table has no open sequence with this handle.
    pub fn get(&self, sequence: SequenceId) -> Result<&T> {
        self.open.get(&sequence).ok_or_else(errors::no_sequence)
    }

    /// Returns the state of an open sequence for changing it.
    ///
    /// # Errors
    /// `decode/no-sequence`: the table has no open sequence with this handle.
    pub fn get_mut(&mut self, sequence: SequenceId) -> Result<&mut T> {
        self.open.get_mut(&sequence).ok_or_else(errors::no_sequence)
    }

    /// Opens a sequence with a copy of the state of `sequence`.
    ///
    /// # Errors
    /// `decode/no-sequence`: the table has no open sequence with this handle.
    pub fn fork(&mut self, sequence: SequenceId) -> Result<SequenceId>
    where
        T: Clone,
    {
        let copy = self.get(sequence)?.clone();
        Ok(self.open(copy))
    }

    /// Closes a sequence and returns its last state; `None` if the sequence is not open.
    pub fn close(&mut self, sequence: SequenceId) -> Option<T> {
        self.open.remove(&sequence)
    }

    /// Returns the number of open sequences.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns whether no sequence is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}
