//! Diagnostics: the common form of errors and warnings about input from outside.
//!
//! A diagnostic has a code (`area/problem`), a message, a place, what was found, what is allowed there, what caused it,
//! and one line of help. Each area of the code builds its diagnostics with named constructors in a file `errors.rs`, most of
//! them rows of [`errors!`](crate::errors), so that its codes and wording are in one place. Front ends add the source line of a diagnostic's place
//! ([`Source::locate`]); the caller that read the source from a file adds the name of the file.
//!
//! Texts of input reach terminals and logs through diagnostics, so no text of a diagnostic has control characters, line
//! ends or marks of direction: setters pass each text through [`visible()`], and [`Place`] does when it is displayed.

mod pointers;
mod settings;
mod similar;
mod snippet;
mod source;
mod visible;

pub use settings::renamed;
pub use similar::{did_you_mean, did_you_mean_field, similar};
pub use snippet::Snippet;
pub use source::{Notation, Source};
pub use visible::{is_hidden, visible, visible_json, visible_lines, write_visible_json};

use crate::limits::kind::LimitKind;
use std::borrow::Cow;
use std::fmt;

/// Where in the input a diagnostic points.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Place {
    /// No place: the diagnostic is about the input as a whole.
    #[default]
    Whole,
    /// A line and a column, both counted from 1; the column counts characters.
    LineColumn {
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
    },
    /// A JSON Pointer (RFC 6901) into a JSON or TOML document; `""` is its root. For a place in another document, the
    /// URI of that document with a pointer as its fragment.
    Pointer(String),
    /// A byte offset, from 0.
    Byte(usize),
    /// A rule of a grammar, by name.
    Rule(String),
}

impl Place {
    /// Returns the line and column of byte `offset` of `text`. An offset past the end gives the place just after the
    /// end; an offset inside a character gives that character.
    pub fn in_text(text: &str, offset: usize) -> Place {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let before = &text[..offset];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let column = before[start..].chars().count() + 1;
        Place::LineColumn { line, column }
    }
}

/// Writes the place on one line, with control characters escaped.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => f.write_str("the whole input"),
            Place::LineColumn { line, column } => write!(f, "line {line}, column {column}"),
            Place::Pointer(pointer) if pointer.is_empty() => f.write_str("# (the root)"),
            Place::Pointer(pointer) if pointer.starts_with('/') => write!(f, "#{}", visible(pointer)),
            Place::Pointer(pointer) => f.write_str(&visible(pointer)),
            Place::Byte(offset) => write!(f, "byte {offset}"),
            Place::Rule(name) => write!(f, "rule `{}`", excerpt(name)),
        }
    }
}

/// A message about input from outside: an error, or a warning that the caller can see.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Diagnostic {
    code: &'static str,
    message: String,
    place: Place,
    file: Option<String>,
    snippet: Option<Box<Snippet>>,
    found: Option<String>,
    cause: Option<String>,
    allowed: Option<String>,
    help: Option<String>,
    limit: Option<LimitKind>,
}

