//! The notations of grammars, and the text of a grammar with its notation and options.
//!
//! A front end consists of its folder, a variant of [`Notation`] with a row in the table here, and a variant of
//! [`Source`].

#[cfg(feature = "spec")]
use super::automaton_spec;
use super::{gbnf, json_schema, lark, regex, structural_tag};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::Grammar;
#[cfg(feature = "spec")]
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// The notation of a grammar. Programs that read files must decide for each notation, so a new one breaks their `match`
/// on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// JSON Schema.
    JsonSchema,
    /// GBNF, the notation of llama.cpp.
    Gbnf,
    /// A regular expression.
    Regex,
    /// A structural tag: the JSON in which servers ask for tool calls.
    StructuralTag,
    /// The notation of the Python package Lark.
    Lark,
    /// An automaton spec, with the feature `spec`.
    #[cfg(feature = "spec")]
    Spec,
}

/// The facts about one notation.
struct Row {
    notation: Notation,
    id: &'static str,
    name: &'static str,
    about: &'static str,
    extensions: &'static [&'static str],
    folder_files: &'static [&'static str],
}

const ROWS: &[Row] = &[
    Row {
        notation: Notation::JsonSchema,
        id: "json-schema",
        name: "JSON Schema",
        about: "A JSON Schema",
        extensions: &["json"],
        folder_files: &["schema.json"],
    },
    Row {
        notation: Notation::Gbnf,
        id: "gbnf",
        name: "GBNF",
        about: "A grammar in llama.cpp's notation",
        extensions: &["gbnf"],
        folder_files: &["grammar.gbnf"],
    },
    Row {
        notation: Notation::Regex,
        id: "regex",
        name: "regular expression",
        about: "A regular expression that describes whole texts",
        extensions: &["regex"],
        folder_files: &["pattern.regex"],
    },
    Row {
        notation: Notation::StructuralTag,
        id: "structural-tag",
        name: "structural tag",
        about: "A structural tag: the JSON in which servers ask for tool calls",
        extensions: &["json"],
        folder_files: &["tag.json"],
    },
    Row {
        notation: Notation::Lark,
        id: "lark",
        name: "Lark grammar",
        about: "A grammar in the notation of the Python package Lark",
        extensions: &["lark"],
        folder_files: &["grammar.lark"],
    },
    #[cfg(feature = "spec")]
    Row {
        notation: Notation::Spec,
        id: "spec",
        name: "automaton spec",
        about: "A finite or pushdown automaton or a context-free grammar, in TOML or JSON",
        extensions: &["toml", "json"],
        folder_files: &["spec.toml", "spec.json"],
    },
];

/// Each row is at the index of its variant.
const _: () = {
    let mut place = 0;
    while place < ROWS.len() {
        assert!(ROWS[place].notation as usize == place);
        place += 1;
    }
};

impl Notation {
    /// All notations.
    pub const ALL: [Notation; ROWS.len()] = {
        let mut all = [Notation::JsonSchema; ROWS.len()];
        let mut place = 0;
        while place < ROWS.len() {
            all[place] = ROWS[place].notation;
            place += 1;
        }
        all
    };

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// A short name without spaces, for use as a command line argument.
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// The name as used in a sentence.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// A one-line description of grammars in this notation.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// The file extensions, the usual one first. Other notations may share them.
    pub fn extensions(self) -> &'static [&'static str] {
        self.row().extensions
    }

    /// The file names of the grammar within a folder that describes a grammar, the usual one first.
    pub fn folder_files(self) -> &'static [&'static str] {
        self.row().folder_files
    }

    /// Determines the notation of a file from the extension of its name; where several notations share it, from its
    /// text. `None` if no notation has the extension.
    pub fn of_file(path: &Path, text: &str) -> Option<Notation> {
        let extension = path.extension().and_then(|extension| extension.to_str())?;
        let mut all = Notation::ALL.into_iter().filter(|notation| notation.extensions().contains(&extension));
        let first = all.next();
        match first {
            Some(Notation::JsonSchema) if is_structural_tag(text) => Some(Notation::StructuralTag),
            #[cfg(feature = "spec")]
            Some(Notation::JsonSchema) if is_spec(text) => Some(Notation::Spec),
            first => first,
        }
    }

    /// The grammar in the text of a file: without the line end that editors add to the last line, which is not part of
    /// a pattern.
    pub fn in_file(self, text: &str) -> &str {
        match text.strip_suffix('\n') {
            Some(text) if self == Notation::Regex => text.strip_suffix('\r').unwrap_or(text),
            _ => text,
        }
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether JSON text is a structural tag: it says so, or has the two lists of the older form and does not say that it
/// is a schema.
fn is_structural_tag(text: &str) -> bool {
    // most schemas are recognised without parsing them
    let has = |field: &str| text.contains(field);
    if !(has("structural_tag") || has("\"structures\"") && has("\"triggers\"")) {
        return false;
    }
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(text) else { return false };
    let is_named = fields.get("type").is_some_and(|kind| kind == "structural_tag");
    is_named
        || (fields.get("structures").is_some_and(serde_json::Value::is_array)
            && !fields.contains_key("$schema"))
}

#[cfg(feature = "spec")]
/// Whether text is the spec of an automaton: JSON that has a string member `kind` and does not say that it is a schema,
/// or text that begins with `[` or `#` and is not JSON, as TOML with a header of parameters does.
fn is_spec(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Probe {
        kind: Option<String>,
        #[serde(rename = "$schema")]
        schema: Option<serde::de::IgnoredAny>,
    }
    if text.trim_start().starts_with(['[', '#']) {
        return serde_json::from_str::<serde::de::IgnoredAny>(text).is_err();
    }
    // text that is not JSON is left to the front end of JSON Schema, which reports the place and the cause
    serde_json::from_str::<Probe>(text).is_ok_and(|probe| probe.kind.is_some() && probe.schema.is_none())
}

/// The source of a grammar. Equal sources give equal grammars.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// A JSON Schema.
    JsonSchema(String, json_schema::Options),
    /// A GBNF grammar.
    Gbnf(String, gbnf::Options),
    /// A regular expression.
    Regex(String, regex::Options),
    /// A structural tag.
    StructuralTag(String, structural_tag::Options),
    /// A grammar in the notation of the Python package Lark.
    Lark(String, lark::Options),
    /// An automaton spec, with the feature `spec`.
    #[cfg(feature = "spec")]
    Spec(String, automaton_spec::Options),
}

