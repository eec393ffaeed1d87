//! The errors of journals.

use grammata_base::diagnostic::{Place, excerpt};
use std::fmt::Display;

fn at_line(line: usize) -> Place {
    Place::LineColumn { line, column: 1 }
}

grammata_base::errors! {
    pub(super) Grammar;

    /// A line of a journal is not a record of the experiment.
    record(line: usize, cause: impl Display) =
        "evaluation/record", "a line of the journal is not a record of this experiment"
        at(at_line(line))
        cause(cause)
        allowed("`{{\"id\": ..., \"record\": ...}}`, written by the same version of the experiment")
        help("name another file, or delete this one and run the experiment from its beginning");

    /// The journal belongs to a run with other settings.
    settings(found: &str, expected: &str) =
        "evaluation/settings", "the journal belongs to a run with other settings"
        at(at_line(1))
        found(excerpt(found))
        allowed(expected)
        help("name another file, or repeat the run with the settings of this one");

    /// Two records have the same id.
    repeated(line: usize, id: &str) = "evaluation/repeated-record", "two records have one id"
        at(at_line(line)) found(excerpt(id)) allowed("each id once") help("delete one of the two lines");

    /// A record cannot be written as JSON.
    unwritable(cause: impl Display) =
        Usage "evaluation/unwritable-record", "a record cannot be written as JSON"
        cause(cause) help("keys of maps must be strings");
}
