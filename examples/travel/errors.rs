//! The errors of the example.

use grammata::{Diagnostic, Error, ErrorKind, Place};

pub(super) fn travel(cause: &str) -> Error {
    let diagnostic = Diagnostic::new("travel/query", "the trip cannot be planned")
        .cause(cause)
        .help("`grammars/travel` has a query and tables to compare with");
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn no_column(table: &str, column: &str) -> Error {
    let diagnostic = Diagnostic::new("travel/table", format!("`{table}` has no column `{column}`"))
        .help("the columns have the names that they have in the benchmark's tables");
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn bad_cell(table: &str, column: &str, place: Place, found: &str) -> Error {
    let message = format!("a cell of `{table}` in the column `{column}` is not a number");
    let diagnostic = Diagnostic::new("travel/table", message)
        .at(place)
        .found(found)
        .help("write a number; thousands may be marked by commas");
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn not_a_trip(cause: &str) -> Error {
    let diagnostic = Diagnostic::new("travel/trip", "a line is not a trip")
        .cause(cause)
        .allowed("a JSON array of days in the benchmark's format, or `null`")
        .help("`--json` writes such lines");
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn usage(found: &str) -> Error {
    let diagnostic = Diagnostic::new("travel/usage", "the arguments cannot be used")
        .found(found)
        .allowed("TABLES --queries FILE [--only N] [--candidates N] [--seed N] [--spec | --evaluate FILE] [--json]")
        .help("see `docs/plans.md`, section Trips");
    Error::new(ErrorKind::Usage, diagnostic)
}
