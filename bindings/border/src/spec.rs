//! Reads automaton specs from Python.

use crate::Border;
use crate::ending::PythonCall;
use grammata::Limits;
use grammata::syntax::automaton_spec::{Format, Options};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl Border {
    /// Returns the text of a spec and its options. The spec is a text in TOML or JSON, or an object that JSON can
    /// write.
    ///
    /// # Errors
    /// `python/not-json`; the name of a parameter is not a `str`; exceptions of a value's `str()`.
    pub fn spec_options(
        &self,
        spec: &Bound<'_, PyAny>,
        parameters: Option<&Bound<'_, PyDict>>,
        folder: Option<PathBuf>,
        limits: Limits,
    ) -> PyResult<(String, Options)> {
        let text = match spec.extract::<String>() {
            Ok(text) => text,
            Err(_) => self.json("the spec", spec)?.to_string(),
        };
        let format = if text.trim_start().starts_with('{') { Format::Json } else { Format::Toml };
        let _call = PythonCall::begin(spec.py());
        let mut written = BTreeMap::new();
        for (name, value) in parameters.into_iter().flatten() {
            written.insert(name.extract()?, parameter(&value)?);
        }
        let options = Options::default().format(format).parameters(written).folder(folder).limits(limits);
        Ok((text, options))
    }
}

/// Writes the value of a parameter as specs do: a `bool` as `true` or `false`, a `str` unchanged, a list of `str`
/// joined by commas, and other values by `str()`.
fn parameter(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(truth.is_true().to_string());
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(text);
    }
    match value.extract::<Vec<String>>() {
        Ok(texts) => Ok(texts.join(",")),
        Err(_) => Ok(value.str()?.to_string()),
    }
}
