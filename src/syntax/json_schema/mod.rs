//! Compiles JSON Schemas to grammars.
//!
//! [`compile`] returns the grammar of the JSON texts (RFC 8259, UTF-8) whose values satisfy a schema. The passes:
//!
//! 1. `read`: text to a JSON value, and this to a table of checked schemas (`model`).
//! 2. `normal`: negations, exclusive alternatives and unevaluated members become schemas of the table; sets of schemas
//!    that hold together get a normal form each, and those that some value satisfies are found.
//! 3. `emit`: normal forms to grammar expressions.
//!
//! # Supported keywords
//! All keywords of the drafts 3 to 2020-12, as defined by the draft that `$schema` names; `docs/syntax.md` has the
//! table. Without `$schema` a schema is read as 2020-12, and the keywords and spellings of older drafts are also
//! understood. An unsupported use of a keyword is an error that names the place. A word that is not a keyword of the
//! draft is an annotation; it causes a warning unless it begins with `x-`.
//!
//! # Texts of a value
//! - **Whitespace** between tokens: see [`Whitespace`]. There is none before the first and after the last token of a
//!   JSON text.
//! - **Objects**: the members are in the order of [`PropertyOrder`]. Declared names are in canonical spelling: only
//!   `"`, `\` and control characters are escaped, by their short escape if they have one, otherwise as `\u00XX` in
//!   lower case. No object has a name twice, declared or not.
//! - **Strings** without `pattern` and `format`: every spelling. A pair of surrogate escapes counts as one character;
//!   lone surrogates are not in the language. Strings with `pattern` or `format`, and those of `enum` and `const`, are
//!   in canonical spelling. If single values are excluded (`not` with `const`), a string is in canonical spelling at
//!   least up to its first difference from these values. For formats that are not regular, part of the valid strings
//!   are in the language (`docs/syntax.md` has the list).
//! - **Numbers**: see [`Numbers`]. Without bounds: every JSON number. With bounds: plain notation with any number of
//!   digits after the point, or scientific notation with one digit, not zero, before the point (`1.5e-06`). Integers:
//!   plain, with zeros after a point, or with a non-negative exponent (with bounds, after one digit only). Zero may
//!   have any exponent. Multiples: plain notation only. Zero has a minus sign only if the range contains negative
//!   numbers. Numbers of `enum` and `const`: as in the schema (with a small `e`, and with or without a plus sign after
//!   it) or plain; integers also with a point and a zero. Up to draft 4, only a number without point and exponent is an
//!   integer: `2`, not `2.0`.
//!
//! ```
//! use grammata::syntax::json_schema::{Numbers, Options, Whitespace, compile};
//!
//! let options = Options::default().whitespace(Whitespace::Compact).numbers(Numbers::Plain);
//! let compiled = compile(r#"{"type": "array", "items": {"enum": [1, 2]}, "maxItems": 9}"#, &options)?;
//! assert_eq!(compiled.grammar.to_string(), "# ::= \"[\" ((\"1\" | \"2\") (\",\" (\"1\" | \"2\")){0,8})? \"]\"\n");
//! # Ok::<(), grammata::Error>(())
//! ```

mod documents;
mod elements;
mod emit;
mod errors;
mod grammars;
mod model;
mod normal;
mod options;
mod read;
mod strings;
mod summary;
mod values;

pub use documents::Documents;
pub use elements::Elements;
pub use grammars::{GrammarReader, ReadGrammar};
pub use options::{Formats, Numbers, Options, PropertyOrder, Spelling, Undeclared, Whitespace};
pub use summary::Summary;

pub(in crate::syntax) use read::source::check_depth;

use crate::diagnostic::{self, Diagnostic};
use crate::error::{ErrorKind, Result};
use crate::grammar::Grammar;
use crate::work::Budget;
use bumpalo::Bump;
use normal::conjunctions::Conjunctions;
use normal::satisfiable::Satisfiable;
use normal::{closing, cycles, rewrite, unevaluated};
use read::other;
use read::source::{self, Source};
use std::rc::Rc;
use values::json::Value;

/// A compiled schema.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The grammar of the JSON texts.
    pub grammar: Grammar,
    /// Warnings for the author of the schema, in the order of discovery: unknown keywords and formats, keywords without
    /// effect, duplicate keys and identifiers, parts that nothing satisfies.
    pub warnings: Vec<Diagnostic>,
    /// Statistics about the schema.
    pub summary: Summary,
}

/// Compiles a schema given as JSON text.
///
/// # Errors
/// - `json-schema/…`, with the JSON Pointer of the place (line and column if the text is not JSON).
/// - `regex/…`, if a `pattern` is invalid or unsupported.
/// - `limit/exceeded`.
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

/// Upper bound on the initial capacity of the arena of a schema, in bytes.
const ARENA: usize = 1 << 16;

/// Compiles a schema given as a JSON value.
///
/// # Errors
/// The same as those of [`compile`].
pub fn compile_value(schema: &serde_json::Value, options: &Options) -> Result<Compiled> {
    let size = check_depth(schema, &options.limits, errors::too_deep)?;
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
    let work = Rc::new(work);
    let (mut schemas, mut summary) = read::schemas(root, arena, options, &mut warnings, &work)?;
    if options.undeclared == Undeclared::Refused {
        closing::close(&mut schemas)?;
    }
    unevaluated::rewrite(&mut schemas, arena)?;
    rewrite::rewrite(&mut schemas)?;
    cycles::check(&schemas)?;
    schemas.find_meanings();
    let all = Conjunctions::of(schemas, arena, &options.limits)?;
    let satisfiable = Satisfiable::of(&all)?;
    if !satisfiable.contains(all.root()) {
        let (blamed, reason) = satisfiable.explain(&all, all.root());
        return Err(errors::unsatisfiable(all.pointer(blamed), &reason));
    }
    warnings.extend(satisfiable.contradictions(&all));
    summary.made_schemas = all.schemas.len() - summary.schemas;
    summary.conjunctions = all.len();
    let (grammar, warning) = emit::emit(&all, &satisfiable, options)?;
    warnings.extend(warning);
    Ok(Compiled { grammar, warnings, summary })
}