impl Diagnostic {
    /// Creates a diagnostic with a stable code of the form `area/problem` and a message. Its place is [`Place::Whole`].
    pub fn new(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            message: shown(message),
            place: Place::Whole,
            file: None,
            snippet: None,
            found: None,
            cause: None,
            allowed: None,
            help: None,
            limit: None,
        }
    }

    /// Sets the place in the input.
    pub fn at(mut self, place: Place) -> Diagnostic {
        self.place = place;
        self
    }

    /// Sets the name of the file that contains the place.
    pub fn in_file(mut self, name: impl Into<String>) -> Diagnostic {
        self.file = Some(shown(name));
        self
    }

    /// Sets what was found: an excerpt of the input, truncated to 80 characters.
    pub fn found(mut self, found: impl AsRef<str>) -> Diagnostic {
        self.found = Some(excerpt(found.as_ref()));
        self
    }

    /// Sets the message of another library or the operating system. Its lines are joined by `; ` and truncated to 2,000
    /// characters.
    pub fn cause(mut self, cause: impl fmt::Display) -> Diagnostic {
        let lines = cause.to_string();
        let lines: Vec<&str> = lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        self.cause = Some(cut(&lines.join("; "), CAUSE));
        self
    }

    /// Sets what is allowed at the place.
    pub fn allowed(mut self, allowed: impl Into<String>) -> Diagnostic {
        self.allowed = Some(shown(allowed));
        self
    }

    /// Sets one line of help for the user.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(shown(help));
        self
    }

    /// Returns the diagnostic with other names of settings in its help and in what is allowed: those of a program or of
    /// another language in place of the library's. [`renamed`] describes `named`.
    #[must_use]
    pub fn renamed(&self, named: impl Fn(&str) -> Option<String>) -> Diagnostic {
        let mut made = self.clone();
        for text in [&mut made.allowed, &mut made.help].into_iter().flatten() {
            *text = shown(renamed(text, &named));
        }
        made
    }

    /// Sets the limit that was exceeded; `None` for no limit.
    pub fn limit(mut self, kind: impl Into<Option<LimitKind>>) -> Diagnostic {
        self.limit = kind.into();
        self
    }

    /// Returns the stable code, `area/problem`.
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// The message, one line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The place in the input.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The name of the file that contains the place, if known.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Returns the source line of the place. `None` before [`Source::locate`] or [`Source::locate_with`] was called, if
    /// the place is not in the source text, or for diagnostics after the first 100 of a source.
    pub fn snippet(&self) -> Option<&Snippet> {
        self.snippet.as_deref()
    }

    /// Returns what was found, if it is set.
    pub fn found_text(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// Returns the message of another library or the operating system, if there is one.
    pub fn cause_text(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    /// Returns what is allowed at the place, if it is set.
    pub fn allowed_text(&self) -> Option<&str> {
        self.allowed.as_deref()
    }

    /// Returns one line of help for the user, if there is one.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The limit that was exceeded, if any.
    pub fn limit_kind(&self) -> Option<LimitKind> {
        self.limit
    }

    /// Returns the file, the line and the place, each if it is known; `None` if nothing is known.
    fn location(&self) -> Option<String> {
        let place = match &self.place {
            Place::Pointer(pointer) if pointer.is_empty() => "#".to_owned(),
            place => place.to_string(),
        };
        let is_text = matches!(self.place, Place::LineColumn { .. } | Place::Whole);
        let line = match (&self.snippet, &self.place) {
            (Some(snippet), _) => Some((snippet.line(), snippet.column())),
            (None, Place::LineColumn { line, column }) => Some((*line, *column)),
            (None, _) => None,
        };
        let rendered = match &self.snippet {
            Some(snippet) if snippet.is_rendered() => " of the rendered template",
            _ => "",
        };
        Some(match (&self.file, line) {
            (Some(file), Some((line, column))) => {
                let file = excerpt(file);
                let at = match rendered {
                    "" => format!("{file}:{line}:{column}"),
                    _ => format!("{file}, line {line}, column {column}{rendered}"),
                };
                if is_text { at } else { format!("{at} ({place})") }
            }
            (None, Some((line, column))) if is_text => format!("line {line}, column {column}{rendered}"),
            (None, Some((line, column))) => format!("{place} (line {line}, column {column}{rendered})"),
            (Some(file), None) if self.place == Place::Whole => excerpt(file),
            (Some(file), None) => format!("{}, {place}", excerpt(file)),
            (None, None) if self.place == Place::Whole => return None,
            (None, None) => self.place.to_string(),
        })
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)?;
        if let Some(location) = self.location() {
            write!(f, "\n  at: {location}")?;
        }
        if let Some(snippet) = &self.snippet {
            write!(f, "\n{snippet}")?;
        }
        let notes = [
            ("found", &self.found),
            ("cause", &self.cause),
            ("allowed", &self.allowed),
            ("help", &self.help),
        ];
        for (name, text) in notes {
            if let Some(text) = text {
                write!(f, "\n  {name}: {text}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// Returns a text of a diagnostic, on one line and with control characters escaped.
fn shown(text: impl Into<String>) -> String {
    let text = text.into();
    match visible(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

/// Maximum length of an excerpt, in characters.
const EXCERPT: usize = 80;
/// Maximum length of a cause, in characters; other libraries quote their input.
const CAUSE: usize = 2_000;

/// Returns the first 80 characters of `text`, with control characters escaped, and `…` after them if there are more.
pub fn excerpt(text: &str) -> String {
    cut(text, EXCERPT)
}

/// Returns the first `most` characters of `text`, with control characters escaped, and `…` after them if there are
/// more.
fn cut(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == most {
            out.push('…');
            break;
        }
        if is_hidden(c) { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Returns the first 400 bytes as readable text: UTF-8 as it is, other bytes as `\xNN`; then truncated and escaped like
/// [`excerpt`].
pub fn excerpt_bytes(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes[..bytes.len().min(400)].utf8_chunks() {
        out.push_str(chunk.valid());
        for b in chunk.invalid() {
            out.push_str(&format!("\\x{b:02X}"));
        }
    }
    excerpt(&out)
}
