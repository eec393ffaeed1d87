//! The error type of the fallible public functions of all crates.

use crate::diagnostic::{Diagnostic, Place, Source, excerpt};
use crate::limits::kind::LimitKind;
use std::fmt;

/// The category of an error, for callers that branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ErrorKind {
    /// A grammar, schema or spec is invalid or describes nothing; its author can correct it.
    Grammar,
    /// A tokenizer or vocabulary cannot be read or is not exact.
    Vocabulary,
    /// A limit of [`Limits`](crate::Limits) was exceeded.
    Limit,
    /// A token or text is not allowed at its place.
    Rejected,
    /// The caller used the library wrongly (a buffer too short, a token out of range).
    Usage,
    /// A language model cannot be loaded or run.
    Model,
    /// A file cannot be read or written.
    Io,
}

/// An error: a kind, and one or more [`Diagnostic`]s of one source. It is boxed to keep results small.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    first: Diagnostic,
    more: Vec<Diagnostic>,
    is_cut: bool,
}

impl Error {
    /// Creates an error of `kind` with one diagnostic.
    pub fn new(kind: ErrorKind, diagnostic: Diagnostic) -> Error {
        Error(Box::new(Inner { kind, first: diagnostic, more: Vec::new(), is_cut: false }))
    }

    /// Creates the error `io/file` of a file at `path` that could not be read or written.
    pub fn io(path: &std::path::Path, cause: &std::io::Error) -> Error {
        let path = path.display().to_string();
        let diagnostic = Diagnostic::new("io/file", format!("cannot use the file `{}`", excerpt(&path)))
            .in_file(path)
            .cause(cause)
            .help("check that the path is right and that the file may be read (or written)");
        Error::new(ErrorKind::Io, diagnostic)
    }

    /// Returns the kind; with several diagnostics, that of the first.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The first diagnostic: code, place, what was found and allowed, and help.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0.first
    }

    /// Returns all diagnostics, in the order of the source. A parser with error recovery reports up to 20.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        std::iter::once(&self.0.first).chain(&self.0.more)
    }

    /// Whether the parser stopped at its maximum number of errors, so that the source may have more.
    pub fn is_cut(&self) -> bool {
        self.0.is_cut
    }

    /// The first diagnostic's stable code.
    pub fn code(&self) -> &'static str {
        self.diagnostic().code()
    }

    /// The limit of [`Limits`](crate::Limits) that was exceeded; with several diagnostics, that of the first. `None` if
    /// the error is not a [`Limit`](ErrorKind::Limit), or its bound cannot be configured.
    pub fn limit(&self) -> Option<LimitKind> {
        self.diagnostic().limit_kind()
    }

    /// Adds to each diagnostic that has no source line yet the line of `source` that contains its place, as
    /// [`Source::locate`] does.
    pub fn in_source(mut self, source: &Source<'_>) -> Error {
        let inner = &mut *self.0;
        source.locate(std::iter::once(&mut inner.first).chain(&mut inner.more));
        self
    }

    /// Sets the file name of each diagnostic that does not have one.
    pub fn in_file(self, name: &str) -> Error {
        self.map(|diagnostic| match diagnostic.file() {
            None => diagnostic.in_file(name),
            Some(_) => diagnostic,
        })
    }

    /// Sets the place of each diagnostic whose place is [`Place::Whole`].
    pub fn or_at(self, place: &Place) -> Error {
        self.map(|diagnostic| match diagnostic.place() {
            Place::Whole => diagnostic.at(place.clone()),
            _ => diagnostic,
        })
    }

    /// Applies `change` to every diagnostic.
    pub fn map(mut self, change: impl Fn(Diagnostic) -> Diagnostic) -> Error {
        let inner = *self.0;
        self.0 = Box::new(Inner {
            first: change(inner.first),
            more: inner.more.into_iter().map(change).collect(),
            ..inner
        });
        self
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {self}", self.kind())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error{}", self.0.first)?;
        for diagnostic in &self.0.more {
            write!(f, "\nerror{diagnostic}")?;
        }
        if self.is_cut() { write!(f, "\n{CUT}") } else { Ok(()) }
    }
}

impl std::error::Error for Error {}

/// Last line of the text of an error that [is cut](Error::is_cut).
pub const CUT: &str = "there may be more errors: reading stopped here";

/// Errors of one source, collected by a parser with error recovery.
#[derive(Debug, Default)]
pub struct Errors(Vec<Error>);

impl Errors {
    /// Maximum number of diagnostics that the combined error reports.
    pub const MOST: usize = 20;

    /// Adds an error. Does nothing if [`is_full`](Errors::is_full).
    pub fn push(&mut self, error: Error) {
        if self.0.len() <= Errors::MOST {
            self.0.push(error);
        }
    }

    /// Returns the value of a result. If it is an error, adds the error and returns `None`.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns whether more than [`MOST`](Errors::MOST) errors were added, so that the parser should stop.
    pub fn is_full(&self) -> bool {
        self.0.len() > Errors::MOST
    }

    /// Combines the different errors into one error of at most [`MOST`](Errors::MOST) diagnostics, in the order of their lines
    /// and columns. Errors without a line are first. The error [is cut](Error::is_cut) if there may be more errors.
    ///
    /// # Errors
    /// The combined error, if any was added.
    pub fn finish(mut self) -> Result<()> {
        let mut is_cut = self.is_full() || self.0.iter().any(Error::is_cut);
        self.0.sort_by_key(|error| match error.diagnostic().place() {
            Place::LineColumn { line, column } => (*line, *column),
            _ => (0, 0),
        });
        // what is read twice has the same errors twice
        self.0.dedup();
        let mut errors = self.0.into_iter();
        let Some(mut first) = errors.next() else { return Ok(()) };
        for error in errors {
            let inner = *error.0;
            first.0.more.push(inner.first);
            first.0.more.extend(inner.more);
        }
        is_cut |= first.0.more.len() >= Errors::MOST;
        first.0.more.truncate(Errors::MOST - 1);
        first.0.is_cut = is_cut;
        Err(first)
    }
}

/// A result whose error is [`Error`] by default; used by all crates of the project.
pub type Result<T, E = Error> = std::result::Result<T, E>;
