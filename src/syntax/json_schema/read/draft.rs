//! Drafts of the standard and their differences.

use crate::syntax::json_schema::values::json::Value;

/// A draft of the standard. Later drafts are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Version {
    Draft3,
    Draft4,
    Draft6,
    Draft7,
    Draft2019,
    Draft2020,
}
use Version::{Draft3, Draft4, Draft6, Draft7, Draft2019, Draft2020};

/// A range of drafts, both ends included.
#[derive(Clone, Copy, Debug)]
pub(super) struct Versions {
    first: Version,
    last: Version,
}

impl Versions {
    pub(super) const ALL: Versions = Versions { first: Draft3, last: Draft2020 };

    pub(super) const fn only(version: Version) -> Versions {
        Versions { first: version, last: version }
    }

    pub(super) const fn since(first: Version) -> Versions {
        Versions { first, ..Versions::ALL }
    }

    pub(super) const fn until(last: Version) -> Versions {
        Versions { last, ..Versions::ALL }
    }
}

/// The draft that a document names in `$schema`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draft {
    /// `None` if the document names no known draft. Then it is read as 2020-12, with the keywords and spellings of
    /// older drafts.
    version: Option<Version>,
}

const NAMES: [(&str, Version); 6] = [
    ("/draft-03/", Draft3),
    ("/draft-04/", Draft4),
    ("/draft-06/", Draft6),
    ("/draft-07/", Draft7),
    ("/draft/2019-09/", Draft2019),
    ("/draft/2020-12/", Draft2020),
];

impl Draft {
    pub(super) fn of(root: &Value<'_>) -> Draft {
        let name = root.get("$schema").and_then(Value::as_str).unwrap_or("");
        Draft { version: NAMES.iter().find(|(part, _)| name.contains(part)).map(|(_, version)| *version) }
    }

    /// Returns the name of the draft, if the document names one.
    pub(super) fn name(self) -> Option<&'static str> {
        let (path, _) = NAMES.iter().find(|(_, version)| Some(*version) == self.version)?;
        Some(path.trim_matches('/').trim_start_matches("draft/"))
    }

    /// Whether the draft is in a range. True if the document names no draft, since it may then use the keywords of all.
    pub(super) fn is_within(self, versions: Versions) -> bool {
        self.version.is_none_or(|version| (versions.first..=versions.last).contains(&version))
    }

    /// Whether keywords next to `$ref` are ignored: up to draft 7.
    pub(super) fn ref_stands_alone(self) -> bool {
        self.version.is_some_and(|version| version <= Draft7)
    }

    /// Whether `id` means what is later called `$id`: up to draft 4. `or` is the answer for a document that names no
    /// draft.
    pub(super) fn has_plain_id(self, or: bool) -> bool {
        self.version.map_or(or, |version| version <= Draft4)
    }

    /// Whether an integer is a number without a point or exponent, so that `2.0` is not an integer: up to draft 4.
    pub(super) fn has_plain_integers(self) -> bool {
        self.version.is_some_and(|version| version <= Draft4)
    }

    /// Whether the document names draft 3.
    pub(super) fn is_third(self) -> bool {
        self.version == Some(Draft3)
    }
}
