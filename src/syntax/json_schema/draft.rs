//! Drafts of the standard, and what differs between them.

use crate::syntax::json_schema::json::Value;

/// The draft that a document names in `$schema`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    /// 3, 4, 6, 7, 8 for 2019-09, 9 for 2020-12; `None` if the document names none that is known: then it is
    /// read as one of 2020-12 that may use the spellings of older drafts.
    number: Option<u8>,
}

const NAMES: [(&str, u8); 6] = [
    ("/draft-03/", 3),
    ("/draft-04/", 4),
    ("/draft-06/", 6),
    ("/draft-07/", 7),
    ("/draft/2019-09/", 8),
    ("/draft/2020-12/", 9),
];

impl Draft {
    pub(super) fn of(root: &Value<'_>) -> Draft {
        let name = root.get("$schema").and_then(Value::as_str).unwrap_or("");
        Draft { number: NAMES.iter().find(|(part, _)| name.contains(part)).map(|(_, number)| *number) }
    }

    /// The draft's name, if the document names one.
    pub(super) fn name(self) -> Option<&'static str> {
        let (path, _) = NAMES.iter().find(|(_, number)| Some(*number) == self.number)?;
        Some(path.trim_matches('/').trim_start_matches("draft/"))
    }

    /// Whether the draft is in a range; documents that name none may use the words of all.
    pub(super) fn is_within(self, since: u8, until: u8) -> bool {
        self.number.is_none_or(|number| (since..=until).contains(&number))
    }

    /// Up to draft 7, keywords beside `$ref` mean nothing.
    pub(super) fn ref_stands_alone(self) -> bool {
        self.number.is_some_and(|number| number <= 7)
    }

    /// Up to draft 4, `id` is what `$id` is later. `or` is the answer for a document that names no draft.
    pub(super) fn has_plain_id(self, or: bool) -> bool {
        self.number.map_or(or, |number| number <= 4)
    }

    /// Up to draft 4, an integer is a number without a point: `2.0` is none.
    pub(super) fn has_plain_integers(self) -> bool {
        self.number.is_some_and(|number| number <= 4)
    }

    /// Whether the document names draft 3.
    pub(super) fn is_third(self) -> bool {
        self.number == Some(3)
    }
}
