//! Explanations and distances of a matcher as Python objects.

use grammata::mask::Distance;
use grammata::matcher::{Expectation, Explanation};
use grammata_python_border::ending::PythonCall;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

/// A `grammata.Explanation`.
pub(crate) fn explanation<'py>(py: Python<'py>, found: &Explanation) -> PyResult<Bound<'py, PyAny>> {
    let _call = PythonCall::begin(py);
    let values = py.import("grammata._values")?;
    let expected = found.expected().iter().map(|one| expectation(py, one)).collect::<PyResult<Vec<_>>>()?;
    values.getattr("Explanation")?.call1((
        found.position(),
        found.found(),
        found.is_viable(),
        found.may_end(),
        PyTuple::new(py, expected)?,
        PyBytes::new(py, found.accepted_tail()),
        found.to_string(),
    ))
}

fn expectation<'py>(py: Python<'py>, one: &Expectation) -> PyResult<Bound<'py, PyAny>> {
    let bytes: Vec<u8> = one.bytes.iter().collect();
    let class = py.import("grammata._values")?.getattr("Expectation")?;
    class.call1((
        &one.rule,
        one.label.as_deref(),
        PyBytes::new(py, &bytes),
        PyTuple::new(py, &one.terminals)?,
        one.to_string(),
    ))
}

/// A `grammata.Distance`.
pub(crate) fn distance<'py>(py: Python<'py>, distance: Distance) -> PyResult<Bound<'py, PyAny>> {
    let _call = PythonCall::begin(py);
    let kind = match distance {
        Distance::Exact(_) => "exact",
        Distance::AtMost(_) => "at most",
        Distance::Unreachable => "unreachable",
        Distance::Unknown => "unknown",
    };
    py.import("grammata._values")?.getattr("Distance")?.call1((kind, distance.known()))
}
