//! Compilers, and grammars compiled for a vocabulary.

use crate::arguments::{Bytes, Token, ids, limits};
use crate::errors::{self, BORDER, Raise};
use crate::mask_file::{Exploring, MaskFile, budget};
use crate::matcher::Matcher;
use crate::source::{self, RegexOptions, SchemaOptions, Source};
use crate::vocabulary::Vocabulary;
use crate::warm::WarmUp;
use crate::words;
use grammata::Diagnostic;
use grammata::limits::LimitKind;
use grammata::syntax::{Parsed, parse};
use grammata_python_border::ending::PythonCall;
use grammata_python_border::forking::detach;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyTuple};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Compiles grammars for one vocabulary; make one per model. Its grammars share masks of the parts that they have in
/// common. Threads may share it.
///
/// `limits` is a dict from names of limits to numbers; docs/security.md lists them.
///
/// >>> import grammata
/// >>> vocabulary = grammata.Vocabulary.from_tokens(["a", "b", "<", None], specials={"<end>": 3}, eos=3)
/// >>> compiler = grammata.Compiler(vocabulary)
/// >>> compiler.compile_regex("a+b").matcher().mask().ids()
/// [0]
/// >>> compiler.compile_gbnf('root ::= "b" | "a"').matcher().mask().ids()
/// [0, 1]
#[pyclass(frozen, module = "grammata")]
pub(crate) struct Compiler {
    pub(crate) compiler: grammata::Compiler,
    limits: grammata::Limits,
}

impl Compiler {
    fn parse_and_compile(&self, py: Python<'_>, source: &Source) -> PyResult<CompiledGrammar> {
        let compile = || {
            let Parsed { grammar, warnings, .. } = parse(&source.source)?;
            Ok((self.compiler.compile(&grammar)?, warnings))
        };
        let found: grammata::Result<_> = detach(py, compile);
        let (compiled, warnings) = found.map_err(|error| source.raised.exception(py, &error))?;
        Ok(CompiledGrammar { compiled, warnings })
    }
}

#[pymethods]
impl Compiler {
    #[new]
    #[pyo3(signature = (vocabulary, *, limits=None))]
    fn new(vocabulary: &Vocabulary, limits: Option<&Bound<'_, PyAny>>) -> PyResult<Compiler> {
        let limits = self::limits(limits)?;
        let compiler = grammata::Compiler::new(Arc::clone(&vocabulary.0)).limits(limits.clone());
        Ok(Compiler { compiler, limits })
    }

