//! Compiles regular expressions.
//!
//! The crate regex-syntax parses the pattern (an ECMA-262 pattern is translated to its syntax first), and the module
//! `lower` lowers the syntax tree with an explicit stack. The language is exact:
//!
//! - a pattern describes whole strings; with [`Options::search`], any text may precede and follow the match;
//! - `^`, `$`, `\A` and `\z` mean the ends of the whole string (without multi-line mode) at any position in the
//!   pattern: every part is lowered for each of the contexts "at the start or not" and "at the end or not" in which its
//!   language differs (see the module `context`);
//! - bounded repeats stay repeats; greedy and lazy repeats have the same language;
//! - look-ahead and look-behind (in ECMA-262), word boundaries and line anchors become deterministic automata (see the
//!   modules `program` and `look`); word boundaries and line anchors in patterns over bytes are errors;
//! - a construct that is not regular or not supported (backreferences, look-ahead in look-behind) is an error that
//!   names the construct and its place.
//!
//! ```
//! use grammata::syntax::regex;
//!
//! let grammar = regex::compile(r"[a-z]{2,8}(-\d+)?", &regex::Options::default().ascii_classes(true))?;
//! assert_eq!(grammar.to_string(), "root ::= [a-z]{2,8} (\"-\" [0-9]+)?\n");
//! # Ok::<(), grammata::Error>(())
//! ```

mod ascii;
mod context;
mod ecma;
mod ecma_class;
mod errors;
mod leaf;
mod look;
mod lower;
mod parse;
mod program;
mod source;

use crate::diagnostic::{self, Place};
use crate::error::{ErrorKind, Result};
use crate::grammar::{CharClass, ExprId, Expression, Grammar, GrammarBuilder};
use crate::limits::{LimitKind, Limits};
use leaf::Hook;

/// The dialect that a pattern is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Dialect {
    /// The syntax of Rust's regex crate.
    #[default]
    Rust,
    /// The syntax of ECMA-262 (JavaScript) with its flag `u`, as JSON Schema requires. Escapes and braces that only
    /// browsers allow (Annex B) are accepted where they are unambiguous and refused elsewhere.
    Ecma262,
}

grammata_base::options! {
    /// Options for compiling a pattern.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct Options {
        /// The dialect. Default: Rust.
        pub dialect: Dialect,
        /// Whether classes and `.` match characters; otherwise they match bytes, as with Rust's `(?-u)`. Default: true.
        pub unicode: bool = true,
        /// Whether letters match regardless of case, as with `(?i)`. Default: false.
        pub case_insensitive: bool,
        /// Whether `.` also matches line breaks, as with `(?s)`. Default: false.
        pub dot_matches_newline: bool,
        /// Whether `\d`, `\w` and `\s` match only ASCII. In ECMA-262 they always match what that standard says.
        /// Default: false.
        pub ascii_classes: bool,
        /// Whether any text may precede and follow the match; otherwise the pattern describes the whole text. Default:
        /// false.
        pub search: bool,
        /// Whether the match stands in a longer text, as that of a terminal in a grammar. Then the pattern may have
        /// look-around in either dialect, `^` and `$` are the ends of the match, and a pattern that depends on the text
        /// around the match is the error `regex/looks-outside`. Not together with `search`. Default: false.
        pub embedded: bool,
        /// Limits on the pattern and the grammar. [`lower_into`] uses the limits of its builder instead.
        pub limits: Limits,
    }
}

/// Compiles `pattern` to the grammar of the strings that it matches as a whole.
///
/// # Errors
/// - `regex/…` with the line and column in the pattern: the pattern is invalid or unsupported.
/// - `regex/empty-language`: the pattern is found to match no string.
/// - `limit/exceeded`.
pub fn compile(pattern: &str, options: &Options) -> Result<Grammar> {
    // an error about the pattern as a whole is placed at its first character
    let start = Place::LineColumn { line: 1, column: 1 };
    let source = diagnostic::Source::new(pattern, diagnostic::Notation::Text);
    whole(pattern, options).map_err(|error| error.or_at(&start).in_source(&source))
}

