//! Conversion between JSON values and Python objects.

use crate::Border;
use crate::ending::PythonCall;
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::IntoPyDict;
use serde_json::Value;

impl Border {
    /// Converts an object to a JSON value through `json.dumps`. `what` names the object in the error.
    ///
    /// # Errors
    /// `python/not-json`.
    pub fn json(&self, what: &'static str, object: &Bound<'_, PyAny>) -> PyResult<Value> {
        let py = object.py();
        let _call = PythonCall::begin(py);
        let options = [("allow_nan", false)].into_py_dict(py)?;
        let text = py.import("json")?.call_method("dumps", (object,), Some(&options));
        let text: String = text
            .and_then(|text| text.extract())
            .map_err(|error| self.exception(py, &errors::not_json(what, &error.to_string())))?;
        self.parsed(py, what, &text)
    }

    /// Parses a text of JSON. `what` names it in the error.
    ///
    /// # Errors
    /// `python/not-json`.
    pub fn parsed(&self, py: Python<'_>, what: &'static str, text: &str) -> PyResult<Value> {
        let parsed = serde_json::from_str(text);
        parsed.map_err(|error| self.exception(py, &errors::not_json(what, &error)))
    }
}

/// Converts a JSON value to a Python object through `json.loads`.
///
/// # Errors
/// Those of `json.loads`.
pub fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    let _call = PythonCall::begin(py);
    py.import("json")?.call_method1("loads", (value.to_string(),))
}
