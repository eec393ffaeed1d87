//! Errors of the library as Python exceptions, and the errors of the bindings themselves.

use crate::ending::PythonCall;
use grammata::{Diagnostic, Error, ErrorKind, Place};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Names of the library's settings in diagnostics, and the Python names of the same settings.
const SETTINGS: [(&str, &str); 5] = [
    ("Options::root", "root="),
    ("LoadOptions::eos", "eos="),
    ("LoadOptions::width", "width="),
    ("json_schema::Options::documents", "documents="),
    ("Vocabulary::mask_words()", "Vocabulary.mask_words"),
];

/// Converts results of the library to results of Python.
pub(crate) trait Raise<T> {
    /// The value; an error becomes the exception of its kind.
    fn raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> Raise<T> for grammata::Result<T> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}

/// The Python exception of an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    value(py, error).map_or_else(|failure| failure, PyErr::from_value)
}

/// The Python exception of an error, as an object.
pub(crate) fn value<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let _call = PythonCall::begin(py);
    let kind = match error.kind() {
        ErrorKind::Grammar => "GrammarError",
        ErrorKind::Vocabulary => "VocabularyError",
        ErrorKind::Limit => "LimitError",
        ErrorKind::Rejected => "RejectedError",
        ErrorKind::Model => "ModelError",
        ErrorKind::Io => "FileError",
        _ => "UsageError",
    };
    let diagnostics: Vec<Diagnostic> = error.diagnostics().map(in_python).collect();
    let mut lines: Vec<String> = diagnostics.iter().map(|diagnostic| format!("error{diagnostic}")).collect();
    if error.is_cut() {
        lines.extend(error.to_string().lines().last().map(str::to_owned));
    }
    let objects = diagnostics.iter().map(|one| object(py, one)).collect::<PyResult<Vec<_>>>()?;
    let class = py.import("grammata._errors")?.getattr(kind)?;
    class.call1((lines.join("\n"), PyTuple::new(py, objects)?, error.is_cut()))
}

/// The exception of a batch, from the exception of each matcher that failed.
pub(crate) fn batch(py: Python<'_>, errors: Vec<Option<Bound<'_, PyAny>>>) -> PyResult<PyErr> {
    let _call = PythonCall::begin(py);
    let error = py.import("grammata._errors")?.getattr("batch_error")?.call1((errors,))?;
    Ok(PyErr::from_value(error))
}

/// Warnings as a list of `grammata.Diagnostic`.
pub(crate) fn warnings<'py>(py: Python<'py>, warnings: &[Diagnostic]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    warnings.iter().map(|warning| object(py, &in_python(warning))).collect()
}

/// A `grammata.Diagnostic`.
fn object<'py>(py: Python<'py>, diagnostic: &Diagnostic) -> PyResult<Bound<'py, PyAny>> {
    let _call = PythonCall::begin(py);
    let fields = PyDict::new(py);
    fields.set_item("code", diagnostic.code())?;
    fields.set_item("message", diagnostic.message())?;
    fields.set_item("text", diagnostic.to_string())?;
    let snippet = diagnostic.snippet().map(|snippet| (snippet.line(), snippet.column()));
    let place = diagnostic.place();
    let (line, column) = match *place {
        Place::LineColumn { line, column } => (Some(line), Some(column)),
        _ => snippet.unzip(),
    };
    fields.set_item("line", line)?;
    fields.set_item("column", column)?;
    fields.set_item("place", (*place != Place::Whole).then(|| place.to_string()))?;
    let (mut pointer, mut byte, mut rule) = (None, None, None);
    match place {
        Place::Pointer(text) => pointer = Some(text),
        Place::Byte(offset) => byte = Some(*offset),
        Place::Rule(name) => rule = Some(name),
        _ => {}
    }
    fields.set_item("pointer", pointer)?;
    fields.set_item("byte", byte)?;
    fields.set_item("rule", rule)?;
    fields.set_item("file", diagnostic.file())?;
    fields.set_item("found", diagnostic.found_text())?;
    fields.set_item("cause", diagnostic.cause_text())?;
    fields.set_item("allowed", diagnostic.allowed_text())?;
    fields.set_item("help", diagnostic.help_text())?;
    py.import("grammata._errors")?.getattr("Diagnostic")?.call((), Some(&fields))
}

/// A diagnostic whose help and bounds name Python settings instead of those of the library.
fn in_python(diagnostic: &Diagnostic) -> Diagnostic {
    let mut translated = diagnostic.clone();
    if let Some(allowed) = diagnostic.allowed_text() {
        translated = translated.allowed(settings(allowed));
    }
    match diagnostic.help_text() {
        Some(help) => translated.help(settings(help)),
        None => translated,
    }
}

/// A text with each library setting in backquotes replaced by its Python counterpart.
fn settings(text: &str) -> String {
    let pieces = text.split('`').enumerate().map(|(index, piece)| match piece.strip_prefix("Limits::") {
        _ if index % 2 == 0 => piece.to_owned(),
        Some(limit) => format!("limits={{\"{limit}\": …}}"),
        None => {
            let known = SETTINGS.iter().find(|(setting, _)| *setting == piece);
            known.map_or(piece, |(_, name)| name).to_owned()
        }
    });
    pieces.collect::<Vec<_>>().join("`")
}

