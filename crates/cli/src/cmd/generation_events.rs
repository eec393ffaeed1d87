//! `grammata generate --events`: the values of a JSON output, as they begin and end.

use grammata::error::{Error, Result};
use grammata::mask::CompiledGrammar;
use grammata::matcher::{self, EventMatcher, JsonKind, Part};
use grammata::vocabulary::TokenId;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Follows the tokens of an output and writes their events to a file, a line of JSON each.
pub(crate) struct Events<'a> {
    matcher: EventMatcher,
    file: File,
    path: &'a Path,
}

#[derive(Serialize)]
struct Report {
    event: &'static str,
    kind: &'static str,
    pointer: String,
    /// The positions of the first byte and after the last byte.
    bytes: [usize; 2],
    /// The index of the token that reports the event.
    token: usize,
    /// At the end of a value without values in it, its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl<'a> Events<'a> {
    pub(crate) fn new(compiled: &CompiledGrammar, path: &'a Path) -> Result<Events<'a>> {
        let file = File::create(path).map_err(|cause| Error::io(path, &cause))?;
        Ok(Events { matcher: compiled.json_events(), file, path })
    }

    /// Follows a token and writes its events.
    pub(crate) fn token(&mut self, token: u32) -> Result<()> {
        self.matcher.accept_token(TokenId::new(token))?;
        self.write()
    }

    /// Writes the events of the end of an output that is complete, unless its last token was the end.
    pub(crate) fn end(&mut self) -> Result<()> {
        let end = self.matcher.compiled().end_tokens().first().copied();
        if let Some(end) = end {
            self.matcher.try_accept(end)?;
        }
        self.write()
    }

    fn write(&mut self) -> Result<()> {
        // whole texts are short next to the model's work
        let text = self.matcher.bytes();
        let mut lines = Vec::new();
        for event in self.matcher.new_events() {
            serde_json::to_writer(&mut lines, &Report::new(event, &text))
                .map_err(|cause| Error::io(self.path, &cause.into()))?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines).map_err(|cause| Error::io(self.path, &cause))
    }
}

impl Report {
    fn new(event: matcher::Event<'_>, text: &[u8]) -> Report {
        let bytes = event.bytes();
        let is_scalar = !matches!(event.part(), Part::Json(JsonKind::Object | JsonKind::Array));
        let value = text.get(bytes.clone()).filter(|_| event.is_end() && is_scalar);
        Report {
            event: if event.is_end() { "end" } else { "begin" },
            kind: event.part().kind(),
            pointer: event.pointer(),
            bytes: [bytes.start, bytes.end],
            token: event.step(),
            text: value.map(|value| String::from_utf8_lossy(value).into_owned()),
        }
    }
}
