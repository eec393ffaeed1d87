//! The units of bounds on completions: bytes or characters for lower bounds, letters for upper bounds.

use crate::automaton::program::ids::TerminalId;
use crate::grammar::{CompletionBounds, ExprId, Grammar, Letters, Unit};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The length of something that never returns, and in upper bounds any unknown length.
pub(in crate::automaton) const ENDLESS: u32 = u32::MAX;

/// A kind of bound on the length of a completion.
#[derive(Clone, Debug)]
pub(crate) enum Measure {
    /// A lower bound in bytes or characters. Unknown lengths count 0.
    AtLeast(Unit),
    /// An upper bound in letters, each of which is a token. Unknown lengths count [`ENDLESS`], so the bound is the
    /// length of an existing completion, along which it falls by one with each letter.
    AtMost(Arc<Sufficient>),
}

/// The data of upper bounds on completions: the letters of a vocabulary, and the bounds of a grammar's expressions.
#[derive(Debug)]
pub(crate) struct Sufficient {
    pub(crate) letters: Letters,
    pub(crate) bounds: CompletionBounds,
}

impl Sufficient {
    /// The data of a grammar. `of_products` has the lengths in bytes of some words of intersections and complements.
    pub(crate) fn new(
        grammar: &Grammar,
        letters: Letters,
        of_products: &FxHashMap<ExprId, u32>,
    ) -> Sufficient {
        let bounds = CompletionBounds::new(grammar, &letters, of_products);
        Sufficient { letters, bounds }
    }
}

impl Measure {
    /// The length that replaces an unknown length.
    pub(in crate::automaton) fn unknown(&self) -> u32 {
        match self {
            Measure::AtLeast(_) => 0,
            Measure::AtMost(_) => ENDLESS,
        }
    }

    /// Whether the measure gives upper bounds.
    pub(in crate::automaton) fn is_upper(&self) -> bool {
        matches!(self, Measure::AtMost(_))
    }

    pub(in crate::automaton) fn of_byte(&self, byte: u8) -> u32 {
        match self {
            Measure::AtLeast(unit) => unit.of_byte(byte),
            Measure::AtMost(with) => with.letters.of_byte(byte),
        }
    }

    /// The length of the shortest byte of `low..=high`.
    pub(in crate::automaton) fn of_range(&self, low: u8, high: u8) -> u32 {
        match self {
            Measure::AtLeast(unit) => unit.of_range(low, high),
            Measure::AtMost(with) => with.letters.of_range(low, high),
        }
    }

    /// The length of a token terminal: 0 in lower bounds, since a token given by its id counts no bytes.
    pub(in crate::automaton) fn of_terminal(&self, terminal: TerminalId) -> u32 {
        match self {
            Measure::AtLeast(_) => 0,
            Measure::AtMost(with) => with.letters.of_terminal(terminal.expression()),
        }
    }

    /// The length of a part that is lowered later: its expression, and whether the empty word counts. `least` has the
    /// least lengths of expressions.
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

    /// The least length of a non-empty text.
    pub(in crate::automaton) fn not_empty(&self) -> u32 {
        // a byte inside a character has length 0 in characters
        u32::from(!matches!(self, Measure::AtLeast(Unit::Chars)))
    }
}
