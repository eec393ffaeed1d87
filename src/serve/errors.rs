//! Errors of batches.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};

/// `serve/rows`: the rows of a request are not all in the buffer, or one of them belongs to another request.
pub(super) fn rows(first: usize, count: usize, words: usize, row_words: usize) -> Error {
    let rows = words.checked_div(row_words).unwrap_or(0);
    Error::new(
        ErrorKind::Usage,
        Diagnostic::new("serve/rows", "the rows of a request do not exist or belong to another request")
            .found(format!("{count} rows from row {first} on"))
            .allowed(format!("distinct rows below {rows}"))
            .help("a request has a row for its place, and one for each token of its draft"),
    )
}
