//! Sources: a grammar's text with its notation and options.

use crate::arguments::limits;
use crate::documents::{Raised, documents};
use crate::errors::{BORDER, Raise};
use grammata::Limits;
use grammata::syntax::json_schema::{Formats, Numbers, PropertyOrder, Undeclared, Whitespace};
use grammata::syntax::{gbnf, json_schema, lark, parse, regex, structural_tag};
use grammata_python_border::choice;
use grammata_python_border::ending::PythonCall;
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

/// A grammar's text with its notation and options; the key of a `GrammarCache`. A source whose `documents` are a
/// callable equals only itself.
///
/// >>> import grammata
/// >>> grammata.Source.regex("a+") == grammata.Source.regex("a+")
/// True
#[pyclass(frozen, eq, hash, module = "grammata")]
pub(crate) struct Source {
    pub(crate) source: Arc<grammata::syntax::Source>,
    /// The last exception that the resolver of documents raised, until a call that reads the source raises it.
    pub(crate) raised: Raised,
}

impl Source {
    fn new(source: grammata::syntax::Source) -> Source {
        Source { source: Arc::new(source), raised: Raised::default() }
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Source) -> bool {
        self.source == other.source
    }
}

impl Eq for Source {}

impl Hash for Source {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.source.hash(state);
    }
}

/// Options of JSON Schema as passed from Python.
pub(crate) struct SchemaOptions<'a, 'py> {
    pub(crate) whitespace: &'a str,
    pub(crate) property_order: &'a str,
    pub(crate) formats: &'a str,
    pub(crate) undeclared: &'a str,
    pub(crate) numbers: &'a str,
    pub(crate) max_digits: Option<u32>,
    pub(crate) documents: Option<&'a Bound<'py, PyAny>>,
}

/// Options of regular expressions as passed from Python.
pub(crate) struct RegexOptions<'a> {
    pub(crate) dialect: &'a str,
    pub(crate) unicode: bool,
    pub(crate) case_insensitive: bool,
    pub(crate) dot_matches_newline: bool,
    pub(crate) ascii_classes: bool,
    pub(crate) search: bool,
}