    /// The vocabulary.
    #[getter]
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary(Arc::clone(self.compiler.vocabulary()))
    }

    /// Computes the token index of the vocabulary now; otherwise the first grammar does (some 60 ms for 128,000
    /// tokens).
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        detach(py, || self.compiler.prepare()).raise(py)
    }

    /// The token index of the vocabulary as bytes, for `prepare_from` in another process; some 35 bytes per token.
    /// Equal vocabularies have equal bytes.
    fn token_index<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let index = detach(py, || self.compiler.token_index()).raise(py)?;
        Ok(PyBytes::new(py, &index))
    }

    /// Reads the token index of the vocabulary from the bytes of `token_index` instead of computing it, in a fifth to a
    /// ninth of the time. Does nothing if the compiler already has its index.
    ///
    /// The bytes cannot do harm, but masks depend on them: take them from the same source as the vocabulary. Raises
    /// GrammarError if they are damaged or of another vocabulary, LimitError.
    ///
    /// >>> import grammata
    /// >>> vocabulary = grammata.Vocabulary.from_tokens(["a", "b"])
    /// >>> index = grammata.Compiler(vocabulary).token_index()
    /// >>> compiler = grammata.Compiler(vocabulary)
    /// >>> compiler.prepare_from(index)
    /// >>> compiler.compile_regex("ab").matcher().mask().ids()
    /// [0]
    #[pyo3(signature = (index, /))]
    fn prepare_from(&self, py: Python<'_>, index: Bytes) -> PyResult<()> {
        detach(py, || self.compiler.prepare_from(index.as_ref())).raise(py)
    }

    /// A compiler with the same limits that shares only data of the vocabulary with this one.
    fn detached(&self) -> Compiler {
        Compiler { compiler: self.compiler.detached(), limits: self.limits.clone() }
    }

    /// Drops the data that grammars share with each other.
    fn clear_cache(&self, py: Python<'_>) {
        detach(py, || self.compiler.clear_cache());
    }

    /// Bytes of the token index of the vocabulary.
    fn memory_usage(&self) -> usize {
        self.compiler.memory_usage()
    }

    /// Compiles a source. Raises GrammarError, LimitError.
    #[pyo3(signature = (source, /))]
    fn compile(&self, py: Python<'_>, source: &Source) -> PyResult<CompiledGrammar> {
        self.parse_and_compile(py, source)
    }

    /// Compiles a JSON Schema; see `Source.json_schema`. For output of a language model, `max_digits=40` prevents
    /// runaway numbers.
    ///
    /// Raises GrammarError, LimitError; UsageError for a type without a known schema.
    ///
    /// >>> import grammata
    /// >>> from typing import Literal
    /// >>> compiler = grammata.Compiler(grammata.Vocabulary.from_tokens([bytes([byte]) for byte in range(256)]))
    /// >>> compiler.compile_json_schema({"type": "integer", "minimum": 10, "maximum": 19}).matcher().forced_bytes()
    /// b'1'
    /// >>> compiler.compile_json_schema(Literal["yes", "no"]).matcher().forced_bytes()
    /// b'"'
    #[pyo3(signature = (schema, *, whitespace="short", property_order="declared", formats="assert", undeclared="allowed", numbers="any",
        max_digits=None, documents=None))]
    #[allow(clippy::too_many_arguments)] // each is a keyword in Python
    fn compile_json_schema(
        &self,
        schema: &Bound<'_, PyAny>,
        whitespace: &str,
        property_order: &str,
        formats: &str,
        undeclared: &str,
        numbers: &str,
        max_digits: Option<u32>,
        documents: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<CompiledGrammar> {
        let options =
            SchemaOptions { whitespace, property_order, formats, undeclared, numbers, max_digits, documents };
        let source = source::of_json_schema(schema, options, self.limits.clone())?;
        self.parse_and_compile(schema.py(), &source)
    }

    /// Compiles a regular expression; see `Source.regex`. Raises GrammarError, LimitError.
    #[pyo3(signature = (pattern, *, dialect="rust", unicode=true, case_insensitive=false, dot_matches_newline=false,
        ascii_classes=false, search=false))]
    #[allow(clippy::too_many_arguments)] // each is a keyword in Python
    fn compile_regex(
        &self,
        py: Python<'_>,
        pattern: String,
        dialect: &str,
        unicode: bool,
        case_insensitive: bool,
        dot_matches_newline: bool,
        ascii_classes: bool,
        search: bool,
    ) -> PyResult<CompiledGrammar> {
        let options =
            RegexOptions { dialect, unicode, case_insensitive, dot_matches_newline, ascii_classes, search };
        let source = source::of_regex(py, pattern, options, self.limits.clone())?;
        self.parse_and_compile(py, &source)
    }

    /// Compiles a grammar in llama.cpp's notation; see `Source.gbnf`. Raises GrammarError, LimitError.
    #[pyo3(signature = (grammar, *, root="root"))]
    fn compile_gbnf(&self, py: Python<'_>, grammar: String, root: &str) -> PyResult<CompiledGrammar> {
        self.parse_and_compile(py, &source::of_gbnf(grammar, root, self.limits.clone()))
    }

    /// Compiles a structural tag; see `Source.structural_tag`. Raises GrammarError, LimitError.
    #[pyo3(signature = (tag, *, grammars=None))]
    fn compile_structural_tag(
        &self,
        tag: &Bound<'_, PyAny>,
        grammars: Option<source::Embedded<'_>>,
    ) -> PyResult<CompiledGrammar> {
        let source = source::of_structural_tag(tag, grammars, self.limits.clone())?;
        self.parse_and_compile(tag.py(), &source)
    }

    /// Compiles a Lark grammar; see `Source.lark`. Raises GrammarError, LimitError.
    #[pyo3(signature = (grammar, *, start="start", dialect="rust"))]
    fn compile_lark(
        &self,
        py: Python<'_>,
        grammar: String,
        start: &str,
        dialect: &str,
    ) -> PyResult<CompiledGrammar> {
        self.parse_and_compile(py, &source::of_lark(py, grammar, start, dialect, self.limits.clone())?)
    }

    /// Compiles an automaton spec; see `Source.spec`. Raises GrammarError, LimitError.
    #[pyo3(signature = (spec, *, parameters=None, folder=None))]
    fn compile_spec(
        &self,
        spec: &Bound<'_, PyAny>,
        parameters: Option<&Bound<'_, PyDict>>,
        folder: Option<PathBuf>,
    ) -> PyResult<CompiledGrammar> {
        let source = source::of_spec(spec, parameters, folder, self.limits.clone())?;
        self.parse_and_compile(spec.py(), &source)
    }

    /// The grammar of a mask file, written by `CompiledGrammar.save` or `grammata compile` for this vocabulary. What
    /// was explored is read from the file, the rest is computed on demand. Files do not keep the warnings of the
    /// grammar's source.
    ///
    /// `file` is a path or a `MaskFile`. Raises FileError, LimitError; GrammarError if the file is not a mask file, is
    /// damaged, or is of another vocabulary.
    #[pyo3(signature = (file, /))]
    fn load(&self, py: Python<'_>, file: &Bound<'_, PyAny>) -> PyResult<CompiledGrammar> {
        let loaded = match file.cast::<MaskFile>() {
            Ok(file) => {
                let file = Arc::clone(&file.get().0);
                detach(py, || self.compiler.load(file))
            }
            Err(_) => {
                let path: PathBuf = file.extract()?;
                detach(py, || self.compiler.load(grammata::MaskFile::open(path, &self.limits)?))
            }
        };
        Ok(CompiledGrammar::of(loaded.raise(py)?))
    }

    fn __repr__(&self) -> String {
        let vocabulary = self.compiler.vocabulary();
        format!("<grammata.Compiler: for {} tokens>", vocabulary.len())
    }

    /// The grammar of a mask file's bytes; see `load`.
    ///
    /// >>> import grammata
    /// >>> compiler = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"]))
    /// >>> content = compiler.compile_regex("ab").to_bytes()
    /// >>> compiler.load_bytes(content).matcher().mask().ids()
    /// [0]
    #[pyo3(signature = (content, /))]
    fn load_bytes(&self, py: Python<'_>, content: Bytes) -> PyResult<CompiledGrammar> {
        let load = || self.compiler.load(grammata::MaskFile::from_bytes(content.as_ref())?);
        Ok(CompiledGrammar::of(detach(py, load).raise(py)?))
    }
}

