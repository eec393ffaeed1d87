//! Compilers and compiled grammars.

use crate::error::{GrammataDiagnostic, GrammataError};
use crate::failure::{GrammataStatus, Result};
use crate::options::{self, CompilerOptions};
use crate::raw::{Call, ask, free, make, run};
use crate::vocabulary::GrammataVocabulary;
use engine::diagnostic::{self, Notation};
use engine::syntax::{Source, parse};
use engine::{CompiledGrammar, Compiler, Diagnostic, Limits};
use grammata_agents::tools::TagPreset;
use std::ffi::c_char;
use std::sync::Arc;

/// Compiles grammars for one vocabulary. Its grammars share masks of the strings, numbers and patterns that they have
/// in common.
pub struct GrammataCompiler {
    pub(crate) compiler: Compiler,
    pub(crate) limits: Limits,
}

/// A grammar compiled for a vocabulary. Tables and masks are computed when a matcher first needs them, and shared by
/// all its matchers.
pub struct GrammataGrammar {
    pub(crate) compiled: CompiledGrammar,
    warnings: Vec<GrammataDiagnostic>,
}

/// Makes a compiler.
///
/// Options: `limits` (object from names to numbers, as returned by `grammata_default_limits`; they apply to the sources
/// of its grammars, to compiling, and to masks).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compiler_new(
    vocabulary: *const GrammataVocabulary,
    options: *const c_char,
    out: *mut *mut GrammataCompiler,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    make!(error, out, |call| {
        let vocabulary = call.handle(vocabulary, "vocabulary")?;
        let CompilerOptions { limits } = options::read(&call, options)?;
        let compiler = Compiler::new(Arc::clone(&vocabulary.vocabulary)).limits(limits.clone());
        Ok(GrammataCompiler { compiler, limits })
    })
}

/// Computes the token index of the vocabulary now; otherwise the first grammar does (some 60 milliseconds for 128,000
/// tokens).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compiler_prepare(
    compiler: *const GrammataCompiler,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| call.handle(compiler, "compiler")?.compiler.prepare())
}

/// Frees a compiler. Its grammars stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compiler_free(compiler: *mut GrammataCompiler) {
    free!(compiler);
}

/// Compiles a source in a notation. `name` is the C name of the argument with the text.
fn compile(
    call: &Call,
    notation: &str,
    compiler: *const GrammataCompiler,
    (text, length, name): (*const c_char, usize, &'static str),
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
) -> Result<()> {
    call.clear(out)?;
    let compiler = call.handle(compiler, "compiler")?;
    let text = call.text(text, length, name)?;
    let (source, notation) = options::source(call, notation, text, options, &compiler.limits)?;
    call.give(out, compiler.compile(&source, notation)?)
}

/// Compiles a JSON Schema.
///
/// Options: `generation` (true: defaults for the output of a language model, which prevent runaway white space and
/// digits), `whitespace` (`"free"`, `"compact"`, `"short"`, `"spaced"`, `{"at_most": 3}`, `{"pattern": " ?"}`),
/// `property_order` (`"declared"`, `"any"`), `formats` (`"assert"`, `"annotate"`), `undeclared` (`"allowed"`,
/// `"refused"`), `numbers` (`"any"`, `"plain"`), `max_digits` (a number), `documents` (object from URIs to the
/// documents of references).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compile_json_schema(
    compiler: *const GrammataCompiler,
    schema: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| compile(&call, "json-schema", compiler, (schema, length, "schema"), options, out))
}

/// Compiles a regular expression that matches whole texts.
///
/// Options: `dialect` (`"rust"`, `"ecma262"`), `unicode` (default true), `case_insensitive`, `dot_matches_newline`,
/// `ascii_classes`, `search` (default false).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compile_regex(
    compiler: *const GrammataCompiler,
    pattern: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| compile(&call, "regex", compiler, (pattern, length, "pattern"), options, out))
}

/// Compiles a grammar in GBNF, the notation of llama.cpp.
///
/// Options: `root` (the rule to start from).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compile_gbnf(
    compiler: *const GrammataCompiler,
    grammar: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| compile(&call, "gbnf", compiler, (grammar, length, "grammar"), options, out))
}

/// Compiles a structural tag, the JSON in which servers describe tool calls, given as text.
///
/// Options: those of `grammata_compile_json_schema`, for its schemas; `grammars`, an object that maps each name used in
/// a format `{"type": "grammar", "name": …}` to an object with `notation` ("json-schema", "gbnf", …) and `text`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compile_structural_tag(
    compiler: *const GrammataCompiler,
    tag: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| compile(&call, "structural-tag", compiler, (tag, length, "tag"), options, out))
}

