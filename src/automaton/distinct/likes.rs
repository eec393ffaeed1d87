//! Which of the values that came an item may still become.
//!
//! Strings are followed all at once, as a set that narrows with every character. Other values are followed one by one.

use super::comparison::Comparison;
use super::value::Values;
use crate::automaton::string_text::Decoder;
use crate::automaton::text_sets::{SetId, TextSets};

/// Values that came, and a text in the making that may become one of them. It is told the text byte by byte.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Likes {
    strings: Strings,
    others: Vec<Comparison>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Strings {
    None,
    /// Before the first quote.
    All(SetId),
    /// What is left of those that begin alike.
    Within(Decoder, SetId),
    /// After the last quote of one.
    Whole,
}

impl Likes {
    /// Before the first byte.
    pub(super) fn new(strings: SetId, others: Vec<Comparison>) -> Likes {
        let strings = if strings == SetId::EMPTY { Strings::None } else { Strings::All(strings) };
        Likes { strings, others }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.strings == Strings::None && self.others.is_empty()
    }

    /// How many are followed one by one.
    pub(super) fn others(&self) -> usize {
        self.others.len()
    }

    /// Whether the text is a whole spelling of one of the values.
    pub(super) fn is_equal(&self, values: &Values) -> bool {
        self.strings == Strings::Whole || self.others.iter().any(|like| like.is_equal(values))
    }

    /// The same for all numbers of zeros beyond a bound, so that a search which meets nothing but zeros ends.
    pub(super) fn coarse(&self) -> Likes {
        Likes { strings: self.strings, others: self.others.iter().map(Comparison::coarse).collect() }
    }

    /// The values that the text may still become after one more byte.
    pub(super) fn advanced(&self, sets: &TextSets, values: &Values, byte: u8) -> Likes {
        let strings = match self.strings {
            Strings::All(set) if byte == b'"' => Strings::Within(Decoder::Plain, set),
            Strings::Within(Decoder::Plain, left) if byte == b'"' && sets.has_empty(left) => Strings::Whole,
            Strings::Within(mut decoder, left) if decoder != Decoder::Plain || byte != b'"' => {
                match decoder.decode(byte).map(|more| sets.after(left, &more)) {
                    None | Some(SetId::EMPTY) => Strings::None,
                    Some(left) => Strings::Within(decoder, left),
                }
            }
            _ => Strings::None,
        };
        let one = |like: &Comparison| {
            let mut like = like.clone();
            like.add(values, byte).then_some(like)
        };
        Likes { strings, others: self.others.iter().filter_map(one).collect() }
    }
}
