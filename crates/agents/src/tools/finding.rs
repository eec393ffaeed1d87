//! Findings about a tool or a document that were made while reading it.

use grammata::diagnostic::Diagnostic;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The tool cannot be called; without a tool, a part of the document is invalid.
    Error,
    /// A part of the tool or of the document may not mean what its author intended. A warning does not prevent calls.
    Warning,
}

/// A finding about a tool or a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How serious the finding is.
    pub severity: Severity,
    /// The tool concerned, as an index into [`ToolSet::tools`](super::ToolSet::tools); `None` if the finding is about a
    /// document.
    pub tool: Option<usize>,
    /// The document concerned, as an index into the documents that were read.
    pub document: usize,
    /// Code, place, what was found and allowed, and help.
    pub diagnostic: Diagnostic,
}
