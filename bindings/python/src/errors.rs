//! Errors of the library as Python exceptions, and the errors of the bindings themselves.

use grammata::{Diagnostic, Error};
use grammata_python_border::Border;
use grammata_python_border::ending::PythonCall;
use pyo3::prelude::*;

/// The conversions between Rust and Python for the package `grammata`.
pub(crate) const BORDER: Border = Border {
    package: "grammata",
    settings: &[
        ("Options::root", "root="),
        ("Options::dialect", "dialect=\"ecma\""),
        ("LoadOptions::eos", "eos="),
        ("LoadOptions::specials", "specials="),
        ("LoadOptions::width", "width="),
        ("Samples::most", "max_bytes="),
        ("json_schema::Options::documents", "documents="),
        ("Vocabulary::mask_words()", "Vocabulary.mask_words"),
    ],
};

/// Converts results of the library to results of Python.
pub(crate) trait Raise<T> {
    /// Returns the value, or the exception of the error's kind.
    fn raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> Raise<T> for grammata::Result<T> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        BORDER.raise(py, self)
    }
}

/// The Python exception of an error.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    BORDER.exception(py, error)
}

/// Returns the exception of a batch. `errors` has an entry per matcher: the exception of one that failed, otherwise
/// `None`.
pub(crate) fn batch(py: Python<'_>, errors: Vec<Option<Bound<'_, PyAny>>>) -> PyResult<PyErr> {
    let _call = PythonCall::begin(py);
    let error = BORDER.errors(py)?.getattr("batch_error")?.call1((errors,))?;
    Ok(PyErr::from_value(error))
}

grammata_base::errors! {
    pub(crate) Usage;

    matcher_in_use() = "python/matcher-in-use", "the matcher is in use by another call"
        found("a call that has not returned, or the matcher twice in one batch")
        allowed("one call at a time")
        help("a matcher follows one sequence: give each thread its own (`fork()`, or `grammar.matcher()`)");

    unknown_events(given: &str) = "python/unknown-events", "no such events"
        found("`{}`", grammata_base::diagnostic::excerpt(given))
        allowed("`events=\"json\"`, a list of names of rules, or None");

    no_events() = "python/no-events", "the matcher reports no events"
        help("make it with `grammar.matcher(events=\"json\")`");

    buffer_in_use() = "python/buffer-in-use", "the buffer is being filled by another call"
        allowed("one call at a time") help("give each thread a `MaskBuffer` over memory of its own");

    no_buffer(found: &str, cause: &PyErr) = "python/no-buffer", "the object does not lend its memory"
        found(found)
        cause(cause)
        allowed("a NumPy array, a torch tensor on the CPU, a bytearray, or another buffer or DLPack object")
        help("for example `numpy.zeros(vocabulary.mask_words, dtype=numpy.int32)`");

    read_only() = "python/read-only", "the buffer cannot be written"
        found("read-only memory")
        allowed("memory that can be written")
        help("a `bytes` object cannot be filled, a `bytearray` can; NumPy: `array.flags.writeable`");

    element_type(found: &str, allowed: &'static str) =
        "python/element-type", "the buffer has elements of another type"
        found(found)
        allowed(allowed)
        help("convert the array first: it is filled in place, so the call cannot convert it");

    not_contiguous() = "python/not-contiguous", "the buffer has gaps, or its rows are not one after the other"
        allowed("contiguous memory in C order")
        help("for NumPy, `numpy.ascontiguousarray`, once, before the loop");

    misaligned(address: usize) = "python/misaligned", "the buffer is not aligned to 32-bit words"
        found("an address that leaves {} divided by 4", address % 4)
        allowed("a multiple of 4")
        help("allocate an array of 32-bit elements instead of slicing bytes");

    device(found: &str) = "python/device", "the memory is not the host's"
        found(found)
        allowed("a device of DLPack's type 1 (CPU), or pinned memory of the host (3, 11)")
        help("fill a buffer on the CPU and copy it to the device");

    rows(found: &str, allowed: String) = "python/rows", "the buffer does not fit the batch"
        found(found)
        allowed(allowed)
        help("for example `numpy.zeros((len(matchers), vocabulary.mask_words), dtype=numpy.int32)`");

    /// The error of logits that have another number of rows than the masks.
    rows_of_logits(logits: usize, masks: usize) = "python/rows", "the logits do not have a row for each mask"
        found("logits of {logits} rows, masks of {masks}")
        allowed("as many rows of logits as of masks; memory of one dimension is one row")
        help("pass the rows that belong together: `mask_logits(logits[row], masks[row])`");

    more_logits(logits: usize, bits: usize) = "python/width", "there are more logits than the mask has bits"
        found("{logits} logits in a row, {bits} bits")
        allowed("at most {bits}")
        help("the model's head is padded: load the vocabulary with `width={logits}`, the length of its logits");

    fewer_logits(logits: usize, words: usize) = "python/width", "there are fewer logits than tokens"
        found("{logits} logits in a row, {words} words of 32 tokens in its mask")
        allowed("from {} to {} logits", 32 * words.saturating_sub(1) + 1, 32 * words)
        help("pass the logits of the whole vocabulary; if the model lacks logits for the last tokens, pass \
        `mask[:{}]`", logits.div_ceil(32));

    /// The error that a row of memory without rows was requested: the memory has one dimension, or its elements are
    /// bytes.
    no_rows() = "python/rows", "the buffer has no rows"
        found("memory of one dimension, or of bytes")
        allowed("two dimensions of 32-bit integers")
        help("`Vocabulary.allocate_masks(count)` makes such an array");

    /// The error of a list of a batch that does not have one entry per matcher.
    lengths(name: &str, found: usize, matchers: usize) = "python/rows", "a list does not fit the batch"
        found("`{name}` of {found}")
        allowed("an entry for each of {matchers} matchers")
        help("leave the list out to use the default for all");

    token_range(found: &str) = "python/token-range", "not a token id"
        found(found)
        allowed("an integer from 0 to {}", u32::MAX)
        help("pass ids as the tokenizer has them, `Vocabulary.width` of them at most");

    tokenizer(found: &str, wanted: &'static str) =
        "python/tokenizer", "the tokenizer does not list its tokens"
        found(found)
        allowed(wanted)
        help("`Vocabulary.from_file` reads tokenizer.json, tekken.json, SentencePiece's .model and rank files");

    threads(cause: &impl std::fmt::Display) = "python/threads", "no threads can be started"
        cause(cause) help("batches of at most 4 matchers need none");
}

pub(crate) fn folder(path: &std::path::Path) -> Error {
    let file = path.join("tokenizer.json");
    Error::new(
        grammata::ErrorKind::Io,
        Diagnostic::new("io/no-file", format!("`{}` is a folder", path.display()))
            .allowed("the tokenizer's file")
            .help(format!("for example `{}`", file.display())),
    )
}