/// A grammar compiled for a vocabulary. Any number of matchers on any number of threads may use it at the same time.
///
/// >>> import grammata
/// >>> grammar = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"])).compile_regex("ac?")
/// >>> [warning.code for warning in grammar.warnings]  # no token has the byte c
/// ['mask/missing-bytes']
/// >>> grammar.matcher().mask().ids()
/// [0]
#[pyclass(frozen, module = "grammata")]
pub(crate) struct CompiledGrammar {
    pub(crate) compiled: grammata::CompiledGrammar,
    /// Warnings of the front end.
    pub(crate) warnings: Vec<Diagnostic>,
}

impl CompiledGrammar {
    /// Wraps a compiled grammar, without warnings of its front end.
    pub(crate) fn of(compiled: grammata::CompiledGrammar) -> CompiledGrammar {
        CompiledGrammar { compiled, warnings: Vec::new() }
    }
}

/// The argument `events`.
#[derive(FromPyObject)]
enum Events {
    Named(String),
    Rules(Vec<String>),
}

#[pymethods]
impl CompiledGrammar {
    /// A matcher at the beginning of a text.
    ///
    /// `end_tokens` are ids that end the text instead of the vocabulary's end-of-sequence tokens, like the
    /// `stop_token_ids` of a request. A mask contains each of them exactly if the text may end, and none of the
    /// vocabulary's that is not given. Elsewhere only a token terminal that lists such a token allows it. An id of
    /// ordinary text no longer counts as text; this compiles the grammar again for the call. Raises UsageError if the
    /// list is empty, or an id is outside the vocabulary.
    ///
    /// With `events="json"`, `Matcher.new_events` returns the beginnings and ends of JSON values. The texts of the
    /// grammar must be JSON, as those of a JSON Schema are: a step that leaves JSON raises GrammarError. With a list of
    /// names of rules, it returns those of the texts of the rules; this compiles a second grammar for the call. Raises
    /// GrammarError if a rule cannot be reported.
    #[pyo3(signature = (*, end_tokens=None, events=None))]
    fn matcher(
        &self,
        py: Python<'_>,
        end_tokens: Option<Vec<Token>>,
        events: Option<Events>,
    ) -> PyResult<Matcher> {
        let given = match end_tokens {
            None => self.compiled.clone(),
            Some(tokens) => detach(py, || self.compiled.with_end_tokens(ids(tokens))).raise(py)?,
        };
        let matcher = match events {
            None => Ok(given.matcher().into()),
            Some(Events::Named(name)) if name == "json" => Ok(given.json_events()),
            Some(Events::Named(name)) => Err(errors::unknown_events(&name)),
            Some(Events::Rules(rules)) => detach(py, || {
                let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
                given.rule_events(&rules)?.matcher()
            }),
        };
        Ok(Matcher::new(matcher.raise(py)?))
    }

