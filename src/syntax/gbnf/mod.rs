//! GBNF, the grammar notation of llama.cpp.
//!
//! All of the notation in llama.cpp's guide is supported: rules, literals with escapes, classes, `.`, groups, repeats
//! (`* + ? {m,n}`), comments. This front end differs in the following:
//!
//! - left recursion is allowed, and bounded repeats are exact for any bound;
//! - duplicate rules, classes without characters, and ranges or repeats with crossed bounds are errors;
//! - a reachable rule that is found to describe no text is an error; an unreachable rule is a warning;
//! - `@text(…)` is [free text](crate::grammar::FreeText) with triggers;
//! - `@max_chars(n, part)`, `@max_bytes(n, part)` and `@max_tokens(n, part)` bound the length of a part;
//! - `@regex("…")` is a text that a pattern of ECMA-262 matches as a whole, `@substring("…", …)` is the concatenation
//!   of any number of consecutive chunks of a list;
//! - `name[lazy, max_chars=9] ::= …` gives a rule attributes;
//! - tokens (`<think>`, `<[1000]>`, `!<[1000]>`) may also be lists and ranges, `<[1,5-7],"[INST]">`. Their names are
//!   looked up when the grammar is compiled for a vocabulary. `!` also excludes end-of-sequence tokens, as in
//!   llama.cpp.
//!
//! ```
//! use grammata::syntax::gbnf;
//!
//! let source = "root ::= item (\", \" item)*\nitem ::= [a-z]+ | \"(\" root \")\"\n";
//! let compiled = gbnf::compile(source, &gbnf::Options::default())?;
//! assert!(compiled.warnings.is_empty());
//! assert_eq!(
//!     compiled.grammar.to_string(),
//!     "root ::= item (\", \" item)*\nitem ::= [a-z]+ | \"(\" root \")\"\n"
//! );
//! # Ok::<(), grammata::Error>(())
//! ```

mod attributes;
mod check;
mod errors;
mod leaves;
mod names;
mod parser;
mod scanner;

use crate::diagnostic::{Diagnostic, Notation, Source};
use crate::error::Result;
use crate::grammar::{Grammar, GrammarBuilder};
use crate::limits::{LimitKind, Limits};

grammata_base::options! {
    /// Options for compiling a GBNF grammar.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct Options {
        /// The name of the start rule. Default: `root`.
        pub root: String = "root".to_owned(),
        /// Limits on the source, its patterns and the grammar.
        pub limits: Limits,
    }
}

/// The result of compiling a GBNF grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Compiled {
    /// The grammar, with all rules of the source, including unreachable ones.
    pub grammar: Grammar,
    /// Warnings about valid but probably unintended input: unreachable rules, at most 21 warnings.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a GBNF grammar.
///
/// # Errors
/// - `gbnf/…` with line and column: up to 20 errors of the source, in order.
/// - `regex/…`: a pattern of `@regex` is invalid.
/// - `grammar/…`: the arguments of a function or an attribute are invalid; for example, a trigger of `@text` is empty.
/// - `limit/exceeded`.
pub fn compile(source: &str, options: &Options) -> Result<Compiled> {
    options.limits.check_source(source)?;
    read(source, options).map_err(|error| error.in_source(&Source::new(source, Notation::Gbnf)))
}

fn read(source: &str, options: &Options) -> Result<Compiled> {
    let builder = GrammarBuilder::with_limits(options.limits.clone());
    let parsed = parser::parse(source, builder)?;
    let root = parsed.names.root(source, &options.root)?;
    let grammar = parsed.builder.build(root)?;
    let warnings = check::check(source, &grammar, &parsed.names)?;
    Ok(Compiled { grammar, warnings })
}

/// Compiles a GBNF grammar given as bytes, which must be UTF-8.
///
/// # Errors
/// The errors of [`compile`], and `gbnf/not-utf8`.
pub fn compile_bytes(source: &[u8], options: &Options) -> Result<Compiled> {
    if source.len() > options.limits.source_bytes {
        let limit = options.limits.source_bytes;
        return Err(Limits::exceeded(LimitKind::SourceBytes, limit, format!("{} bytes", source.len())));
    }
    match str::from_utf8(source) {
        Ok(source) => compile(source, options),
        Err(error) => Err(errors::not_utf8(source, error.valid_up_to())),
    }
}
