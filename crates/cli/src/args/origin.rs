//! The path, the kind and the text of a grammar, for reports and messages.

use crate::io::messages;
use crate::io::paths::name_of;
use grammata::diagnostic::{self, Diagnostic};
use grammata::error::Error;
use grammata::syntax::{Notation, automaton_spec};
use serde::Serialize;
use std::path::Path;

/// The name, in place of a path, of a grammar that is given with `--expression`.
pub(crate) const EXPRESSION: &str = "--expression";

/// The path and the kind of a grammar.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Origin {
    /// The path as it was given.
    path: String,
    /// A value of `--kind`, or `mask-file`.
    kind: &'static str,
    /// The name of the kind in text output.
    #[serde(skip)]
    about: String,
}

impl Origin {
    pub(crate) fn of_notation(path: &Path, kind: Notation) -> Origin {
        Origin { path: path.display().to_string(), kind: kind.id(), about: kind.to_string() }
    }

    pub(crate) fn of_mask_file(path: &Path) -> Origin {
        Origin { path: path.display().to_string(), kind: "mask-file", about: "mask file".to_owned() }
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.path, self.about)
    }
}

/// The text of a grammar, its name and its notation.
#[derive(Debug)]
pub(crate) struct Text {
    name: String,
    pub(crate) text: String,
    notation: diagnostic::Notation,
}

impl Text {
    pub(crate) fn new(file: &Path, text: String, kind: Notation) -> Text {
        let notation = match kind {
            Notation::JsonSchema | Notation::StructuralTag => diagnostic::Notation::Json,
            Notation::Gbnf => diagnostic::Notation::Gbnf,
            Notation::Regex | Notation::Lark => diagnostic::Notation::Text,
            // text after a header is a template, for which pointers into the spec are meaningless
            Notation::Spec if text.lines().any(|line| line.trim_end() == "# ---") => {
                diagnostic::Notation::Text
            }
            Notation::Spec => format_of(file, &text).into(),
        };
        Text { name: name_of(file), text, notation }
    }

    pub(crate) fn locate(&self, error: Error) -> Error {
        error.in_source(&diagnostic::Source::new(&self.text, self.notation)).in_file(&self.name)
    }

    /// Length of the text in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Shows warnings with their lines and the name of the file.
    pub(crate) fn warn(&self, mut warnings: Vec<Diagnostic>) {
        diagnostic::Source::new(&self.text, self.notation).locate(&mut warnings);
        for warning in warnings {
            messages::warning(&warning.in_file(self.name.clone()));
        }
    }
}

/// Returns the format of a spec. The extensions `.json` and `.toml` of its file decide; with any other name, text that
/// begins with a brace is JSON and all other text is TOML. No TOML begins with a brace, but a JSON spec with a template
/// header is taken for TOML.
pub(crate) fn format_of(file: &Path, text: &str) -> automaton_spec::Format {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("json") => automaton_spec::Format::Json,
        Some("toml") => automaton_spec::Format::Toml,
        _ if text.trim_start().starts_with('{') => automaton_spec::Format::Json,
        _ => automaton_spec::Format::Toml,
    }
}
