//! Which of the values that came an item may still become.
//!
//! Strings are followed all at once, as a set that narrows with every character. Other values are followed one by one.

use super::seen_list::ListId;
use crate::collections::string_set::SetId;
use crate::json::string::JsonStringDecoder;

/// Values that came, and a text in the making that may become one of them. It is told the text byte by byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidates {
    pub(super) strings: Strings,
    pub(super) others: ListId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Strings {
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
