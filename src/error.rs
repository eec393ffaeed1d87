//! The umbrella error: one opaque type for every fallible public function.

use crate::diagnostic::Diagnostic;
use std::fmt;

/// What kind of thing went wrong, for callers that branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A grammar, schema or spec cannot be read or means nothing: its author can mend it.
    Grammar,
    /// A tokenizer or vocabulary cannot be read or is not exact.
    Vocabulary,
    /// A limit of [`Limits`](crate::Limits) was exceeded.
    Limit,
    /// A token or text is not allowed where it was offered.
    Rejected,
    /// The caller used the library in a way that cannot work (a buffer too short, a token out of range).
    Usage,
    /// A language model cannot be loaded or run.
    Model,
    /// A file cannot be read or written.
    Io,
}

/// An error of this crate: a [`Diagnostic`] with a kind. Boxed, so that results stay small.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<(ErrorKind, Diagnostic)>);

impl Error {
    /// An error of `kind` that says what `diagnostic` says.
    pub fn new(kind: ErrorKind, diagnostic: Diagnostic) -> Error {
        Error(Box::new((kind, diagnostic)))
    }

    /// A file at `path` that could not be read or written.
    pub fn io(path: &std::path::Path, cause: &std::io::Error) -> Error {
        let diagnostic = Diagnostic::new("io/file", format!("cannot use the file `{}`", path.display()))
            .found(cause.to_string())
            .help("check that the path is right and that the file may be read (or written)");
        Error::new(ErrorKind::Io, diagnostic)
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.0
    }

    /// Code, place, what was found and allowed, and help.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0.1
    }

    /// The diagnostic's stable code.
    pub fn code(&self) -> &'static str {
        self.diagnostic().code()
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} error {}", self.kind(), self.diagnostic())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error{}", self.diagnostic())
    }
}

impl std::error::Error for Error {}

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;
