//! The notations of grammars, and the text of a grammar with its notation and options.
//!
//! A front end consists of its folder, a variant of [`Notation`] with a row in `ROWS`, and a variant of [`Source`].

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

/// The notation of a grammar. The enum is deliberately not `non_exhaustive`: a program that reads files must handle
/// every notation, so a new variant is meant to break each exhaustive `match`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Notation {
    /// JSON Schema. The grammar describes the values that satisfy the schema.
    JsonSchema,
    /// GBNF, the notation of llama.cpp.
    Gbnf,
    /// A regular expression, in one of the [dialects](regex::Dialect) of `regex`.
    Regex,
    /// A structural tag: XGrammar's JSON notation for tool calls, reasoning and the text around them.
    StructuralTag,
    /// The notation of the Python package Lark, a parser generator.
    Lark,
    /// An automaton spec: a finite or pushdown automaton or a context-free grammar, in TOML or JSON. Only with the
    /// feature `spec`.
    #[cfg(feature = "spec")]
    Spec,
}

/// The properties of one notation, each returned by the method of [`Notation`] with the name of the field.
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

/// Checks at compile time that each row is at the index of its variant, since [`Notation::row`] indexes by variant.
const _: () = {
    let mut place = 0;
    while place < ROWS.len() {
        assert!(ROWS[place].notation as usize == place);
        place += 1;
    }
};

impl Notation {
    /// All notations, in the order of their variants; an automaton spec only with the feature `spec`.
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

    /// A short, stable name without spaces, for use as a command-line argument: `json-schema`, for example.
    pub fn id(self) -> &'static str {
        self.row().id
    }

    /// The name for use in a sentence: `regular expression`, for example.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// A one-line description of grammars in this notation.
    pub fn about(self) -> &'static str {
        self.row().about
    }

    /// The file extensions, without the dot and in lower case, the usual one first. Several notations may share an
    /// extension.
    pub fn extensions(self) -> &'static [&'static str] {
        self.row().extensions
    }

    /// The names that the grammar file may have in a folder that holds one grammar, the usual name first.
    pub fn folder_files(self) -> &'static [&'static str] {
        self.row().folder_files
    }

    /// Determines the notation of a file from the extension of its name, which is compared case-sensitively. Several
    /// notations have the extension `json`: such a file is a structural tag or an automaton spec if `text` has the form
    /// of one, otherwise a JSON Schema. `None` if the name has no extension, or no notation has that extension.
    pub fn of_file(path: &Path, text: &str) -> Option<Notation> {
        let extension = path.extension().and_then(|extension| extension.to_str())?;
        let mut all = Notation::ALL.into_iter().filter(|notation| notation.extensions().contains(&extension));
        match all.next() {
            Some(Notation::JsonSchema) => Some(Notation::of_json(text)),
            first => first,
        }
    }

    /// Determines the notation of a text that has no name, by what only one notation has:
    ///
    /// - text that begins with `{` after white space is JSON: a structural tag, an automaton spec or a JSON Schema, as in
    ///   [`of_file`](Notation::of_file);
    /// - a line that begins with a name and `::=` is GBNF;
    /// - a line that begins with the rule `start` and a colon is Lark;
    /// - a line that begins with `kind =` is an automaton spec;
    /// - another text of one line is a regular expression.
    ///
    /// `None` for other texts of several lines, for empty text, and for `true` and `false`, which may be schemas or
    /// expressions.
    pub fn of_text(text: &str) -> Option<Notation> {
        if text.trim_start().starts_with('{') {
            return Some(Notation::of_json(text));
        }
        let mark = |line: &str| {
            let line = line.trim_start();
            let name =
                line.trim_start_matches(|letter: char| letter.is_alphanumeric() || "_-.".contains(letter));
            let has_name = name.len() < line.len();
            let is_lark = |line: &str| {
                let rule = line.strip_prefix(['?', '!']).unwrap_or(line).strip_prefix("start");
                rule.is_some_and(|rest| rest.trim_start().starts_with(':'))
            };
            match name.trim_start() {
                rest if has_name && rest.starts_with("::=") => Some(Notation::Gbnf),
                _ if is_lark(line) => Some(Notation::Lark),
                #[cfg(feature = "spec")]
                rest if rest.starts_with('=') && line.strip_suffix(name) == Some("kind") => {
                    Some(Notation::Spec)
                }
                _ => None,
            }
        };
        let line = Notation::Regex.in_file(text);
        let is_one_line =
            !line.is_empty() && !line.contains('\n') && !["true", "false"].contains(&line.trim());
        text.lines().find_map(mark).or(is_one_line.then_some(Notation::Regex))
    }

    /// Determines the notation of JSON text.
    fn of_json(text: &str) -> Notation {
        match text {
            _ if is_structural_tag(text) => Notation::StructuralTag,
            #[cfg(feature = "spec")]
            _ if is_spec(text) => Notation::Spec,
            _ => Notation::JsonSchema,
        }
    }

    /// Returns the part of a file's text that is the grammar. For a regular expression, a line end (`\n` or `\r\n`) at
    /// the end is removed: editors add one, and it would be part of the pattern. For all other notations, the text is
    /// unchanged.
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