    /// The vocabulary the grammar was compiled for.
    #[getter]
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary(Arc::clone(self.compiled.vocabulary()))
    }

    /// Warnings of the grammar: those of its front end, and those of compiling it for the vocabulary.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut all = self.warnings.clone();
        all.extend(detach(py, || self.compiled.warnings()));
        BORDER.warnings(py, &all)
    }

    /// Explores the grammar ahead of time and writes the result atomically to a mask file, which `Compiler.load` reads.
    ///
    /// `documents` are texts to explore first; `states` is the maximum number of places to explore (default 4,096) and
    /// `work` the maximum number of steps (default 4,000,000, some 200 ms). The same grammar, documents and bounds give
    /// the same bytes.
    ///
    /// Raises FileError, LimitError.
    #[pyo3(signature = (path, /, *, documents=None, states=None, work=None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        documents: Option<Vec<Bytes>>,
        states: Option<usize>,
        work: Option<u64>,
    ) -> PyResult<()> {
        let exploring = Exploring { documents: documents.unwrap_or_default(), states, work };
        detach(py, || exploring.run(&self.compiled)?.save(path)).raise(py)
    }

    /// The bytes of the mask file that `save` writes, for `Compiler.load_bytes`.
    #[pyo3(signature = (*, documents=None, states=None, work=None))]
    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        documents: Option<Vec<Bytes>>,
        states: Option<usize>,
        work: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let exploring = Exploring { documents: documents.unwrap_or_default(), states, work };
        let file = detach(py, || exploring.run(&self.compiled)).raise(py)?;
        Ok(PyBytes::new(py, file.as_bytes()))
    }

    /// For `pickle`: the vocabulary, the limits that differ from the default, and the bytes of a mask file.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (limits, default) = (self.compiled.automaton().limits(), grammata::Limits::default());
        let changed = LimitKind::ALL.iter().filter(|&&kind| limits.get(kind) != default.get(kind));
        let limits: BTreeMap<&str, usize> = changed.map(|&kind| (kind.name(), limits.get(kind))).collect();
        let content = self.to_bytes(py, None, None, None)?;
        let arguments = (self.vocabulary(), limits, content).into_pyobject(py)?;
        let _call = PythonCall::begin(py);
        Ok((py.import("grammata._pickles")?.getattr("grammar")?, arguments))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let found = detach(py, || self.compiled.statistics());
        format!(
            "<grammata.CompiledGrammar: {} states, {} masks computed>",
            found.states, found.masks_computed
        )
    }

    /// The number of words of the grammar; None if there are infinitely many. A token terminal counts as one letter.
    /// Raises LimitError.
    ///
    /// >>> import grammata
    /// >>> compiler = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"]))
    /// >>> compiler.compile_regex("[ab]{1,3}").count(), compiler.compile_regex("a*").count()
    /// (14, None)
    fn count<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let bytes = words::count(py, &self.compiled)?;
        // digits would not do: the interpreter refuses to read thousands of them
        let number = |bytes: Vec<u8>| {
            py.get_type::<PyInt>().call_method1("from_bytes", (PyBytes::new(py, &bytes), "little"))
        };
        bytes.map(number).transpose()
    }

    /// The words of the grammar after the first `offset`, at most `limit` of them: those of a finite language in order
    /// of bytes, those of an infinite one by length and then in order of bytes. A word is `bytes`, or, if it has token
    /// terminals, a tuple of `bytes` and of the terminals as the grammar writes them. Raises LimitError.
    ///
    /// >>> import grammata
    /// >>> compiler = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"]))
    /// >>> compiler.compile_regex("(ab|b)+").enumerate(limit=3)
    /// [b'b', b'ab', b'bb']
    #[pyo3(signature = (*, limit=100, offset=0))]
    fn enumerate<'py>(
        &self,
        py: Python<'py>,
        limit: usize,
        offset: usize,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        words::enumerate(py, &self.compiled, limit, offset)
    }

    /// Random words of at most `max_bytes` bytes, in the form of `enumerate`. A token terminal counts as one byte.
    /// Equal seeds give equal words.
    ///
    /// By default each word is a random walk: at each byte it ends, if it may, or continues with one of the sets of
    /// bytes that lead to the same continuation; the end and these sets are equally likely, except that a set without
    /// ASCII is 8 times less likely. The walk takes only steps after which a word can still end in time. With
    /// `uniform=True` all words of at most `max_bytes` bytes are equally likely; since most words are long, so are most
    /// samples.
    ///
    /// Raises UsageError if no word is that short; LimitError.
    ///
    /// >>> import grammata
    /// >>> compiler = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b"]))
    /// >>> set(compiler.compile_regex("a|bb").sample(50)) == {b"a", b"bb"}
    /// True
    #[pyo3(signature = (count=1, /, *, seed=0, max_bytes=200, uniform=false))]
    fn sample<'py>(
        &self,
        py: Python<'py>,
        count: usize,
        seed: u64,
        max_bytes: usize,
        uniform: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        words::sample(py, &self.compiled, count, seed, max_bytes, uniform)
    }

    /// Recomputes what the mask file of a loaded grammar says about the places that texts reach, and returns the number
    /// of masks compared; 0 for a grammar that was not loaded from a file. Raises GrammarError if something differs;
    /// LimitError.
    fn verify_masks(&self, py: Python<'_>) -> PyResult<usize> {
        detach(py, || self.compiled.verify_masks()).raise(py)
    }

    /// Starts a background thread that explores the grammar into the tables that its matchers use, for example during
    /// prefill. Matchers have priority. `states` and `work` mean the same as in `save`.
    #[pyo3(signature = (*, states=None, work=None))]
    fn warm(&self, states: Option<usize>, work: Option<u64>) -> WarmUp {
        WarmUp::new(self.compiled.warm(budget(states, work)))
    }

    /// Sizes and counts: "states" of the automaton; "configurations" and "masks_computed" so far; "strategies", how the
    /// tokens of these masks were computed; "resets" of full tables; "automaton_bytes", "cache_bytes"; "distances"
    /// computed for budgets, and how many of these are "distances_at_most" and "distances_unknown".
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = detach(py, || self.compiled.statistics());
        let strategies = PyDict::new(py);
        for (name, count) in found.strategies.iter() {
            strategies.set_item(name, count)?;
        }
        let statistics = PyDict::new(py);
        statistics.set_item("states", found.states)?;
        statistics.set_item("configurations", found.configurations)?;
        statistics.set_item("masks_computed", found.masks_computed)?;
        statistics.set_item("strategies", strategies)?;
        statistics.set_item("resets", found.resets)?;
        statistics.set_item("automaton_bytes", found.automaton_bytes)?;
        statistics.set_item("cache_bytes", found.cache_bytes)?;
        statistics.set_item("distances", found.distances)?;
        statistics.set_item("distances_at_most", found.distances_at_most)?;
        statistics.set_item("distances_unknown", found.distances_unknown)?;
        Ok(statistics)
    }

    /// Bytes of the automaton, its grammar, and the tables and masks computed so far.
    fn memory_usage(&self, py: Python<'_>) -> usize {
        detach(py, || self.compiled.memory_usage())
    }
}