/// Compiles a grammar in the notation of the Python package Lark.
///
/// Options: `start` (the rule to start from; default `"start"`), `dialect` (of its patterns: `"rust"`, `"ecma262"`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compile_lark(
    compiler: *const GrammataCompiler,
    grammar: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| compile(&call, "lark", compiler, (grammar, length, "grammar"), options, out))
}

/// Compiles an automaton spec.
///
/// Options: `format` (`"toml"`, `"json"`), `parameters` (object from names to values as text), `folder` (of the files
/// with schemas of arguments).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compile_spec(
    compiler: *const GrammataCompiler,
    spec: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| compile(&call, "spec", compiler, (spec, length, "spec"), options, out))
}

/// Compiles what a model of a family may write for a request: reasoning, then calls of its tools in free text, or, with
/// the schema of an answer, calls or an answer in JSON by this schema.
///
/// `request` is a JSON object. `family` names the family ("qwen_3", "harmony", …). The rest may be left out: `tools` and
/// `tool_choice` are those of a chat completion; `answer` (a JSON Schema); `reasoning` ("enabled", "disabled", "auto");
/// `parallel_tool_calls` (default true); `any_order` (of members; default false); `exclude_special_tokens` (default
/// true); `max_whitespace_cnt`. What is left out of the grammar or not enforced is a warning of the grammar.
///
/// Options: those of `grammata_compile_structural_tag`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_compile_request(
    compiler: *const GrammataCompiler,
    request: *const c_char,
    length: usize,
    options: *const c_char,
    out: *mut *mut GrammataGrammar,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        call.clear(out)?;
        let compiler = call.handle(compiler, "compiler")?;
        let text = call.text(request, length, "request")?;
        let made = TagPreset::tag_of_request(text, &compiler.limits)?;
        let tag = made.tag.to_string();
        let (source, notation) = options::source(&call, "structural-tag", &tag, options, &compiler.limits)?;
        let compiled = compiler.compile(&source, notation)?.compiled;
        // these have places in the request; those of the tag have not
        let mut warnings = [made.warnings, made.tool_warnings, made.answer_warnings].concat();
        warnings.extend(compiled.warnings());
        call.give(out, GrammataGrammar::new(compiled, &warnings))
    })
}

/// The number of warnings: about unknown keywords and the like, and about bytes that the vocabulary cannot spell.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_grammar_warning_count(grammar: *const GrammataGrammar) -> usize {
    ask!(grammar, 0, |grammar| grammar.warnings.len())
}

/// Warning `index`, which belongs to the grammar; NULL for larger indices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_grammar_warning(
    grammar: *const GrammataGrammar,
    index: usize,
) -> *const GrammataDiagnostic {
    // SAFETY: the contract of the header
    let call = unsafe { Call::new() };
    let warning = call.any(grammar).and_then(|grammar| grammar.warnings.get(index));
    warning.map_or(std::ptr::null(), |warning| warning)
}

/// Bytes of the grammar, its automaton, and the tables and masks computed so far.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_grammar_memory_usage(grammar: *const GrammataGrammar) -> usize {
    ask!(grammar, 0, |grammar| grammar.compiled.memory_usage())
}

/// Sizes and counts as a JSON object: `states` of the automaton, `configurations` and `masks_computed` so far,
/// `strategies` (how the tokens of these masks were computed), `resets` of full tables, `automaton_bytes`,
/// `cache_bytes`, and `distances` computed for budgets. It is written without NUL, and is shorter than 1,024 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_grammar_statistics(
    grammar: *const GrammataGrammar,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut *mut GrammataError,
) -> GrammataStatus {
    run!(error, |call| {
        let statistics = call.handle(grammar, "grammar")?.compiled.statistics();
        let text = serde_json::to_string(&statistics).unwrap_or_default();
        call.copy(text.as_bytes(), buffer.cast(), capacity, length)
    })
}

/// Frees a grammar. Its matchers stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn grammata_grammar_free(grammar: *mut GrammataGrammar) {
    free!(grammar);
}

impl GrammataCompiler {
    fn compile(&self, source: &Source, notation: Notation) -> Result<GrammataGrammar> {
        let parsed = parse(source)?;
        let text = diagnostic::Source::new(source.text(), notation);
        let compiled = self.compiler.compile(&parsed.grammar).map_err(|error| error.in_source(&text))?;
        let mut warnings = parsed.warnings;
        warnings.extend(compiled.warnings());
        text.locate(&mut warnings);
        Ok(GrammataGrammar::new(compiled, &warnings))
    }
}

impl GrammataGrammar {
    pub(crate) fn new(compiled: CompiledGrammar, warnings: &[Diagnostic]) -> GrammataGrammar {
        GrammataGrammar { compiled, warnings: warnings.iter().map(GrammataDiagnostic::new).collect() }
    }
}
