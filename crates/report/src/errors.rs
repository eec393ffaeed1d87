//! The errors of journals.

use grammata_base::diagnostic::{Diagnostic, Place, excerpt};
use grammata_base::error::{Error, ErrorKind};
use std::fmt::Display;

fn data(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

fn at_line(line: usize) -> Place {
    Place::LineColumn { line, column: 1 }
}

/// A line of a journal is not a record of the experiment.
pub(super) fn record(line: usize, cause: impl Display) -> Error {
    data(
        Diagnostic::new("evaluation/record", "a line of the journal is not a record of this experiment")
            .at(at_line(line))
            .cause(cause)
            .allowed("`{\"id\": ..., \"record\": ...}`, written by the same version of the experiment")
            .help("name another file, or delete this one and run the experiment from its beginning"),
    )
}

/// The journal belongs to a run with other settings.
pub(super) fn settings(found: &str, expected: &str) -> Error {
    data(
        Diagnostic::new("evaluation/settings", "the journal belongs to a run with other settings")
            .at(at_line(1))
            .found(excerpt(found))
            .allowed(expected)
            .help("name another file, or repeat the run with the settings of this one"),
    )
}

/// Two records have the same id.
pub(super) fn repeated(line: usize, id: &str) -> Error {
    data(
        Diagnostic::new("evaluation/repeated-record", "two records have one id")
            .at(at_line(line))
            .found(excerpt(id))
            .allowed("each id once")
            .help("delete one of the two lines"),
    )
}

/// A record cannot be written as JSON.
pub(super) fn unwritable(cause: impl Display) -> Error {
    let diagnostic = Diagnostic::new("evaluation/unwritable-record", "a record cannot be written as JSON")
        .cause(cause)
        .help("keys of maps must be strings");
    Error::new(ErrorKind::Usage, diagnostic)
}
