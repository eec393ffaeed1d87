//! The border of the package: errors, values and locks.

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

/// The border of the package.
pub(crate) const BORDER: Border = Border { package: "grammata_agents", settings: &[] };

/// Converts results of the library to results of Python.
pub(crate) trait Raise<T> {
    /// The value; an error becomes the exception of its kind.
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

/// Makes a value of a class of `_values.py`.
pub(crate) fn value<'py, A: PyCallArgs<'py>>(
    py: Python<'py>,
    class: &str,
    arguments: A,
) -> PyResult<Bound<'py, PyAny>> {
    let _call = PythonCall::begin(py);
    py.import("grammata_agents._values")?.getattr(class)?.call1(arguments)
}

/// Locks a value. A panic of another thread leaves it as that thread did.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The text of a file in UTF-8, without a byte order mark.
///
/// # Errors
/// The file cannot be read, is longer than `limits.source_bytes`, or has other bytes.
pub(crate) fn file(path: &Path, limits: &Limits) -> Result<String> {
    let most = limits.source_bytes;
    let bytes = files::read(path, most, |found| Limits::exceeded(LimitKind::SourceBytes, most, found))
        .map_err(|error| error.in_file(&path.display().to_string()))?;
    let text =
        String::from_utf8(bytes).map_err(|cause| errors::not_utf8(path, cause.utf8_error().valid_up_to()))?;
    Ok(text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text))
}

/// Adds the lines of a document in JSON, YAML or Python to diagnostics.
pub(crate) fn locate<'d>(text: &str, diagnostics: impl IntoIterator<Item = &'d mut Diagnostic>) {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let source = Source::new(text, if is_json { Notation::Json } else { Notation::Text });
    match YamlPlaces::read(text).filter(|_| !is_json) {
        Some(places) => source.locate_with(diagnostics, |pointer| Some(places.find(pointer))),
        None => source.locate(diagnostics),
    }
}
