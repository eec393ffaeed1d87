//! All static checks of a file, and their findings.

use super::{outcomes, read};
use crate::document::Format;
use crate::procedures::automaton::bounds::Bounds;
use crate::procedures::automaton::supervisor::Size;
use crate::procedures::language::errors::{Finding, Findings};
use crate::procedures::semantics::procedure::Procedure;
use grammata::diagnostic::Place;
use grammata::error::{Error, ErrorKind, Result};
use grammata::limits::Limits;
use std::path::Path;

/// The result of the static checks of a file.
#[derive(Debug)]
pub struct Report {
    /// All findings, in the order of their lines and columns; those without a line come first.
    pub findings: Vec<Finding>,
    /// The procedure, if the file has no errors.
    pub procedure: Option<Procedure>,
    /// The size of the automaton in the mode `guarded`, without numbers of calls; `None` if the file has errors that
    /// prevent its construction, or if a limit did.
    pub size: Option<Size>,
    /// The maximum number of acts of an agent that takes only offered steps, in the mode `guarded`. `None` if there is
    /// no `size`, if the text says no inform, or if results or decisions can block the procedure.
    pub bounds: Option<Bounds>,
    /// The error of the limit that prevented the check of the automaton, if any.
    pub unchecked: Option<Error>,
}

/// Reads a procedure that names no documents of tools, and runs all static checks. Errors of the file are findings.
///
/// # Errors
/// The limits `source_bytes`, `procedure_nodes` and `compile_work`, if the file cannot be read within them.
pub fn check(text: &str, format: Format, limits: &Limits) -> Result<Report> {
    check_in(text, format, None, limits)
}

/// [Checks](check) a procedure of a folder, as [`Procedure::read_in`] reads it.
///
/// # Errors
/// Those of [`check`].
pub fn check_in(text: &str, format: Format, folder: Option<&Path>, limits: &Limits) -> Result<Report> {
    let mut findings = Findings::default();
    let procedure = read::read(text, format, folder, limits, &mut findings)?;
    let mut report =
        Report { findings: Vec::new(), procedure: None, size: None, bounds: None, unchecked: None };
    if let Some(procedure) = procedure.filter(|_| !findings.has_errors()) {
        match outcomes::check(&procedure, limits, &mut findings) {
            Ok((size, bounds)) => (report.size, report.bounds) = (Some(size), bounds),
            Err(error) if error.kind() == ErrorKind::Limit => report.unchecked = Some(error),
            Err(error) => return Err(error),
        }
        report.procedure = Some(procedure).filter(|_| !findings.has_errors());
    }
    report.findings = findings.0;
    report.findings.sort_by_key(|finding| match finding.diagnostic.place() {
        Place::LineColumn { line, column } => (*line, *column),
        _ => (0, 0),
    });
    Ok(report)
}