/// Looks up an option's value by name, or raises `python/option` with the allowed names.
fn choose<T>(
    py: Python<'_>,
    name: &'static str,
    given: &str,
    all: impl IntoIterator<Item = (&'static str, T)>,
) -> PyResult<T> {
    let mut names = Vec::new();
    for (known, value) in all {
        if known == given {
            return Ok(value);
        }
        names.push(known);
    }
    Err(choice(name, given, &names.join(", "))).raise(py)
}

fn whitespace(py: Python<'_>, given: &str) -> PyResult<Whitespace> {
    match given.split_once('=') {
        Some(("pattern", pattern)) => Ok(Whitespace::Pattern(pattern.to_owned())),
        Some(("max", most)) if most.parse::<u32>().is_ok() => {
            Ok(Whitespace::AtMost(most.parse().unwrap_or_default()))
        }
        _ => {
            let named = [
                ("free", Whitespace::Free),
                ("compact", Whitespace::Compact),
                ("short", Whitespace::Short),
                ("spaced", Whitespace::Spaced),
            ];
            // listed for the error message
            let forms = [("max=N", Whitespace::Free), ("pattern=REGEX", Whitespace::Free)];
            choose(
                py,
                "whitespace",
                given,
                named.into_iter().chain(forms.into_iter().filter(|form| form.0 != given)),
            )
        }
    }
}

pub(crate) fn of_json_schema(
    schema: &Bound<'_, PyAny>,
    options: SchemaOptions<'_, '_>,
    limits: Limits,
) -> PyResult<Source> {
    let py = schema.py();
    let _call = PythonCall::begin(py);
    let text: String = py.import("grammata._schemas")?.call_method1("text_of", (schema,))?.extract()?;
    let (documents, raised) = documents(options.documents)?;
    let order = [("declared", PropertyOrder::Declared), ("any", PropertyOrder::Any)];
    let formats = [("assert", Formats::Assert), ("annotate", Formats::Annotate)];
    let undeclared = [("allowed", Undeclared::Allowed), ("refused", Undeclared::Refused)];
    let numbers = [("any", Numbers::Any), ("plain", Numbers::Plain)];
    let options = json_schema::Options::default()
        .whitespace(whitespace(py, options.whitespace)?)
        .property_order(choose(py, "property_order", options.property_order, order)?)
        .formats(choose(py, "formats", options.formats, formats)?)
        .undeclared(choose(py, "undeclared", options.undeclared, undeclared)?)
        .numbers(choose(py, "numbers", options.numbers, numbers)?)
        .max_digits(options.max_digits)
        .documents(documents)
        .grammars(Some(lark::IN_STRINGS))
        .limits(limits);
    Ok(Source { raised, ..Source::new(grammata::syntax::Source::JsonSchema(text, options)) })
}

/// The values of `dialect` with their meanings.
const DIALECTS: [(&str, regex::Dialect); 2] =
    [("rust", regex::Dialect::Rust), ("ecma", regex::Dialect::Ecma262)];

pub(crate) fn of_regex(
    py: Python<'_>,
    pattern: String,
    options: RegexOptions<'_>,
    limits: Limits,
) -> PyResult<Source> {
    let options = regex::Options::default()
        .dialect(choose(py, "dialect", options.dialect, DIALECTS)?)
        .unicode(options.unicode)
        .case_insensitive(options.case_insensitive)
        .dot_matches_newline(options.dot_matches_newline)
        .ascii_classes(options.ascii_classes)
        .search(options.search)
        .limits(limits);
    Ok(Source::new(grammata::syntax::Source::Regex(pattern, options)))
}

pub(crate) fn of_gbnf(grammar: String, root: &str, limits: Limits) -> Source {
    let options = gbnf::Options::default().root(root.to_owned()).limits(limits);
    Source::new(grammata::syntax::Source::Gbnf(grammar, options))
}

pub(crate) fn of_lark(
    py: Python<'_>,
    grammar: String,
    start: &str,
    dialect: &str,
    limits: Limits,
) -> PyResult<Source> {
    let dialect = choose(py, "dialect", dialect, DIALECTS)?;
    let options = lark::Options::default().start(start.to_owned()).dialect(dialect).limits(limits);
    Ok(Source::new(grammata::syntax::Source::Lark(grammar, options)))
}

/// Sources by the names that a structural tag uses for them.
pub(crate) type Embedded<'py> = BTreeMap<String, PyRef<'py, Source>>;

pub(crate) fn of_structural_tag(
    tag: &Bound<'_, PyAny>,
    grammars: Option<Embedded<'_>>,
    limits: Limits,
) -> PyResult<Source> {
    let py = tag.py();
    let text = match tag.extract::<String>() {
        Ok(text) => text,
        Err(_) => BORDER.json("the structural tag", tag)?.to_string(),
    };
    let mut named = BTreeMap::new();
    for (name, source) in grammars.unwrap_or_default() {
        let inner = Arc::clone(&source.source);
        let parsed = detach(py, move || parse(&inner));
        named.insert(name, parsed.map_err(|error| source.raised.exception(py, &error))?.grammar);
    }
    let options = structural_tag::Options::default().grammars(named).limits(limits);
    Ok(Source::new(grammata::syntax::Source::StructuralTag(text, options)))
}

pub(crate) fn of_spec(
    spec: &Bound<'_, PyAny>,
    parameters: Option<&Bound<'_, PyDict>>,
    folder: Option<PathBuf>,
    limits: Limits,
) -> PyResult<Source> {
    let (text, options) = BORDER.spec_options(spec, parameters, folder, limits)?;
    Ok(Source::new(grammata::syntax::Source::Spec(text, options)))
}

#[pymethods]
impl Source {
    /// A JSON Schema: a text, a dict, a Pydantic model, a dataclass, a TypedDict, an Enum, or another type
    /// (`json_schema_of`).
    ///
    /// `whitespace` between the tokens of JSON: "short" (nothing, a space, or a line feed and at most 32 blanks),
    /// "free", "compact", "spaced" (one space after each comma and colon), "max=N" or "pattern=REGEX". "free" is what
    /// JSON allows; a model may then write white space without end. `property_order`:
    /// "declared" or "any". `formats`: "assert" or "annotate". `undeclared`: "allowed", or "refused" (an object with
    /// declared members has no others, unless the schema says so). `numbers`: "any", or "plain" (no exponents).
    /// `max_digits`: the maximum length of each run of digits that nothing else bounds. `documents`: a dict from URIs
    /// to the documents of references, or a callable that is called once for each URI; nothing is fetched.
    #[staticmethod]
    #[pyo3(signature = (schema, *, whitespace="short", property_order="declared", formats="assert", undeclared="allowed", numbers="any",
        max_digits=None, documents=None, limits=None))]
    #[allow(clippy::too_many_arguments)] // each is a keyword in Python
    fn json_schema(
        schema: &Bound<'_, PyAny>,
        whitespace: &str,
        property_order: &str,
        formats: &str,
        undeclared: &str,
        numbers: &str,
        max_digits: Option<u32>,
        documents: Option<&Bound<'_, PyAny>>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Source> {
        let options =
            SchemaOptions { whitespace, property_order, formats, undeclared, numbers, max_digits, documents };
        of_json_schema(schema, options, self::limits(limits)?)
    }

    /// A regular expression that matches whole texts; with `search`, any text may precede and follow the match.
    ///
    /// `dialect`: "rust", or "ecma" (ECMA-262 with the flag u). `unicode`: whether classes contain characters instead
    /// of bytes.
    #[staticmethod]
    #[pyo3(signature = (pattern, *, dialect="rust", unicode=true, case_insensitive=false, dot_matches_newline=false,
        ascii_classes=false, search=false, limits=None))]
    #[allow(clippy::too_many_arguments)] // each is a keyword in Python
    fn regex(
        py: Python<'_>,
        pattern: String,
        dialect: &str,
        unicode: bool,
        case_insensitive: bool,
        dot_matches_newline: bool,
        ascii_classes: bool,
        search: bool,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Source> {
        let options =
            RegexOptions { dialect, unicode, case_insensitive, dot_matches_newline, ascii_classes, search };
        of_regex(py, pattern, options, self::limits(limits)?)
    }

    /// A grammar in llama.cpp's notation, with special tokens (`<think>`) and text that runs until a trigger.
    #[staticmethod]
    #[pyo3(signature = (grammar, *, root="root", limits=None))]
    fn gbnf(grammar: String, root: &str, limits: Option<&Bound<'_, PyAny>>) -> PyResult<Source> {
        Ok(of_gbnf(grammar, root, self::limits(limits)?))
    }

    /// A structural tag, the JSON in which vLLM and SGLang describe tool calls: a text or a dict, in the form with
    /// `format` or the older one with `structures` and `triggers`. `grammars`: sources of any notation by the names
    /// that the tag uses for them in `{"type": "grammar", "name": …}`. Raises GrammarError if one of these sources is
    /// invalid.
    #[staticmethod]
    #[pyo3(signature = (tag, *, grammars=None, limits=None))]
    fn structural_tag(
        tag: &Bound<'_, PyAny>,
        grammars: Option<Embedded<'_>>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Source> {
        of_structural_tag(tag, grammars, self::limits(limits)?)
    }

    /// A grammar in the notation of the package Lark: rules, terminals, `%json {…}`, `%ignore`, `%import common.NAME`.
    /// `dialect`: that of its patterns, "rust" or "ecma"; only the latter has look-around.
    #[staticmethod]
    #[pyo3(signature = (grammar, *, start="start", dialect="rust", limits=None))]
    fn lark(
        py: Python<'_>,
        grammar: String,
        start: &str,
        dialect: &str,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Source> {
        of_lark(py, grammar, start, dialect, self::limits(limits)?)
    }

    /// An automaton spec: TOML, JSON or a dict. `parameters` are values for the parameters that it declares; `folder`
    /// is where the files that it names are.
    #[staticmethod]
    #[pyo3(signature = (spec, *, parameters=None, folder=None, limits=None))]
    fn spec(
        spec: &Bound<'_, PyAny>,
        parameters: Option<&Bound<'_, PyDict>>,
        folder: Option<PathBuf>,
        limits: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Source> {
        of_spec(spec, parameters, folder, self::limits(limits)?)
    }

    /// The source's text.
    #[getter]
    fn text(&self) -> &str {
        self.source.text()
    }

    /// "json-schema", "regex", "gbnf", "lark", "structural-tag" or "spec".
    #[getter]
    fn notation(&self) -> &str {
        self.source.notation().id()
    }

    /// Reads the source without compiling it, and returns the warnings of its front end. Raises GrammarError,
    /// LimitError.
    ///
    /// >>> import grammata
    /// >>> grammata.Source.regex("a+").check()
    /// []
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let parsed = detach(py, || parse(&self.source));
        let parsed = parsed.map_err(|error| self.raised.exception(py, &error))?;
        BORDER.warnings(py, &parsed.warnings)
    }

    fn __repr__(&self) -> String {
        format!("<grammata.Source: {}, {} bytes>", self.source.notation().name(), self.source.text().len())
    }
}
