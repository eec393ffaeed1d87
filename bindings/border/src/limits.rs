//! Reads limits from Python.

use crate::{Border, errors};
use grammata::Limits;
use grammata::limits::LimitKind;
use pyo3::prelude::*;
use std::collections::BTreeMap;

impl Border {
    /// Reads limits from a dict from names to numbers. Limits that are not named, and all limits for `None`, have their
    /// defaults.
    ///
    /// # Errors
    /// `python/limits`: the object is not a dict, a name is unknown (the error lists the names), or a value is not a whole number, 0 or more.
    pub fn limits(&self, object: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
        let Some(object) = object else { return Ok(Limits::default()) };
        let py = object.py();
        let given: BTreeMap<String, usize> =
            object.extract().map_err(|error: PyErr| self.exception(py, &errors::limits(&error)))?;
        let mut limits = Limits::default();
        for (name, limit) in given {
            let kind = LimitKind::named(&name).ok_or_else(|| errors::unknown_limit(&name));
            limits = limits.with(self.raise(py, kind)?, limit);
        }
        Ok(limits)
    }
}
