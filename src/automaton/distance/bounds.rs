//! The tables of bounds on the length of completions.

use super::lists::{ENDLESS, ListCosts};
use crate::automaton::program::state::TerminalId;
use crate::automaton::run::configuration::{ConfigurationId, StackSetId};
use crate::grammar::{CompletionBounds, ExprId, Letters, Unit};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Which bound on the length of a completion is asked for.
#[derive(Clone, Debug)]
pub(crate) enum Measure {
    /// At least this many bytes or characters. What is not understood counts nothing.
    AtLeast(Unit),
    /// At most this many letters, each of which is a token. What is not understood counts [`ENDLESS`], so the bound is the
    /// length of a completion that exists, and falls by one along it with each letter.
    AtMost(Arc<Sufficient>),
}

/// What upper bounds on completions are made from: the letters of a vocabulary, and the bounds of a grammar's expressions.
#[derive(Debug)]
pub(crate) struct Sufficient {
    pub(crate) letters: Letters,
    pub(crate) bounds: CompletionBounds,
}

impl Measure {
    /// The length of what is not known.
    pub(super) fn unknown(&self) -> u32 {
        match self {
            Measure::AtLeast(_) => 0,
            Measure::AtMost(_) => ENDLESS,
        }
    }

    /// Whether it is an upper bound.
    pub(super) fn is_upper(&self) -> bool {
        matches!(self, Measure::AtMost(_))
    }

    pub(super) fn of_byte(&self, byte: u8) -> u32 {
        match self {
            Measure::AtLeast(unit) => unit.of_byte(byte),
            Measure::AtMost(with) => with.letters.of_byte(byte),
        }
    }

    /// The best of a range of bytes.
    pub(super) fn of_range(&self, low: u8, high: u8) -> u32 {
        match self {
            Measure::AtLeast(unit) => unit.of_range(low, high),
            Measure::AtMost(with) => with.letters.of_range(low, high),
        }
    }

    /// A token by its id has no bytes.
    pub(super) fn of_terminal(&self, terminal: TerminalId) -> u32 {
        match self {
            Measure::AtLeast(_) => 0,
            Measure::AtMost(with) => with.letters.of_terminal(terminal.expression()),
        }
    }

    /// The length of a part that is lowered later: of an expression, and whether its empty word counts. `least` has the
    /// least lengths of the expressions.
    pub(super) fn of_part(&self, part: Option<(ExprId, bool)>, least: &Option<Vec<u32>>) -> u32 {
        let Some((id, may_be_empty)) = part else { return self.unknown() };
        match self {
            Measure::AtLeast(_) => {
                let length = least.as_ref().and_then(|least| least.get(id.index()).copied()).unwrap_or(0);
                if may_be_empty { length } else { length.max(self.not_empty()) }
            }
            Measure::AtMost(with) => match with.bounds.words.get(id.index()).copied() {
                Some(0) if !may_be_empty => ENDLESS,
                length => length.unwrap_or(ENDLESS),
            },
        }
    }

    /// The least length of a text that is not empty.
    pub(super) fn not_empty(&self) -> u32 {
        // a byte in the middle of a character counts nothing
        u32::from(!matches!(self, Measure::AtLeast(Unit::Chars)))
    }
}

/// Bounds on the length of what leads to a word, as far as they were asked for. They are those of one automaton; what
/// they know of stacks is of one generation of tables.
#[derive(Debug)]
pub(crate) struct Estimates {
    pub(super) measure: Measure,
    /// Least lengths of the expressions that are lowered later.
    pub(super) lengths: Option<Vec<u32>>,
    /// Per block, by its first state: the least from each state to the return of its callable.
    pub(super) blocks: FxHashMap<u32, Box<[u32]>>,
    pub(super) lists: FxHashMap<u32, ListCosts>,
    /// Per set of stacks: along the shortest and along the longest.
    pub(super) stacks: FxHashMap<StackSetId, (u32, u32)>,
    pub(super) configurations: FxHashMap<ConfigurationId, u32>,
    pub(super) bytes: usize,
}

impl Default for Estimates {
    /// In bytes.
    fn default() -> Estimates {
        Estimates::new(Measure::AtLeast(Unit::Bytes))
    }
}

impl Estimates {
    pub(crate) fn new(measure: Measure) -> Estimates {
        Estimates {
            measure,
            lengths: None,
            blocks: FxHashMap::default(),
            lists: FxHashMap::default(),
            stacks: FxHashMap::default(),
            configurations: FxHashMap::default(),
            bytes: 0,
        }
    }

    /// Forgets what was of the tables that were dropped.
    pub(crate) fn forget_tables(&mut self) {
        self.stacks = FxHashMap::default();
        self.configurations = FxHashMap::default();
    }

    /// Bytes on the heap.
    pub(crate) fn memory_usage(&self) -> usize {
        self.bytes + self.stacks.capacity() * 13 + self.configurations.capacity() * 9
    }
}

/// Those that the searches of bounded parts ask for, in both units.
#[derive(Debug)]
pub(in crate::automaton) struct Bounds {
    bytes: Estimates,
    chars: Estimates,
}

impl Default for Bounds {
    fn default() -> Bounds {
        let of = |unit| Estimates::new(Measure::AtLeast(unit));
        Bounds { bytes: of(Unit::Bytes), chars: of(Unit::Chars) }
    }
}

impl Bounds {
    pub(super) fn of_unit(&mut self, unit: Unit) -> &mut Estimates {
        match unit {
            Unit::Bytes => &mut self.bytes,
            Unit::Chars => &mut self.chars,
        }
    }

    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.bytes.memory_usage() + self.chars.memory_usage()
    }
}
