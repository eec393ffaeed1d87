//! Converts errors of the library to Python exceptions.

use crate::Border;
use crate::ending::PythonCall;
use grammata::{Diagnostic, Error, ErrorKind, Place};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

impl Border {
    /// Converts an error to the exception of its kind. If that fails, returns the exception of the failure.
    pub fn exception(&self, py: Python<'_>, error: &Error) -> PyErr {
        self.value(py, error).map_or_else(|failure| failure, PyErr::from_value)
    }

    /// Converts a result of the library to a result of Python.
    ///
    /// # Errors
    /// The [`exception`](Border::exception) of the error.
    pub fn raise<T>(&self, py: Python<'_>, result: grammata::Result<T>) -> PyResult<T> {
        result.map_err(|error| self.exception(py, &error))
    }

    /// The Python exception of an error, as an object.
    ///
    /// # Errors
    /// Exceptions of the package's own code.
    pub fn value<'py>(&self, py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
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
        let diagnostics: Vec<Diagnostic> = error.diagnostics().map(|one| self.in_python(one)).collect();
        let mut lines: Vec<String> =
            diagnostics.iter().map(|diagnostic| format!("error{diagnostic}")).collect();
        if error.is_cut() {
            lines.extend(error.to_string().lines().last().map(str::to_owned));
        }
        let objects = diagnostics.iter().map(|one| self.object(py, one)).collect::<PyResult<Vec<_>>>()?;
        let class = self.errors(py)?.getattr(kind)?;
        class.call1((lines.join("\n"), PyTuple::new(py, objects)?, error.is_cut()))
    }

    /// Converts diagnostics that are not errors to a list of the package's `Diagnostic`.
    ///
    /// # Errors
    /// Exceptions of the package's own code.
    pub fn warnings<'py>(
        &self,
        py: Python<'py>,
        warnings: &[Diagnostic],
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        warnings.iter().map(|warning| self.object(py, &self.in_python(warning))).collect()
    }

    /// The module of the package's exceptions.
    ///
    /// # Errors
    /// Exceptions of its import.
    pub fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyModule>> {
        py.import(format!("{}._errors", self.package))
    }

    /// Converts a diagnostic to the package's `Diagnostic`.
    fn object<'py>(&self, py: Python<'py>, diagnostic: &Diagnostic) -> PyResult<Bound<'py, PyAny>> {
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
        self.errors(py)?.getattr("Diagnostic")?.call((), Some(&fields))
    }

    /// A diagnostic whose help and bounds name Python settings instead of those of the library.
    fn in_python(&self, diagnostic: &Diagnostic) -> Diagnostic {
        diagnostic.renamed(|setting| match setting.strip_prefix("Limits::") {
            Some(limit) => Some(format!("limits={{\"{limit}\": …}}")),
            None => {
                let known = self.settings.iter().find(|(known, _)| *known == setting);
                known.map(|(_, name)| (*name).to_owned())
            }
        })
    }
}
