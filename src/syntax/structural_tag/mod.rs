//! Compiles structural tags: JSON descriptions of tool calls, reasoning and the text around them, as inference servers
//! receive them.
//!
//! A structural tag is an object `{"type": "structural_tag", "format": …}`. A format is an object with its own `type`:
//! a string, a JSON Schema, text without certain strings, a tag with content between a beginning and an end, text with
//! tags introduced by triggers, and so on. XGrammar defined the notation; vLLM and SGLang use it.
//! `docs/structural-tags.md` lists the formats, and the constraints that this front end keeps but XGrammar drops. The
//! older form, `{"structures": [{"begin": …, "schema": …, "end": …}], "triggers": […]}`, is accepted too.
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
use crate::syntax::{json_schema, lark};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

grammata_base::options! {
    /// Options for compiling a structural tag.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct Options {
        /// Options for the schemas in the tag: white space, numbers, formats. A setting of a format itself (order of
        /// members, white space, style) takes precedence; excluded texts of a format are added to those here. The
        /// limits apply to the whole tag, and to each schema, pattern and grammar in it. Default: the usual defaults,
        /// except that members which a schema does not declare are refused
        /// ([`Undeclared::Refused`](json_schema::Undeclared)), as the notation requires, and that Lark grammars of
        /// strings are read.
        pub json_schema: json_schema::Options = json_schema::Options::default()
            .undeclared(json_schema::Undeclared::Refused)
            .grammars(Some(lark::IN_STRINGS)),
        /// Compiled grammars of any front end, by name. The format `{"type": "grammar", "name": "…"}` describes the
        /// words of the grammar with that name. The limits of the tag apply to the tag's grammar with the named
        /// grammars included. Default: none.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub grammars: BTreeMap<String, Grammar>,
    }
}

impl Hash for Options {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.json_schema.hash(state);
        // equal options have equal names of grammars, so hashing only the names gives them equal hashes
        self.grammars.keys().for_each(|name| name.hash(state));
    }
}

impl Options {
    /// Sets the limits on the source, on each nested source and on the grammar: the `limits` of `json_schema`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Options {
        self.json_schema.limits = limits;
        self
    }
}

/// The result of compiling a structural tag.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The grammar of the texts that the structural tag describes.
    pub grammar: Grammar,
    /// Warnings about schemas and nested grammars, and about triggers that no tag begins with.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a structural tag given as JSON text.
///
/// # Errors
/// - `structural-tag/…`: the tag is invalid.
/// - The errors of a nested schema, pattern or grammar, at the JSON Pointer of the nested text; for a schema, usually
///   at a place within it.
/// - `grammar/…`: the grammar of a format cannot be built; for example, a trigger contains another one.
/// - `limit/exceeded`: a limit of `options` was exceeded.
///
/// Errors have the JSON Pointer of their place, or line and column if the text is not JSON.
pub fn compile(tag: &str, options: &Options) -> Result<Compiled> {
    let source = diagnostic::Source::new(tag, diagnostic::Notation::Json);
    compile_text(tag, options).map_err(|error| match error.kind() {
        ErrorKind::Limit => error.or_at(&Place::Pointer(String::new())).in_source(&source),
        _ => error.in_source(&source),
    })
}

fn compile_text(tag: &str, options: &Options) -> Result<Compiled> {
    options.json_schema.limits.check_source(tag)?;
    // the JSON reader refuses values that are nested more than 127 levels deep, with `structural-tag/not-json`
    let value = serde_json::from_str(tag).map_err(|cause| errors::not_json(&cause))?;
    compile_value(&value, options)
}

/// Compiles a structural tag given as a JSON value.
///
/// # Errors
/// The errors of [`compile`], except those about text that is not JSON or too long. Also `limit/exceeded` if arrays and
/// objects are nested deeper than `limits.source_depth` or deeper than 127 levels.
pub fn compile_value(tag: &serde_json::Value, options: &Options) -> Result<Compiled> {
    let limits = &options.json_schema.limits;
    json_schema::check_depth(tag, limits, errors::too_deep)?;
    let format = read::structural_tag(tag)?;
    lower::lower(&format, options)
}
