//! The earlier values that an item may still become.
//!
//! Strings are tracked together, as a set that shrinks with every character. Other values are tracked one by one.

use super::seen_list::ListId;
use crate::collections::string_set::SetId;
use crate::json::string::JsonStringDecoder;

/// The earlier values that the text read so far of an item may still become, each with how far it was read. The text
/// itself is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidates {
    pub(super) strings: Strings,
    pub(super) others: ListId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Strings {
    None,
    /// Before the first quote: all strings seen.
    All(SetId),
    /// The remaining suffixes of strings that begin with the text read.
    Within(JsonStringDecoder, SetId),
    /// After the last quote of a string.
    Whole,
}

impl Candidates {
    /// The candidates before the first byte of an item: all strings and other values seen.
    pub(super) fn new(strings: SetId, others: ListId) -> Candidates {
        let strings = if strings == SetId::EMPTY { Strings::None } else { Strings::All(strings) };
        Candidates { strings, others }
    }

    /// Whether no candidates are left.
    pub(super) fn is_empty(&self) -> bool {
        self.strings == Strings::None && self.others == ListId::EMPTY
    }
}