fn usage(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(crate) fn matcher_in_use() -> Error {
    usage(
        Diagnostic::new("python/matcher-in-use", "the matcher is in use by another call")
            .found("a call that has not returned, or the matcher twice in one batch")
            .allowed("one call at a time")
            .help(
                "a matcher follows one sequence: give each thread its own (`fork()`, or `grammar.matcher()`)",
            ),
    )
}

pub(crate) fn buffer_in_use() -> Error {
    usage(
        Diagnostic::new("python/buffer-in-use", "the buffer is being filled by another call")
            .allowed("one call at a time")
            .help("give each thread a `MaskBuffer` over memory of its own"),
    )
}

pub(crate) fn no_buffer(found: &str, cause: &PyErr) -> Error {
    usage(
        Diagnostic::new("python/no-buffer", "the object does not lend its memory")
            .found(found)
            .cause(cause)
            .allowed(
                "a NumPy array, a torch tensor on the CPU, a bytearray, or another buffer or DLPack object",
            )
            .help("for example `numpy.zeros(vocabulary.mask_words, dtype=numpy.int32)`"),
    )
}

pub(crate) fn read_only() -> Error {
    usage(
        Diagnostic::new("python/read-only", "the buffer cannot be written")
            .found("read-only memory")
            .allowed("memory that can be written")
            .help("a `bytes` object cannot be filled, a `bytearray` can; NumPy: `array.flags.writeable`"),
    )
}

pub(crate) fn element_type(found: &str, allowed: &'static str) -> Error {
    usage(
        Diagnostic::new("python/element-type", "the buffer has elements of another type")
            .found(found)
            .allowed(allowed)
            .help("convert the array first: it is filled in place, so the call cannot convert it"),
    )
}

pub(crate) fn not_contiguous() -> Error {
    usage(
        Diagnostic::new(
            "python/not-contiguous",
            "the buffer has gaps, or its rows are not one after the other",
        )
        .allowed("contiguous memory in C order")
        .help("for NumPy, `numpy.ascontiguousarray`, once, before the loop"),
    )
}

pub(crate) fn misaligned(address: usize) -> Error {
    usage(
        Diagnostic::new("python/misaligned", "the buffer is not aligned to 32-bit words")
            .found(format!("an address that leaves {} divided by 4", address % 4))
            .allowed("a multiple of 4")
            .help("allocate an array of 32-bit elements instead of slicing bytes"),
    )
}

pub(crate) fn device(found: &str) -> Error {
    usage(
        Diagnostic::new("python/device", "the memory is not the host's")
            .found(found)
            .allowed("a device of DLPack's type 1 (CPU), or pinned memory of the host (3, 11)")
            .help("fill a buffer on the CPU and copy it to the device"),
    )
}

pub(crate) fn rows(found: &str, allowed: String) -> Error {
    usage(
        Diagnostic::new("python/rows", "the buffer does not fit the batch")
            .found(found)
            .allowed(allowed)
            .help("for example `numpy.zeros((len(matchers), vocabulary.mask_words), dtype=numpy.int32)`"),
    )
}

/// A row was requested of memory without rows: of one dimension, or of bytes.
pub(crate) fn no_rows() -> Error {
    usage(
        Diagnostic::new("python/rows", "the buffer has no rows")
            .found("memory of one dimension, or of bytes")
            .allowed("two dimensions of 32-bit integers")
            .help("`Vocabulary.allocate_masks(count)` makes such an array"),
    )
}

/// A list of a batch does not have one entry per matcher.
pub(crate) fn lengths(name: &str, found: usize, matchers: usize) -> Error {
    usage(
        Diagnostic::new("python/rows", "a list does not fit the batch")
            .found(format!("`{name}` of {found}"))
            .allowed(format!("an entry for each of {matchers} matchers"))
            .help("leave the list out to use the default for all"),
    )
}

pub(crate) fn token_range(found: &str) -> Error {
    usage(
        Diagnostic::new("python/token-range", "not a token id")
            .found(found)
            .allowed(format!("an integer from 0 to {}", u32::MAX))
            .help("pass ids as the tokenizer has them, `Vocabulary.width` of them at most"),
    )
}

pub(crate) fn choice(name: &'static str, found: &str, allowed: &str) -> Error {
    usage(
        Diagnostic::new("python/option", format!("`{name}` has no such value"))
            .found(found)
            .allowed(allowed.to_owned())
            .help("help() of the method has the meaning of each value"),
    )
}

pub(crate) fn limits(cause: &impl std::fmt::Display) -> Error {
    usage(
        Diagnostic::new("python/limits", "invalid limits")
            .cause(cause)
            .allowed("a dict from names of limits to numbers, such as {\"cache_bytes\": 1 << 28}")
            .help("docs/security.md lists the limits"),
    )
}

pub(crate) fn not_json(what: &'static str, cause: &impl std::fmt::Display) -> Error {
    usage(
        Diagnostic::new("python/not-json", format!("{what} cannot be written as JSON"))
            .cause(cause)
            .allowed("None, bool, int, float, str, list and dict with names that are str")
            .help("convert other values first"),
    )
}

pub(crate) fn tokenizer(found: &str, wanted: &'static str) -> Error {
    usage(
        Diagnostic::new("python/tokenizer", "the tokenizer does not list its tokens")
            .found(found)
            .allowed(wanted)
            .help("`Vocabulary.from_file` reads tokenizer.json and rank files"),
    )
}

pub(crate) fn answer(found: &str, choices: usize) -> Error {
    usage(
        Diagnostic::new("python/answer", "the policy's answer is not one of the choices")
            .found(found)
            .allowed(format!("a place from 0 to {}, or a choice's label", choices.saturating_sub(1)))
            .help("`question.choices` has the labels; of a set the answer is a list of places"),
    )
}

pub(crate) fn threads(cause: &impl std::fmt::Display) -> Error {
    usage(
        Diagnostic::new("python/threads", "no threads can be started")
            .cause(cause)
            .help("batches of at most 4 matchers need none"),
    )
}

/// Error that replaces an exception of a policy until it is raised again.
pub(crate) fn callback() -> Error {
    usage(Diagnostic::new("python/policy", "the policy raised an exception").help("see the exception"))
}
