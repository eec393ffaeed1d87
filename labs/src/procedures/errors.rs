//! The errors of recorded sessions.

use grammata::diagnostic::Diagnostic;
use grammata::error::{Error, ErrorKind};

/// The error of a line that is not a recorded session.
pub(super) fn recorded(line: usize, cause: &str) -> Error {
    let diagnostic = Diagnostic::new("procedure/recorded", "a line is not a recorded session")
        .at(grammata::Place::LineColumn { line, column: 1 })
        .cause(cause)
        .allowed("a JSON object with `id`, `kind`, `tasks` and `events`, which are those of a trace")
        .help("docs/procedures.md has the form of events");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// The error that no workflow is given for a session.
pub(super) fn no_workflow() -> Error {
    let diagnostic = Diagnostic::new("procedure/none", "a session needs a procedure").help("give one");
    Error::new(ErrorKind::Usage, diagnostic)
}
