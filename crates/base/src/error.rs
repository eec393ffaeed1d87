//! The umbrella error: one opaque type for every fallible public function.

use crate::diagnostic::{Diagnostic, Place, Source, excerpt};
use crate::limits::kind::LimitKind;
use std::fmt;

/// What kind of thing went wrong, for callers that branch on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ErrorKind {
    /// A grammar, schema or spec cannot be read or means nothing: its author can correct it.
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

/// An error of this crate: one [`Diagnostic`] or several of one source, with a kind. Boxed, so that results stay small.
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
    /// An error of `kind` that says what `diagnostic` says.
    pub fn new(kind: ErrorKind, diagnostic: Diagnostic) -> Error {
        Error(Box::new(Inner { kind, first: diagnostic, more: Vec::new(), is_cut: false }))
    }

    /// A file at `path` that could not be read or written.
    pub fn io(path: &std::path::Path, cause: &std::io::Error) -> Error {
        let path = path.display().to_string();
        let diagnostic = Diagnostic::new("io/file", format!("cannot use the file `{}`", excerpt(&path)))
            .in_file(path)
            .cause(cause)
            .help("check that the path is right and that the file may be read (or written)");
        Error::new(ErrorKind::Io, diagnostic)
    }

    /// The kind: of several diagnostics, that of the first.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Code, place, what was found and allowed, and help: of several diagnostics, those of the first.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0.first
    }

    /// All diagnostics, in the order of the source. A reader that can go on after an error reports up to 20.
    pub fn diagnostics(&self) -> impl Iterator<Item = &Diagnostic> {
        std::iter::once(&self.0.first).chain(&self.0.more)
    }

    /// Whether the reader stopped at its bound on errors, so that the source may have more.
    pub fn is_cut(&self) -> bool {
        self.0.is_cut
    }

    /// The first diagnostic's stable code.
    pub fn code(&self) -> &'static str {
        self.diagnostic().code()
    }

    /// The cap of [`Limits`](crate::Limits) that was exceeded: of several diagnostics, that of the first. `None` where the error
    /// is no [`Limit`](ErrorKind::Limit), or its bound is none that can be set.
    pub fn limit(&self) -> Option<LimitKind> {
        self.diagnostic().limit_kind()
    }

    /// Gives each diagnostic the line of `source` that its place is in.
    pub fn in_source(mut self, source: &Source<'_>) -> Error {
        let inner = &mut *self.0;
        source.locate(std::iter::once(&mut inner.first).chain(&mut inner.more));
        self
    }

    /// Gives the diagnostics that name no file this one.
    pub fn in_file(self, name: &str) -> Error {
        self.map(|diagnostic| match diagnostic.file() {
            None => diagnostic.in_file(name),
            Some(_) => diagnostic,
        })
    }

    /// Gives the diagnostics that have no place this one.
    pub fn or_at(self, place: &Place) -> Error {
        self.map(|diagnostic| match diagnostic.place() {
            Place::Whole => diagnostic.at(place.clone()),
            _ => diagnostic,
        })
    }

    /// The error with every diagnostic changed.
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

/// What is said of an error that [is cut](Error::is_cut).
pub const CUT: &str = "there may be more errors: reading stopped here";

/// Errors of one source, collected by a reader that can go on after one.
#[derive(Debug, Default)]
pub struct Errors(Vec<Error>);

impl Errors {
    /// The most that are reported.
    pub const MOST: usize = 20;

    /// Adds an error.
    pub fn push(&mut self, error: Error) {
        if self.0.len() <= Errors::MOST {
            self.0.push(error);
        }
    }

    /// The value of a result; its error is added.
    pub fn take<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Whether there are enough for the reader to stop.
    pub fn is_full(&self) -> bool {
        self.0.len() > Errors::MOST
    }

    /// All errors as one, in the order of their lines.
    ///
    /// # Errors
    /// If there are any.
    pub fn finish(mut self) -> Result<()> {
        let mut is_cut = self.is_full() || self.0.iter().any(Error::is_cut);
        self.0.sort_by_key(|error| match error.diagnostic().place() {
            Place::LineColumn { line, column } => (*line, *column),
            _ => (0, 0),
        });
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

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;
