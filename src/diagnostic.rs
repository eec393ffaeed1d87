//! Diagnostics: what every error and warning about input from outside looks like.
//!
//! A diagnostic has a code (`room/what`), a message, a place, what was found, what is allowed there, and
//! one line of help. Each room makes its own with named constructors kept beside its code (a file
//! `errors.rs`), so that codes and wording live in one place a room.

use std::fmt;

/// Where in the input a diagnostic points.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
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
    /// A JSON Pointer (RFC 6901) into a JSON or TOML document; `""` is its root. In a document beside it: its
    /// URI with a pointer as the fragment.
    Pointer(String),
    /// A byte offset, from 0.
    Byte(usize),
    /// A rule of a grammar, by name.
    Rule(String),
}

impl Place {
    /// The line and column of byte `offset` of `text`. An offset past the end points just after the end,
    /// one inside a character points to that character.
    pub fn in_text(text: &str, offset: usize) -> Place {
        let offset = text.floor_char_boundary(offset.min(text.len()));
        let before = &text[..offset];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let column = before[start..].chars().count() + 1;
        Place::LineColumn { line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole => f.write_str("the whole input"),
            Place::LineColumn { line, column } => write!(f, "line {line}, column {column}"),
            Place::Pointer(pointer) if pointer.is_empty() => f.write_str("# (the root)"),
            Place::Pointer(pointer) if pointer.starts_with('/') => write!(f, "#{pointer}"),
            Place::Pointer(pointer) => f.write_str(pointer),
            Place::Byte(offset) => write!(f, "byte {offset}"),
            Place::Rule(name) => write!(f, "rule `{}`", excerpt(name)),
        }
    }
}

/// A message about input from outside: an error, or a warning that the caller can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    code: &'static str,
    message: String,
    place: Place,
    found: Option<String>,
    allowed: Option<String>,
    help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic with a stable code of the form `room/what` and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        Diagnostic { code, message, place: Place::Whole, found: None, allowed: None, help: None }
    }

    /// Adds the place.
    pub fn at(mut self, place: Place) -> Diagnostic {
        self.place = place;
        self
    }

    /// Adds what was found; long text is cut.
    pub fn found(mut self, found: impl AsRef<str>) -> Diagnostic {
        self.found = Some(excerpt(found.as_ref()));
        self
    }

    /// Adds what is allowed there.
    pub fn allowed(mut self, allowed: impl Into<String>) -> Diagnostic {
        self.allowed = Some(allowed.into());
        self
    }

    /// Adds one line of help.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// The stable code, `room/what`.
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

    /// What was found, if that says something.
    pub fn found_text(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// What is allowed there.
    pub fn allowed_text(&self) -> Option<&str> {
        self.allowed.as_deref()
    }

    /// One line of help.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {}", self.code, self.message)?;
        if self.place != Place::Whole {
            write!(f, "\n  at: {}", self.place)?;
        }
        for (name, text) in [("found", &self.found), ("allowed", &self.allowed), ("help", &self.help)] {
            if let Some(text) = text {
                write!(f, "\n  {name}: {text}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostic {}

/// At most 80 characters of `text`, control characters escaped, cut at a character boundary.
pub fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == 80 {
            out.push('…');
            break;
        }
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

/// Bytes as text a person can read: UTF-8 where it is UTF-8, `\xNN` elsewhere; cut like [`excerpt`].
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
