//! External documents of a schema's references: from a dict, or from a callable.

use crate::errors::{self, BORDER};
use grammata::Error;
use grammata::syntax::json_schema::Documents;
use grammata_python_border::ending;
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// The exception raised by a resolver of documents, kept until the call that used the resolver ends with an error.
#[derive(Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    fn keep(&self, raised: PyErr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
    }

    /// Converts an error to an exception. If the resolver raised an `Exception`, it becomes the cause. If it raised
    /// something else, such as `KeyboardInterrupt`, that is returned instead.
    pub(crate) fn exception(&self, py: Python<'_>, error: &Error) -> PyErr {
        let raised = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        match raised {
            Some(raised) if !raised.is_instance_of::<PyException>(py) => raised,
            raised => {
                let exception = errors::exception(py, error);
                exception.set_cause(py, raised);
                exception
            }
        }
    }
}

/// The documents of a dict or a callable, and the slot for the callable's exceptions.
pub(crate) fn documents(given: Option<&Bound<'_, PyAny>>) -> PyResult<(Documents, Raised)> {
    let (mut documents, raised) = (Documents::default(), Raised::default());
    let Some(given) = given else { return Ok((documents, raised)) };
    if let Ok(given) = given.cast::<PyDict>() {
        for (uri, document) in given {
            documents.insert(uri.extract::<String>()?, value(&document)?);
        }
    } else if given.is_callable() {
        let (resolver, raised) = (given.clone().unbind(), raised.clone());
        documents.set_resolver(move |uri| {
            ending::attach(|py| {
                let document = resolver.bind(py).call1((uri,)).and_then(|document| value(&document));
                document.map_err(|error| {
                    let reason = error.to_string();
                    raised.keep(error);
                    reason
                })
            })
        });
    } else {
        return Err(PyTypeError::new_err(
            "`documents` is a dict from URIs to documents, or a callable that gives them",
        ));
    }
    Ok((documents, raised))
}

/// A document: a text of JSON, or an object that `json.dumps` accepts.
fn value(document: &Bound<'_, PyAny>) -> PyResult<Value> {
    const WHAT: &str = "a document of `documents`";
    match document.extract::<String>() {
        Ok(text) => BORDER.parsed(document.py(), WHAT, &text),
        Err(_) => BORDER.json(WHAT, document),
    }
}
