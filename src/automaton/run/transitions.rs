//! The published properties of configurations, which any thread may read without a lock: whether a configuration
//! accepts, and which configuration follows a byte. One thread at a time adds properties, through
//! [`Cache`](crate::automaton::Cache).

use super::configuration::ConfigurationId;
use crate::automaton::program::automaton::Automaton;
use crate::collections::append_vec::AppendVec;
use crate::grammar::ByteSet;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use std::ops::Range;

/// How the successors of a configuration are stored.
#[derive(Clone, Copy, Debug)]
pub(in crate::automaton) enum Row {
    Unknown,
    /// Only this byte is possible; with its successor once it is known.
    Single(u8, Option<ConfigurationId>),
    /// The entries from this index on, one per byte class.
    Dense(u32),
    /// The successors depend on the byte itself, not only on its class. These successors are stored in `Memory::next`.
    HistoryDependent,
}

/// Properties of a configuration in addition to its successors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::automaton) struct Flags {
    /// The text so far is a word.
    pub(in crate::automaton) accepting: bool,
    /// The last byte has ended the name of an object's member.
    pub(in crate::automaton) named: bool,
    /// A token given by its id may be allowed.
    pub(in crate::automaton) tokens: bool,
}

/// The properties of a configuration that a matcher needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The text so far is a word.
    pub(crate) is_accepting: bool,
    /// The text so far is a word that is not a proper prefix of another word.
    pub(crate) is_final: bool,
    /// A token given by its id may be allowed.
    pub(crate) has_tokens: bool,
}

/// A configuration in 64 bits. From the lowest: the kind of row (2 bits), whether the text so far is a word (1),
/// whether no byte or token may follow (1), whether a name has just ended (1), whether all bytes have one successor
/// (1), whether a token may be given by its id (1), the byte of a single row (bits 8 to 15), and its successor or the
/// dense row (bits 32 to 63).
#[derive(Clone, Copy)]
struct Packed(u64);

impl Packed {
    const ACCEPTING: u64 = 4;
    const LAST: u64 = 8;
    const NAMED: u64 = 16;
    const ALIKE: u64 = 32;
    const TOKENS: u64 = 64;
    /// All flags, that is, everything except the row.
    const FLAGS: u64 = Packed::ACCEPTING | Packed::LAST | Packed::NAMED | Packed::ALIKE | Packed::TOKENS;

    fn row(self) -> Row {
        let value = (self.0 >> 32) as u32;
        match self.0 & 3 {
            0 => Row::Unknown,
            1 => Row::Single((self.0 >> 8) as u8, known(value)),
            2 => Row::Dense(value),
            _ => Row::HistoryDependent,
        }
    }

    fn with_row(self, row: Row) -> Packed {
        let flags = self.0 & Packed::FLAGS;
        Packed(
            flags
                | match row {
                    Row::Unknown => 0,
                    Row::Single(byte, next) => 1 | u64::from(byte) << 8 | u64::from(entry(next)) << 32,
                    Row::Dense(row) => 2 | u64::from(row) << 32,
                    Row::HistoryDependent => 3,
                },
        )
    }
}

/// A successor as it is stored: its id plus 1, or 0 if it is unknown.
fn entry(next: Option<ConfigurationId>) -> u32 {
    next.map_or(0, |next| next.0 + 1)
}

#[inline]
fn known(entry: u32) -> Option<ConfigurationId> {
    entry.checked_sub(1).map(ConfigurationId)
}

/// A dense row of successors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dense<'a>(&'a [AtomicU32]);

impl Dense<'_> {
    /// The configuration after a byte, if it is known.
    #[inline]
    pub(crate) fn step(self, automaton: &Automaton, byte: u8) -> Option<ConfigurationId> {
        self.entry(automaton.class_of(byte))
    }

    /// The configuration after the bytes of a class, if it is known.
    #[inline]
    pub(in crate::automaton) fn entry(self, class: usize) -> Option<ConfigurationId> {
        known(self.0.get(class)?.load(Ordering::Acquire))
    }

    /// Two sets of class numbers: the classes that are not known to have the successor of the class before them, and
    /// the classes that are known to be dead.
    pub(in crate::automaton) fn changes(self) -> (ByteSet, ByteSet) {
        const DEAD: u32 = ConfigurationId::DEAD.0 + 1;
        let (mut changes, mut dead) = ([0; 4], [0; 4]);
        let mut before = 0;
        for ((entries, changes), dead) in self.0.chunks(64).zip(&mut changes).zip(&mut dead) {
            for (place, entry) in entries.iter().enumerate() {
                let entry = entry.load(Ordering::Acquire);
                *changes |= u64::from(entry == 0 || entry != before) << place;
                *dead |= u64::from(entry == DEAD) << place;
                before = entry;
            }
        }
        (ByteSet::from_words(changes), ByteSet::from_words(dead))
    }

    /// Whether the bytes of a class are known to have the same successor as the bytes of the class before.
    #[inline]
    pub(in crate::automaton) fn is_as_before(self, class: usize) -> bool {
        let Some([before, after]) = class.checked_sub(1).and_then(|before| self.0.get(before..=class)) else {
            return false;
        };
        let after = after.load(Ordering::Acquire);
        known(after).is_some() && before.load(Ordering::Acquire) == after
    }
}

/// The published transitions and properties of configurations.
#[derive(Debug, Default)]
pub(crate) struct Transitions {
    configurations: AppendVec<AtomicU64>,
    rows: AppendVec<AtomicU32>,
}

impl Transitions {
    fn packed(&self, id: ConfigurationId) -> Packed {
        let configuration = self.configurations.get(id.index());
        Packed(configuration.map_or(0, |configuration| configuration.load(Ordering::Acquire)))
    }