impl Source {
    /// A text in the given notation, with the default options.
    pub fn new(notation: Notation, text: impl Into<String>) -> Source {
        let text = text.into();
        match notation {
            Notation::JsonSchema => Source::JsonSchema(text, json_schema::Options::default()),
            Notation::Gbnf => Source::Gbnf(text, gbnf::Options::default()),
            Notation::Regex => Source::Regex(text, regex::Options::default()),
            Notation::StructuralTag => Source::StructuralTag(text, structural_tag::Options::default()),
            Notation::Lark => Source::Lark(text, lark::Options::default()),
            #[cfg(feature = "spec")]
            Notation::Spec => Source::Spec(text, automaton_spec::Options::default()),
        }
    }

    /// A JSON Schema, with the default options.
    pub fn json_schema(schema: impl Into<String>) -> Source {
        Source::new(Notation::JsonSchema, schema)
    }

    /// A GBNF grammar, with the default options.
    pub fn gbnf(grammar: impl Into<String>) -> Source {
        Source::new(Notation::Gbnf, grammar)
    }

    /// A regular expression, with the default options.
    pub fn regex(pattern: impl Into<String>) -> Source {
        Source::new(Notation::Regex, pattern)
    }

    /// A structural tag, with the default options.
    pub fn structural_tag(tag: impl Into<String>) -> Source {
        Source::new(Notation::StructuralTag, tag)
    }

    /// A Lark grammar, with the default options.
    pub fn lark(grammar: impl Into<String>) -> Source {
        Source::new(Notation::Lark, grammar)
    }

    /// An automaton spec, with the default options.
    #[cfg(feature = "spec")]
    pub fn spec(spec: impl Into<String>) -> Source {
        Source::new(Notation::Spec, spec)
    }

    /// The text of the grammar.
    pub fn text(&self) -> &str {
        match self {
            Source::JsonSchema(text, _)
            | Source::Gbnf(text, _)
            | Source::Regex(text, _)
            | Source::StructuralTag(text, _)
            | Source::Lark(text, _) => text,
            #[cfg(feature = "spec")]
            Source::Spec(text, _) => text,
        }
    }

    /// The notation of the text.
    pub fn notation(&self) -> Notation {
        match self {
            Source::JsonSchema(..) => Notation::JsonSchema,
            Source::Gbnf(..) => Notation::Gbnf,
            Source::Regex(..) => Notation::Regex,
            Source::StructuralTag(..) => Notation::StructuralTag,
            Source::Lark(..) => Notation::Lark,
            #[cfg(feature = "spec")]
            Source::Spec(..) => Notation::Spec,
        }
    }
}

/// The result of a front end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parsed {
    /// The compiled grammar.
    pub grammar: Grammar,
    /// Warnings for the author of the grammar.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a source with the front end of its notation.
///
/// # Errors
/// The errors of the front end.
pub fn parse(source: &Source) -> Result<Parsed> {
    let (grammar, warnings) = match source {
        Source::JsonSchema(text, options) => {
            let compiled = json_schema::compile(text, options)?;
            (compiled.grammar, compiled.warnings)
        }
        Source::Gbnf(text, options) => {
            let compiled = gbnf::compile(text, options)?;
            (compiled.grammar, compiled.warnings)
        }
        Source::Regex(text, options) => (regex::compile(text, options)?, Vec::new()),
        Source::StructuralTag(text, options) => {
            let compiled = structural_tag::compile(text, options)?;
            (compiled.grammar, compiled.warnings)
        }
        Source::Lark(text, options) => {
            let compiled = lark::compile(text, options)?;
            (compiled.grammar, compiled.warnings)
        }
        #[cfg(feature = "spec")]
        Source::Spec(text, options) => {
            let compiled = automaton_spec::compile(text, options)?;
            (compiled.grammar, compiled.warnings)
        }
    };
    Ok(Parsed { grammar, warnings })
}
