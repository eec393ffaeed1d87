//! Conversions and helpers of this package: errors, values, locks and files.

use crate::errors;
use grammata::diagnostic::{Diagnostic, Notation, Source};
use grammata::limits::LimitKind;
use grammata::{Error, Limits, Result};
use grammata_agents::tools::YamlPlaces;
use grammata_base::files;
use grammata_python_border::Border;
use grammata_python_border::ending::PythonCall;
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The conversions of the Python package `grammata_agents`.
pub(crate) const BORDER: Border = Border { package: "grammata_agents", settings: &[] };

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

/// Converts an error to a Python exception.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    BORDER.exception(py, error)
}

/// Makes a value of a class of `_values.py`.
pub(crate) fn value<'py, A: PyCallArgs<'py>>(
    py: Python<'py>,
    class: &str,
    arguments: A,
) -> PyResult<Bound<'py, PyAny>> {
    let _call = PythonCall::begin(py);
    py.import("grammata_agents._values")?.getattr(class)?.call1(arguments)
}

/// Locks a value, even if a thread panicked while it held the lock.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a file in UTF-8. A byte order mark is removed.
///
/// # Errors
/// The file cannot be read, is longer than `limits.source_bytes`, or is not UTF-8.
pub(crate) fn file(path: &Path, limits: &Limits) -> Result<String> {
    let most = limits.source_bytes;
    let bytes = files::read(path, most, |found| Limits::exceeded(LimitKind::SourceBytes, most, found))
        .map_err(|error| error.in_file(&path.display().to_string()))?;
    let text =
        String::from_utf8(bytes).map_err(|cause| errors::not_utf8(path, cause.utf8_error().valid_up_to()))?;
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}

/// Adds line numbers and excerpts of a document in JSON, YAML or Python to diagnostics.
pub(crate) fn locate<'d>(text: &str, diagnostics: impl IntoIterator<Item = &'d mut Diagnostic>) {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let source = Source::new(text, if is_json { Notation::Json } else { Notation::Text });
    match YamlPlaces::read(text).filter(|_| !is_json) {
        Some(places) => source.locate_with(diagnostics, |pointer| Some(places.find(pointer))),
        None => source.locate(diagnostics),
    }
}