/// Whether JSON text is a structural tag: an object whose `type` is `structural_tag`; or an object without `$schema`
/// whose `structures` is a list, as in the older form. `false` for text that contains neither `structural_tag` nor both
/// `"structures"` and `"triggers"`.
fn is_structural_tag(text: &str) -> bool {
    // most schemas are rejected by this search for names, without parsing them
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
/// Whether the text of a `.json` file is an automaton spec: a JSON object with a string member `kind` and without
/// `$schema`; or text that begins with `[` or `#`, after white space, and is not JSON, such as TOML that begins with a
/// table header or a comment.
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
    // the front end of JSON Schema reads all other text that is not JSON, and reports the place and the cause
    serde_json::from_str::<Probe>(text).is_ok_and(|probe| probe.kind.is_some() && probe.schema.is_none())
}

/// The source of a grammar: its text and the options of its front end. Equal sources give equal grammars.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Source {
    /// The text of a JSON Schema and its options.
    JsonSchema(String, json_schema::Options),
    /// The text of a GBNF grammar and its options.
    Gbnf(String, gbnf::Options),
    /// A pattern and its options.
    Regex(String, regex::Options),
    /// The JSON text of a structural tag and its options.
    StructuralTag(String, structural_tag::Options),
    /// The text of a grammar in the notation of the Python package Lark, and its options.
    Lark(String, lark::Options),
    /// The text of an automaton spec, in TOML or JSON, and its options. Only with the feature `spec`.
    #[cfg(feature = "spec")]
    Spec(String, automaton_spec::Options),
}

impl Source {
    /// Creates a source from a text in the given notation, with the default options of its front end. The text is not
    /// checked.
    pub fn new(notation: Notation, text: impl Into<String>) -> Source {
        let text = text.into();
        match notation {
            Notation::JsonSchema => {
                Source::JsonSchema(text, json_schema::Options::default().grammars(Some(lark::IN_STRINGS)))
            }
            Notation::Gbnf => Source::Gbnf(text, gbnf::Options::default()),
            Notation::Regex => Source::Regex(text, regex::Options::default()),
            Notation::StructuralTag => Source::StructuralTag(text, structural_tag::Options::default()),
            Notation::Lark => Source::Lark(text, lark::Options::default()),
            #[cfg(feature = "spec")]
            Notation::Spec => Source::Spec(text, automaton_spec::Options::default()),
        }
    }

    /// Creates the source of a JSON Schema, with the default options.
    pub fn json_schema(schema: impl Into<String>) -> Source {
        Source::new(Notation::JsonSchema, schema)
    }

    /// Creates the source of a GBNF grammar, with the default options.
    pub fn gbnf(grammar: impl Into<String>) -> Source {
        Source::new(Notation::Gbnf, grammar)
    }

    /// Creates the source of a regular expression in the default dialect, with the default options.
    pub fn regex(pattern: impl Into<String>) -> Source {
        Source::new(Notation::Regex, pattern)
    }

    /// Creates the source of a structural tag, with the default options.
    pub fn structural_tag(tag: impl Into<String>) -> Source {
        Source::new(Notation::StructuralTag, tag)
    }

    /// Creates the source of a Lark grammar, with the default options.
    pub fn lark(grammar: impl Into<String>) -> Source {
        Source::new(Notation::Lark, grammar)
    }

    /// Creates the source of an automaton spec, with the default options.
    #[cfg(feature = "spec")]
    pub fn spec(spec: impl Into<String>) -> Source {
        Source::new(Notation::Spec, spec)
    }

    /// The text of the grammar, without its options.
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

    /// The notation of the text; determines the front end that [`parse`] uses.
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

/// The grammar that a front end built from a [`Source`], and its warnings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Parsed {
    /// The grammar that the source describes.
    pub grammar: Grammar,
    /// Warnings for the author of the grammar. Always empty for a regular expression.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a source with the front end of its notation.
///
/// # Errors
/// Each error of the front end's `compile`, unchanged.
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
