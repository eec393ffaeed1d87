//! Compiles Lark, the grammar notation of the Python package of that name.
//!
//! Supported: rules and terminals (priorities are read, with a warning, because they have no effect), `"literals"` with
//! the flag `i`, `/patterns/` with flags and look-around, ranges `"a".."z"`, groups, `[optional]`, `? * +`, `~3` and
//! `~2..4`, aliases (`-> name`, ignored here), in terminals `&` and `~`, templates (`_sep{item, sep}: …`), `%ignore`,
//! `%import` of the library `common` and of given [`Files`], `%override`, `%extend`, JSON Schemas (`%json {…}`), nested
//! grammars (`%lark {…}`), runs of chunks (`%regex {"substring_chunks": […]}`), special tokens (`<|end|>`,
//! `<[5,7-9]>`), attributes (`lazy`, `suffix`, `stop`, `max_tokens`, `max_chars`, and those that do not affect the
//! language), and the options `allow_initial_skip` and `no_forcing` of `%llguidance {…}`.
//!
//! The stages: `files` finds the imported texts and joins them, `parser` reads definitions, `resolve` gives each name
//! its definition, `templates` makes a rule of each use of a template, and `lower` builds expressions. Errors are
//! collected in all stages.
//!
//! The language is that of the rules as written: a terminal is an expression like any other, and there is no longest
//! match as in a lexer. Texts that a lexer would refuse because a keyword looks like a name are accepted. Text that
//! `%ignore` describes may occur any number of times between two terminals of rules, and after the last one; before the
//! first one only with `allow_initial_skip`.
//!
//! Lazy rules are the exception. A lazy rule takes its shortest word: it ends as soon as it can. Where a lazy rule may
//! begin, no other part has a word of the rule as a prefix, and no word of the rule begins with another part and ends
//! in a later one. The module `runs` merges adjacent parts that match any text, and the module `adjacent` refuses
//! grammars for which these conditions cannot be decided.
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
mod directives;
mod errors;
mod files;
mod guidance;
mod lazy;
mod leaves;
mod lower;
mod parser;
mod resolve;
mod runs;
mod scanner;
mod templates;
mod tree;
mod worklist;

use crate::diagnostic::Diagnostic;
use crate::error::{Errors, Result};
use crate::grammar::Grammar;
use crate::limits::Limits;
use crate::syntax::{json_schema, regex};
use files::Texts;

pub use files::Files;

grammata_base::options! {
    /// Options for compiling a Lark grammar.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct Options {
        /// The name of the start rule. Default: `start`.
        pub start: String = "start".to_owned(),
        /// The dialect of patterns. Terminals of `common` do not depend on it. Default: Rust.
        pub dialect: regex::Dialect,
        /// The files that `%import` may name. They are not serialized. Default: none.
        #[cfg_attr(feature = "serde", serde(skip))]
        pub files: Files,
        /// Options for the schemas in `%json`. The limits apply to the whole grammar, and to each schema and pattern in
        /// it.
        pub json_schema: json_schema::Options,
    }
}

impl Options {
    /// Sets the limits on the source, its schemas and patterns, and the grammar: the `limits` of `json_schema`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Options {
        self.json_schema.limits = limits;
        self
    }
}

/// The result of compiling a Lark grammar.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The grammar, with all rules and terminals of the source, including unreachable ones.
    pub grammar: Grammar,
    /// Warnings: priorities, at the first one; and those about the schemas in the grammar, with places in the schema.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles the Lark grammar `source`.
///
/// # Errors
/// - `lark/…` with line and column: up to 20 errors of the source and of the files that it imports, in order.
/// - The errors of a schema or pattern, at the place in `source` where the schema or pattern begins.
/// - `grammar/…`: an attribute has a value that the grammar cannot have, such as `max_tokens=0`.
/// - `limit/exceeded`.
pub fn compile(source: &str, options: &Options) -> Result<Compiled> {
    options.json_schema.limits.check_source(source)?;
    let texts = Texts::new(source, &options.files, &options.json_schema.limits)?;
    let mut compiled = read(&texts, options).map_err(|error| texts.locate_error(error))?;
    texts.locate(&mut compiled.warnings);
    Ok(compiled)
}

/// Compiles Lark grammars in the keyword `x-grammata-grammar` of schemas, with the default options and the limits of
/// the schema.
pub const IN_STRINGS: json_schema::GrammarReader =
    json_schema::GrammarReader::new("lark", |source, limits| {
        let compiled = compile(source, &Options::default().limits(limits.clone()))?;
        Ok((compiled.grammar, compiled.warnings))
    });

fn read(texts: &Texts<'_>, options: &Options) -> Result<Compiled> {
    let mut errors = Errors::default();
    let mut parsed = texts.parse(&mut errors);
    let main = std::mem::take(&mut parsed[0]);
    let files = resolve::Files { texts, parsed, limits: options.json_schema.limits.clone() };
    let grammar = resolve::resolve(main, 0, &files, &options.start, &mut errors)?;
    lower::lower(&texts.text, &grammar, options, errors)
}

/// Whether a text looks like a Lark grammar rather than GBNF. The first line that is neither empty nor a comment
/// decides: in Lark it begins with `%`, or its first colon does not begin `::=`.
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
