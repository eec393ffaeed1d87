//! JSON Schema -> grammar.
//!
//! [`compile`] makes the grammar of the JSON texts (RFC 8259, UTF-8) whose values a schema admits. The way:
//! text -> JSON value (`source`) -> table of checked schemas (`reader`, `keywords`, `refs`) -> negations and
//! exclusive alternatives as schemas of their own (`rewrite`) -> sets of schemas that hold together
//! (`conjunction`, `combine`, `merge`) and their `shape` -> which of them some value satisfies (`satisfiable`)
//! -> expressions (`emit`).
//!
//! # What is supported
//! The keywords of the drafts 3 to 2020-12, as the draft that `$schema` names has them; `docs/syntax.md` has the
//! table. Without `$schema`: 2020-12, with the spellings of older drafts. What is not supported is an error that
//! names the keyword; a word of no draft is an annotation and makes a warning.
//!
//! # Which texts of a value are in the language
//! - **Whitespace**: [`Whitespace`]; none before the first and after the last token.
//! - **Objects**: members in the order that [`PropertyOrder`] says. Declared names are in canonical spelling:
//!   `"`, `\` and control characters escaped, by their short escapes where they have one, otherwise as
//!   `\u00XX` in lower case. No object has a name twice, declared or not.
//! - **Strings** without `pattern` and `format`: every spelling; a pair of surrogate escapes counts as one
//!   character, and lone surrogates are not in the language. Strings with them, and those of `enum` and
//!   `const`: canonical spelling. Of formats that are not regular, a part (`docs/syntax.md` has the list).
//! - **Numbers**, as [`Numbers`] says. Without bounds: every JSON number. With bounds: plain notation with any
//!   number of digits after the point, or scientific notation with one digit, not zero, before the point
//!   (`1.5e-06`). Integers: plain, with zeros after a point, or with an exponent that is not negative (with
//!   bounds after one digit only). Multiples: plain. Zero has a minus sign only if the range has negative
//!   numbers. Numbers of `enum` and `const`: as in the schema (exponents with or without plus sign), or plain,
//!   integers also with a point and a zero. Up to draft 4 only a number in digits, `2` and not `2.0`, is an
//!   integer.
//!
//! ```
//! use grammata::syntax::json_schema::{Numbers, Options, Whitespace, compile};
//!
//! let options = Options::default().whitespace(Whitespace::Compact).numbers(Numbers::Plain);
//! let compiled = compile(r#"{"type": "array", "items": {"enum": [1, 2]}, "maxItems": 9}"#, &options)?;
//! assert_eq!(compiled.grammar.to_string(), "# ::= \"[\" ((\"1\" | \"2\") (\",\" (\"1\" | \"2\")){0,8})? \"]\"\n");
//! # Ok::<(), grammata::Error>(())
//! ```

mod assertion;
mod closing;
mod combine;
mod conditional;
mod conjunction;
mod counts;
mod cubes;
mod decimal;
mod documents;
mod draft;
mod elements;
mod emit;
mod empty;
mod errors;
mod exclusive;
mod formats;
mod json;
mod keywords;
mod listed;
mod merge;
mod numbers;
mod options;
mod other;
mod pointer;
mod policies;
mod reader;
mod refs;
mod resources;
mod rewrite;
mod satisfiable;
mod schema;
mod schema_id;
mod scope;
mod seldom;
mod shape;
mod source;
mod span_match;
mod string_test;
mod strings;
mod summary;
mod unevaluated;
mod uri;
mod validate;

pub use documents::Documents;
pub use elements::Elements;
pub use options::{Formats, Numbers, Options, PropertyOrder, Spelling, Undeclared, Whitespace};
pub use summary::Summary;

pub(in crate::syntax) use source::{MAX_DEPTH, check_depth};

use crate::diagnostic::{self, Diagnostic};
use crate::error::{ErrorKind, Result};
use crate::grammar::Grammar;
use crate::work::Budget;
use bumpalo::Bump;
use conjunction::Conjunctions;
use json::Value;
use satisfiable::Satisfiable;
use source::Source;

/// A compiled schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The grammar of the texts.
    pub grammar: Grammar,
    /// What the author of the schema should know: unknown keywords, keywords without effect, duplicate keys,
    /// parts that nothing satisfies. In the order of discovery.
    pub warnings: Vec<Diagnostic>,
    /// What was read, and what it came to.
    pub summary: Summary,
}

/// The grammar of a schema given as JSON text.
///
/// # Errors
/// `json-schema/…` with the JSON Pointer of the place (line and column if the text is not JSON), what
/// `pattern` has wrong (`regex/…`), `limit/exceeded`.
pub fn compile(schema: &str, options: &Options) -> Result<Compiled> {
    let source = diagnostic::Source::new(schema, diagnostic::Notation::Json);
    compile_text(schema, options).map_err(|error| match error.kind() {
        ErrorKind::Limit => error.or_at(&diagnostic::Place::Pointer(String::new())).in_source(&source),
        _ => error.in_source(&source),
    })
}

fn compile_text(schema: &str, options: &Options) -> Result<Compiled> {
    let mut warnings = Vec::new();
    let arena = Bump::with_capacity(schema.len().min(ARENA));
    let root = source::read(schema, &arena, &options.limits, &mut warnings)?;
    let work = Budget::of_compilation(&options.limits, schema.len());
    compile_checked(root, &arena, options, (warnings, work))
}

/// The most bytes that the arena of a schema begins with.
const ARENA: usize = 1 << 16;

/// The grammar of a schema given as a JSON value.
///
/// # Errors
/// The same as those of [`compile`].
pub fn compile_value(schema: &serde_json::Value, options: &Options) -> Result<Compiled> {
    let size = check_depth(schema, &options.limits)?;
    let arena = Bump::new();
    let root = Source { value: arena.alloc(Value::of(schema, &arena)), has_identifiers: true };
    let work = Budget::of_compilation(&options.limits, size);
    compile_checked(root, &arena, options, (Vec::new(), work))
}

fn compile_checked<'a>(
    root: Source<'a>,
    arena: &'a Bump,
    options: &'a Options,
    (mut warnings, work): (Vec<Diagnostic>, Budget),
) -> Result<Compiled> {
    other::refuse(root.value)?;
    let (mut schemas, mut summary) = reader::read(root, arena, options, &mut warnings)?;
    if options.undeclared == Undeclared::Refused {
        closing::close(&mut schemas);
    }
    unevaluated::rewrite(&mut schemas, arena)?;
    rewrite::rewrite(&mut schemas, &work)?;
    refs::check_cycles(&schemas)?;
    schemas.find_meanings();
    let all = Conjunctions::of(schemas, arena, &options.limits, work)?;
    let satisfiable = Satisfiable::of(&all);
    if !satisfiable.contains(all.root()) {
        let (blamed, reason) = satisfiable.explain(&all, all.root());
        return Err(errors::unsatisfiable(all.pointer(blamed), &reason));
    }
    warnings.extend(satisfiable.contradictions(&all));
    summary.made_schemas = all.schemas.len() - summary.schemas;
    summary.conjunctions = all.len();
    let grammar = emit::emit(&all, &satisfiable, options)?;
    Ok(Compiled { grammar, warnings, summary })
}
