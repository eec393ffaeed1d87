//! Reads Lark, the grammar notation of the Python package of that name.
//!
//! Supported: rules and terminals, `"literals"` with the flag `i`, `/patterns/` with flags, ranges `"a".."z"`, groups,
//! `[optional]`, `? * +`, `~3` and `~2..4`, aliases (`-> name`, ignored here), `%ignore`, `%import common.NAME`, JSON
//! Schemas (`%json {…}`), nested grammars (`%lark {…}`), runs of chunks (`%regex {"substring_chunks": […]}`), special
//! tokens (`<|end|>`, `<[5,7-9]>`), attributes (`lazy`, `suffix`, `stop`, `max_tokens`, `max_chars`, and those that do
//! not affect the language), and the options `allow_initial_skip` and `no_forcing` of `%llguidance {…}`.
//!
//! The language is that of the rules as written: a terminal is an expression like any other, and there is no longest
//! match as in a lexer. Texts that a lexer would refuse because a keyword looks like a name are accepted. Text that
//! `%ignore` describes may occur any number of times between two terminals of rules, and also after the last one.
//!
//! A lazy rule is the exception: it takes its shortest word, so it ends as soon as it can. Where it may begin, no other
//! part contains a word of it, alone or together with the parts after it. The module `runs` merges adjacent texts, and
//! the module `adjacent` refuses grammars for which this cannot be decided.
//!
//! ```
//! use grammata::syntax::lark::{Options, compile};
//!
//! let source = "start: NAME (\",\" NAME)*\nNAME: /[a-z]+/\n";
//! let grammar = compile(source, &Options::default())?.grammar;
//! assert!(grammar.to_string().starts_with("start ::= NAME"));
//! # Ok::<(), grammata::Error>(())
//! ```

mod adjacent;
mod any_text;
mod attributes;
mod beside;
mod bytes;
mod common;
mod errors;
mod lazy;
mod lower;
mod parser;
mod runs;
mod scanner;
mod tree;
mod worklist;

use crate::diagnostic::{Diagnostic, Notation, Source};
use crate::error::Result;
use crate::grammar::Grammar;
use crate::limits::Limits;
use crate::syntax::json_schema;

/// Options for reading a Lark grammar.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct Options {
    /// The rule to start from. Default: `start`.
    pub start: String,
    /// Options for the schemas in `%json`. Their limits apply to the whole grammar.
    pub json_schema: json_schema::Options,
}

impl Default for Options {
    fn default() -> Options {
        Options { start: "start".to_owned(), json_schema: json_schema::Options::default() }
    }
}

grammata_base::setters!(Options { start: String, json_schema: json_schema::Options });

impl Options {
    /// Sets the limits on the source and the grammar.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Options {
        self.json_schema.limits = limits;
        self
    }
}

/// A compiled grammar with its warnings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The compiled grammar.
    pub grammar: Grammar,
    /// Warnings about the schemas in the grammar.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles the Lark grammar `source`.
///
/// # Errors
/// `lark/…` with line and column; an error in a schema or pattern, at the place in `source` where the schema or pattern
/// begins; `limit/exceeded`.
pub fn compile(source: &str, options: &Options) -> Result<Compiled> {
    options.json_schema.limits.check_source(source)?;
    let read = || lower::lower(source, &parser::parse(source)?, options);
    read().map_err(|error| error.in_source(&Source::new(source, Notation::Text)))
}

/// Whether a text looks like a grammar in this notation rather than in GBNF: it begins with a directive or with a rule
/// whose name is followed by a colon.
pub(crate) fn is_lark(source: &str) -> bool {
    let mut lines = source.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#']) && !line.starts_with("//"));
    first.is_some_and(|line| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let rest = line.trim_start_matches(['?', '!']).trim_start_matches(is_name);
        let rest = rest.trim_start_matches(|c: char| c != ':' && c != '\n');
        line.starts_with('%') || rest.starts_with(':') && !rest.starts_with("::=")
    })
}
