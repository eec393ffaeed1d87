//! Automaton specs as Python gives them.

use crate::Border;
use crate::ending::PythonCall;
use grammata::Limits;
use grammata::syntax::automaton_spec::{Format, Options};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::collections::BTreeMap;
use std::path::PathBuf;

impl Border {
    /// The text of a spec, which may be given as a dict, and its options.
    ///
    /// # Errors
    /// `python/not-json`; a parameter whose name is not a text.
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

/// Writes a parameter the way specs write it: `true` or `false`, a text, or a list joined by commas.
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