    /// Whether the text so far is a word.
    #[inline]
    pub(crate) fn is_accepting(&self, id: ConfigurationId) -> bool {
        self.packed(id).0 & Packed::ACCEPTING != 0
    }

    /// Whether the text so far is a word that is not a proper prefix of another word.
    pub(crate) fn is_final(&self, id: ConfigurationId) -> bool {
        let both = Packed::ACCEPTING | Packed::LAST;
        self.packed(id).0 & both == both
    }

    /// The properties of a configuration that a matcher needs.
    #[inline]
    pub(crate) fn facts(&self, id: ConfigurationId) -> Facts {
        let Packed(bits) = self.packed(id);
        let is_accepting = bits & Packed::ACCEPTING != 0;
        let is_final = is_accepting && bits & Packed::LAST != 0;
        Facts { is_accepting, is_final, has_tokens: bits & Packed::TOKENS != 0 }
    }

    pub(in crate::automaton) fn flags(&self, id: ConfigurationId) -> Flags {
        let Packed(bits) = self.packed(id);
        Flags {
            accepting: bits & Packed::ACCEPTING != 0,
            named: bits & Packed::NAMED != 0,
            tokens: bits & Packed::TOKENS != 0,
        }
    }

    /// Whether a token given by its id may be allowed.
    #[inline]
    pub(crate) fn has_tokens(&self, id: ConfigurationId) -> bool {
        self.packed(id).0 & Packed::TOKENS != 0
    }

    /// Whether the last byte has ended the name of an object's member.
    #[inline]
    pub(crate) fn is_named(&self, id: ConfigurationId) -> bool {
        self.packed(id).0 & Packed::NAMED != 0
    }

    #[inline]
    pub(in crate::automaton) fn row(&self, id: ConfigurationId) -> Row {
        self.packed(id).row()
    }

    /// An entry of a dense row, if it is known.
    #[inline]
    pub(in crate::automaton) fn entry(&self, row: u32, class: usize) -> Option<ConfigurationId> {
        known(self.rows.get(row as usize + class)?.load(Ordering::Acquire))
    }

    /// A dense row: one entry per byte class.
    #[inline]
    pub(crate) fn dense(&self, row: u32, automaton: &Automaton) -> Dense<'_> {
        Dense(self.rows.slice(row as usize, automaton.class_count()))
    }

    /// The run of classes around `class`, limited to `within`, that are known to have the same successor; `class` alone
    /// if its successor is not known.
    pub(in crate::automaton) fn run(
        &self,
        row: Dense<'_>,
        class: usize,
        within: Range<usize>,
    ) -> Range<usize> {
        let at = |class: usize| row.0.get(class).map_or(0, |entry| entry.load(Ordering::Acquire));
        let next = at(class);
        if known(next).is_none() {
            return class..class + 1;
        }
        let below = (within.start..class).rev().take_while(|&class| at(class) == next).count();
        let above = (class..within.end).take_while(|&class| at(class) == next).count();
        class - below..class + above
    }

    /// Whether all 256 bytes are known to have the same successor.
    pub(in crate::automaton) fn are_alike(&self, id: ConfigurationId) -> bool {
        self.packed(id).0 & Packed::ALIKE != 0
    }

    /// Records that all bytes have the same successor.
    pub(in crate::automaton) fn set_alike(&self, id: ConfigurationId) {
        self.configurations.entry(id.index()).fetch_or(Packed::ALIKE, Ordering::Release);
    }

    /// The configuration after one more byte, if it is known. Successors of history-dependent configurations are not
    /// stored here.
    #[inline]
    pub(crate) fn step(
        &self,
        automaton: &Automaton,
        id: ConfigurationId,
        byte: u8,
    ) -> Option<ConfigurationId> {
        match self.row(id) {
            Row::Single(only, _) if only != byte => Some(ConfigurationId::DEAD),
            Row::Single(_, next) => next,
            Row::Dense(row) => self.entry(row, automaton.class_of(byte)),
            Row::Unknown | Row::HistoryDependent => None,
        }
    }

    /// Adds a configuration with unknown successors. `last` says that no byte or token may follow.
    pub(in crate::automaton) fn add(&self, id: ConfigurationId, flags: Flags, last: bool) {
        let flags = (u64::from(flags.accepting) * Packed::ACCEPTING)
            | (u64::from(flags.named) * Packed::NAMED)
            | (u64::from(flags.tokens) * Packed::TOKENS)
            | (u64::from(last) * Packed::LAST);
        self.configurations.entry(id.index()).store(flags, Ordering::Release);
    }

    /// Allocates a dense row at the first possible index from `from` on; returns its start and its end.
    pub(in crate::automaton) fn new_row(&self, from: u32, classes: usize) -> (u32, u32) {
        let row = AppendVec::<AtomicU32>::room(from as usize, classes);
        self.rows.entry(row);
        (row as u32, (row + classes) as u32)
    }

    pub(in crate::automaton) fn set_row(&self, id: ConfigurationId, row: Row) {
        let packed = self.packed(id).with_row(row);
        self.configurations.entry(id.index()).store(packed.0, Ordering::Release);
    }

    /// Stores the successor of the classes from `low` to `high`, inclusive.
    pub(in crate::automaton) fn fill(&self, row: u32, low: usize, high: usize, next: ConfigurationId) {
        for entry in self.rows.slice(row as usize + low, high + 1 - low) {
            entry.store(self::entry(Some(next)), Ordering::Release);
        }
    }

    /// Bytes on the heap.
    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.configurations.memory_usage() + self.rows.memory_usage()
    }
}
