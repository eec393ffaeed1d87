//! Which of the values that came an item may still become.
//!
//! Strings are followed all at once, as a set that narrows with every character. Other values are followed one by one.

use super::Memory;
use super::seen_list::ListId;
use crate::collections::string_set::SetId;
use crate::json::string::JsonStringDecoder;

/// Values that came, and a text in the making that may become one of them. It is told the text byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidates {
    strings: Strings,
    others: ListId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Strings {
    None,
    /// Before the first quote.
    All(SetId),
    /// What is left of those that begin alike.
    Within(JsonStringDecoder, SetId),
    /// After the last quote of one.
    Whole,
}

impl Candidates {
    /// Before the first byte.
    pub(super) fn new(strings: SetId, others: ListId) -> Candidates {
        let strings = if strings == SetId::EMPTY { Strings::None } else { Strings::All(strings) };
        Candidates { strings, others }
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.strings == Strings::None && self.others == ListId::EMPTY
    }
}

impl Memory {
    /// Whether the text is a whole spelling of one of the values.
    pub(super) fn is_equal(&self, candidates: &Candidates) -> bool {
        candidates.strings == Strings::Whole || self.followed.is_equal(candidates.others)
    }

    /// Whether the text stands in the exponent of a number that is one of the values.
    pub(super) fn is_in_exponent(&self, candidates: &Candidates) -> bool {
        self.followed.is_in_exponent(candidates.others)
    }

    /// The same for all numbers of zeros beyond a bound, so that a search which meets nothing but zeros ends.
    pub(super) fn widened(&mut self, candidates: Candidates) -> Candidates {
        Candidates { others: self.followed.widened(&self.values, candidates.others), ..candidates }
    }

    /// The values that the text may still become after one more byte.
    pub(super) fn advanced(&mut self, candidates: &Candidates, byte: u8) -> Candidates {
        let sets = &self.sets;
        let strings = match candidates.strings {
            Strings::All(set) if byte == b'"' => Strings::Within(JsonStringDecoder::Plain, set),
            Strings::Within(JsonStringDecoder::Plain, left) if byte == b'"' && sets.has_empty(left) => {
                Strings::Whole
            }
            Strings::Within(mut decoder, left) if decoder != JsonStringDecoder::Plain || byte != b'"' => {
                match decoder.decode(byte).map(|more| sets.after(left, &more)) {
                    None | Some(SetId::EMPTY) => Strings::None,
                    Some(left) => Strings::Within(decoder, left),
                }
            }
            _ => Strings::None,
        };
        Candidates { strings, others: self.followed.after(&self.values, candidates.others, byte) }
    }
}
