//! Events of a matcher as Python objects.

use grammata::matcher::{Event, Part};
use grammata_python_border::ending::PythonCall;
use pyo3::prelude::*;

/// An event without its matcher.
pub(crate) struct Plain {
    is_end: bool,
    kind: &'static str,
    rule: Option<String>,
    pointer: String,
    start: usize,
    end: usize,
    step: usize,
}

impl Plain {
    pub(crate) fn of(event: Event<'_>) -> Plain {
        let bytes = event.bytes();
        Plain {
            is_end: event.is_end(),
            kind: event.part().kind(),
            rule: match event.part() {
                Part::Rule(name) => Some(name.to_owned()),
                Part::Json(_) => None,
            },
            pointer: event.pointer(),
            start: bytes.start,
            end: bytes.end,
            step: event.step(),
        }
    }
}

/// A list of `grammata.Event`.
pub(crate) fn list(py: Python<'_>, events: Vec<Plain>) -> PyResult<Vec<Bound<'_, PyAny>>> {
    let _call = PythonCall::begin(py);
    let class = py.import("grammata._values")?.getattr("Event")?;
    let object = |event: Plain| {
        let Plain { is_end, kind, rule, pointer, start, end, step } = event;
        class.call1((if is_end { "end" } else { "begin" }, kind, pointer, start, end, step, rule))
    };
    events.into_iter().map(object).collect()
}
