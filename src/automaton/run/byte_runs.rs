//! Runs of bytes with the same successor: queries for all bytes need only one step per run.

use super::configuration::ConfigurationId;
use super::lazy::Lazy;
use super::transitions::Row;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::state::{Edge, State};
use crate::error::Result;
use smallvec::SmallVec;

/// Some configurations; up to 16 are stored inline.
pub(crate) type Configurations = SmallVec<[ConfigurationId; 16]>;

impl Lazy<'_> {
    /// The configurations after each of the 256 bytes, in order of the bytes, without the dead one: one per run of
    /// bytes, so possibly with duplicates.
    pub(crate) fn after_any(&mut self, id: ConfigurationId) -> Result<Configurations> {
        let mut all = self.after_range(id, (0, u8::MAX))?;
        all.retain(|next| *next != ConfigurationId::DEAD);
        Ok(all)
    }

    /// The configurations after each byte of `low..=high`, in order of the bytes, including the dead one: one per run
    /// of bytes, so possibly with duplicates.
    pub(crate) fn after_range(
        &mut self,
        id: ConfigurationId,
        (low, high): (u8, u8),
    ) -> Result<Configurations> {
        let mut all = Configurations::new();
        let mut byte = Some(low);
        while let Some(low) = byte.filter(|&low| low <= high) {
            let (next, last) = self.step_run(id, low)?;
            all.push(next);
            byte = last.checked_add(1);
        }
        Ok(all)
    }

    /// The configuration after `byte`, and the last byte of the run that begins at `byte` and is known to have the same
    /// successor.
    pub(crate) fn step_run(&mut self, id: ConfigurationId, byte: u8) -> Result<(ConfigurationId, u8)> {
        let next = self.step(id, byte)?;
        Ok((next, self.known_run(id, byte, (byte, u8::MAX)).1))
    }

    /// The configurations that follow `left` and `right` after `byte`, and the last byte of the run that begins at
    /// `byte` and is known to have the same two successors.
    pub(crate) fn step_both(
        &mut self,
        (left, right): (ConfigurationId, ConfigurationId),
        byte: u8,
    ) -> Result<((ConfigurationId, ConfigurationId), u8)> {
        let (left, right) = (self.step_run(left, byte)?, self.step_run(right, byte)?);
        Ok(((left.0, right.0), left.1.min(right.1)))
    }

    /// The run of bytes around `byte` that are known to have the same successor, limited to `within`, which contains
    /// `byte`.
    pub(in crate::automaton) fn known_run(
        &self,
        id: ConfigurationId,
        byte: u8,
        within: (u8, u8),
    ) -> (u8, u8) {
        let automaton = self.automaton;
        let row = match self.transitions().row(id) {
            Row::Dense(_) if self.transitions().are_alike(id) => return within,
            Row::Dense(row) => self.transitions().dense(row, automaton),
            Row::Single(only, _) if only == byte => return (byte, byte),
            // all other bytes are dead
            Row::Single(only, _) if byte < only => return (within.0, within.1.min(only - 1)),
            Row::Single(only, _) => return (within.0.max(only + 1), within.1),
            Row::Unknown | Row::HistoryDependent => return (byte, byte),
        };
        let classes = automaton.class_of(within.0)..automaton.class_of(within.1) + 1;
        let run = self.transitions().run(row, automaton.class_of(byte), classes);
        let starts = automaton.class_representatives();
        let last = starts.get(run.end).map_or(u8::MAX, |next| next - 1);
        (within.0.max(starts[run.start]), within.1.min(last))
    }
}

/// The run of bytes around one byte that the states followed so far do not distinguish from it.
pub(in crate::automaton) struct ByteRun {
    byte: u8,
    low: u8,
    high: u8,
}

impl ByteRun {
    /// The run of all bytes around `byte`.
    pub(in crate::automaton) fn around(byte: u8) -> ByteRun {
        ByteRun { byte, low: 0, high: u8::MAX }
    }

    /// The first and the last byte of the run.
    pub(in crate::automaton) fn bounds(&self) -> (u8, u8) {
        (self.low, self.high)
    }

    /// The target of the run's byte from a `Byte`, `ByteOr` or `Bytes` state; `None` if the state does not read the
    /// byte, and for other states. Narrows the run to the bytes that the state does not distinguish.
    #[inline]
    pub(in crate::automaton) fn follow(&mut self, automaton: &Automaton, state: State) -> Option<StateId> {
        match state {
            State::Byte { byte, next } => self.narrow(byte, byte).then_some(next),
            State::ByteOr { byte, next, .. } if self.narrow(byte, byte) => Some(next),
            State::ByteOr { otherwise, .. } => self.follow(automaton, automaton.state(otherwise)),
            State::Bytes { first, len } => self.follow_edges(automaton.edges(first, len)),
            _ => None,
        }
    }

    /// Narrows the run, because `low..=high` are distinguished from all other bytes. Returns whether the byte is in
    /// this range.
    pub(in crate::automaton) fn narrow(&mut self, low: u8, high: u8) -> bool {
        if high < self.byte {
            self.low = self.low.max(high + 1);
        } else if self.byte < low {
            self.high = self.high.min(low - 1);
        } else {
            self.low = self.low.max(low);
            self.high = self.high.min(high);
            return true;
        }
        false
    }

    /// The target of the sorted edge that contains the run's byte, if there is one. Narrows the run to the bytes that
    /// the edges do not distinguish.
    fn follow_edges(&mut self, edges: &[Edge]) -> Option<StateId> {
        let after = edges.partition_point(|edge| edge.low <= self.byte);
        if let Some(edge) = edges.get(after) {
            self.narrow(edge.low, edge.high);
        }
        let edge = edges[..after].last()?;
        self.narrow(edge.low, edge.high).then_some(edge.next)
    }
}
