//! Structural tags -> grammar: the JSON in which servers describe tool calls, reasoning and text around them.
//!
//! A structural tag is an object `{"type": "structural_tag", "format": …}`, where a format is an object with a `type` of its
//! own: a string, a JSON Schema, text without certain strings, a tag with content between a beginning and an end, text with
//! tags that triggers begin, and so on. XGrammar defined the notation and vLLM and SGLang send it; `docs/structural-tags.md`
//! has the list of formats, and where this front end keeps a constraint that XGrammar drops. The older form,
//! `{"structures": [{"begin": …, "schema": …, "end": …}], "triggers": […]}`, is read too.
//!
//! ```
//! use grammata::syntax::structural_tag::{Options, compile};
//!
//! let tag = r#"{"type": "structural_tag", "format": {
//!     "type": "triggered_tags",
//!     "triggers": ["<call>"],
//!     "tags": [{"begin": "<call>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</call>"}]
//! }}"#;
//! let grammar = compile(tag, &Options::default())?.grammar;
//! # assert!(grammar.to_string().contains("</call>"));
//! # Ok::<(), grammata::Error>(())
//! ```

mod errors;
mod format;
mod lower;
mod read;
mod text;

use crate::diagnostic::{self, Diagnostic, Place};
use crate::error::{ErrorKind, Result};
use crate::grammar::Grammar;
use crate::limits::Limits;
use crate::syntax::json_schema;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// How to read a structural tag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct Options {
    /// How schemas are read: white space, numbers, formats. What a format says itself (order of members, white space, style,
    /// excluded texts) counts first. Its limits are those of the whole tag. Default: as always, but what a schema does not
    /// declare is refused ([`Undeclared::Refused`](json_schema::Undeclared)), as the notation has it.
    pub json_schema: json_schema::Options,
    /// Grammars that were read before, by whatever front end, and their names: `{"type": "grammar", "name": "…"}` stands for the words
    /// of one. The limits of the tag hold for the whole.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub grammars: BTreeMap<String, Grammar>,
}

grammata_base::setters!(Options { json_schema: json_schema::Options, grammars: BTreeMap<String, Grammar> });

impl Default for Options {
    fn default() -> Options {
        Options {
            json_schema: json_schema::Options::default().undeclared(json_schema::Undeclared::Refused),
            grammars: BTreeMap::new(),
        }
    }
}

impl Hash for Options {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.json_schema.hash(state);
        // equal grammars have equal names
        self.grammars.keys().for_each(|name| name.hash(state));
    }
}

impl Options {
    /// Sets the limits on the source and the grammar.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Options {
        self.json_schema.limits = limits;
        self
    }
}

/// A grammar, and what its author may want to know of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The grammar of the texts.
    pub grammar: Grammar,
    /// What schemas warn of, and triggers that no tag begins with.
    pub warnings: Vec<Diagnostic>,
}

/// The grammar of a structural tag given as JSON text.
///
/// # Errors
/// `structural-tag/…` with the JSON Pointer of the place (line and column if the text is not JSON); what a schema, a pattern or
/// a grammar in it has wrong, with the pointer of where that stands; `limit/exceeded`.
pub fn compile(tag: &str, options: &Options) -> Result<Compiled> {
    let source = diagnostic::Source::new(tag, diagnostic::Notation::Json);
    compile_text(tag, options).map_err(|error| match error.kind() {
        ErrorKind::Limit => error.or_at(&Place::Pointer(String::new())).in_source(&source),
        _ => error.in_source(&source),
    })
}

fn compile_text(tag: &str, options: &Options) -> Result<Compiled> {
    options.json_schema.limits.check_source(tag)?;
    // a value that is nested too deep for the reader is not JSON to it: 128 levels
    let value = serde_json::from_str(tag).map_err(|cause| errors::not_json(&cause))?;
    compile_value(&value, options)
}

/// The grammar of a structural tag given as a JSON value, which is nested 128 levels deep at most.
///
/// # Errors
/// The same as those of [`compile`].
pub fn compile_value(tag: &serde_json::Value, options: &Options) -> Result<Compiled> {
    let format = read::structural_tag(tag)?;
    lower::lower(&format, options)
}
