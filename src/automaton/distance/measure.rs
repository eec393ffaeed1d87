//! What bounds on the length of completions count: bytes or characters from below, letters from above.

use crate::automaton::program::ids::TerminalId;
use crate::grammar::{CompletionBounds, ExprId, Letters, Unit};
use std::sync::Arc;

/// The cost of what never returns.
pub(in crate::automaton) const ENDLESS: u32 = u32::MAX;

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
    pub(in crate::automaton) fn unknown(&self) -> u32 {
        match self {
            Measure::AtLeast(_) => 0,
            Measure::AtMost(_) => ENDLESS,
        }
    }

    /// Whether it is an upper bound.
    pub(in crate::automaton) fn is_upper(&self) -> bool {
        matches!(self, Measure::AtMost(_))
    }

    pub(in crate::automaton) fn of_byte(&self, byte: u8) -> u32 {
        match self {
            Measure::AtLeast(unit) => unit.of_byte(byte),
            Measure::AtMost(with) => with.letters.of_byte(byte),
        }
    }

    /// The best of a range of bytes.
    pub(in crate::automaton) fn of_range(&self, low: u8, high: u8) -> u32 {
        match self {
            Measure::AtLeast(unit) => unit.of_range(low, high),
            Measure::AtMost(with) => with.letters.of_range(low, high),
        }
    }

    /// A token by its id has no bytes.
    pub(in crate::automaton) fn of_terminal(&self, terminal: TerminalId) -> u32 {
        match self {
            Measure::AtLeast(_) => 0,
            Measure::AtMost(with) => with.letters.of_terminal(terminal.expression()),
        }
    }

    /// The length of a part that is lowered later: of an expression, and whether its empty word counts. `least` has the
    /// least lengths of the expressions.
    pub(in crate::automaton) fn of_part(
        &self,
        part: Option<(ExprId, bool)>,
        least: &Option<Vec<u32>>,
    ) -> u32 {
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
    pub(in crate::automaton) fn not_empty(&self) -> u32 {
        // a byte in the middle of a character counts nothing
        u32::from(!matches!(self, Measure::AtLeast(Unit::Chars)))
    }
}
