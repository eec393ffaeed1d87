//! What reading found out about a tool or a document.

use grammata::diagnostic::Diagnostic;

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The tool that it is about cannot be called; without one, the document is not as it should be.
    Error,
    /// The tool can be called and may not mean what its author meant.
    Warning,
}

/// A finding, in the order of the documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How serious it is.
    pub severity: Severity,
    /// The tool that it is about, an index into [`ToolSet::tools`](super::ToolSet::tools).
    pub tool: Option<usize>,
    /// The document that it is about, an index into what was read.
    pub document: usize,
    /// Code, place, what was found and allowed, and help.
    pub diagnostic: Diagnostic,
}