fn whole(pattern: &str, options: &Options) -> Result<Grammar> {
    let mut builder = GrammarBuilder::with_limits(options.limits.clone());
    let body = lower_with(&mut builder, pattern, options, None)?;
    if let Some(error) = builder.error() {
        return Err(error.clone());
    }
    if matches!(builder.expression(body), Expression::Never) {
        return Err(errors::empty_language(pattern));
    }
    let root = builder.declare("root");
    builder.define(root, body);
    builder.build(root)
}

/// Lowers `pattern` into `builder` and returns the expression of the strings that it matches. `classes` returns the
/// expression of a set of characters. It is called for every class, and for every character of a literal. This serves
/// languages that write some characters differently, such as the escapes in JSON strings. `classes` must not return
/// nullable expressions. The result may be the builder's [`never`](GrammarBuilder::never).
///
/// # Errors
/// - `regex/…` with the line and column in the pattern: the pattern is invalid or unsupported.
/// - `regex/not-utf8`: the pattern matches bytes that are not characters.
/// - `limit/exceeded`.
pub fn lower_into(
    builder: &mut GrammarBuilder,
    pattern: &str,
    options: &Options,
    classes: &mut dyn FnMut(&mut GrammarBuilder, &CharClass) -> ExprId,
) -> Result<ExprId> {
    lower_with(builder, pattern, options, Some(classes))
}

/// Maximum number of steps of work to check whether one text is a pattern.
const TEXT_WORK: usize = 100_000;

/// Whether a text is an ECMA-262 pattern. `None` if this is not known: the pattern is unsupported, exceeds a limit, or
/// may use notation of other dialects, such as `(?P<name>…)` or `(?i)`.
pub(crate) fn is_pattern(text: &str, limits: &Limits) -> Option<bool> {
    // a schema may list any number of texts, so each gets a small limit
    let limits = limits.clone().compile_work(limits.compile_work.min(TEXT_WORK));
    let options =
        Options { dialect: Dialect::Ecma262, search: true, limits: limits.clone(), ..Options::default() };
    let mut builder = GrammarBuilder::with_limits(limits);
    match lower_with(&mut builder, text, &options, None) {
        // the parser also accepts some notation of other dialects
        Ok(_) => {
            let is_other = |rest: &str| {
                rest.starts_with("P<") || rest.trim_start_matches(['i', 'm', 's', '-']).starts_with(')')
            };
            (!text.split("(?").skip(1).any(is_other)).then_some(true)
        }
        Err(error) if error.kind() == ErrorKind::Limit || errors::is_unsupported(error.code()) => None,
        Err(_) => Some(false),
    }
}

fn lower_with(
    builder: &mut GrammarBuilder,
    pattern: &str,
    options: &Options,
    hook: Option<&mut Hook<'_>>,
) -> Result<ExprId> {
    let limit = builder.limits().pattern_bytes;
    if pattern.len() > limit {
        return Err(Limits::exceeded(LimitKind::PatternBytes, limit, format!("{} bytes", pattern.len())));
    }
    let source = match options.dialect {
        Dialect::Rust if options.embedded => parse::with_look_around(pattern)?,
        Dialect::Rust => parse::verbatim(pattern)?,
        Dialect::Ecma262 => ecma::translate(pattern, options.dot_matches_newline)?,
    };
    let mut ast = parse::parse(&source, builder.limits())?;
    if options.ascii_classes {
        ascii::narrow(&mut ast);
    }
    let characters = options.unicode || hook.is_some();
    if characters && let Some(first) = program::first_assertion(&ast, options) {
        let program = program::compile(&ast, &source, options, first, builder.work())?;
        return look::lower(builder, &program, pattern, hook);
    }
    lower::lower(builder, &source, &ast, options, hook)
}
