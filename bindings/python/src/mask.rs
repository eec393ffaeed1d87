//! A mask as a Python object.

use crate::arguments::Token;
use crate::buffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList};
use std::sync::Arc;

/// A set of allowed tokens, shared with the grammar.
///
/// >>> import grammata
/// >>> grammar = grammata.Compiler(grammata.Vocabulary.from_tokens(["a", "b", "c"])).compile_regex("[ac]")
/// >>> mask = grammar.matcher().mask()
/// >>> len(mask), 1 in mask, mask.ids()
/// (2, False, [0, 2])
#[pyclass(frozen, eq, module = "grammata")]
#[derive(PartialEq)]
pub(crate) struct TokenMask(pub(crate) Arc<grammata::TokenMask>);

#[pymethods]
impl TokenMask {
    /// The number of tokens the mask covers, allowed or not.
    #[getter]
    fn width(&self) -> usize {
        self.0.width()
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __bool__(&self) -> bool {
        !self.0.is_empty()
    }

    fn __contains__(&self, token: Token) -> bool {
        self.0.contains(token.0)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.ids())?.try_iter()
    }

    /// The allowed tokens in ascending order.
    fn ids(&self) -> Vec<u32> {
        self.0.iter().map(|token| token.get()).collect()
    }

    /// Writes the mask into memory, or into a row of it, as `Matcher.fill_mask` does.
    #[pyo3(signature = (buffer, /, *, row=None))]
    fn write_to(&self, buffer: &Bound<'_, PyAny>, row: Option<usize>) -> PyResult<()> {
        buffer::fill(buffer, row, |words| self.0.write_to(words))
    }

    /// The mask as 32-bit words in the machine's byte order.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bits = self.0.to_bits();
        let bytes: Vec<u8> = bits.as_raw_slice().iter().flat_map(|word| word.to_ne_bytes()).collect();
        PyBytes::new(py, &bytes)
    }

    fn __repr__(&self) -> String {
        format!("<grammata.TokenMask: {} of {} tokens>", self.0.len(), self.0.width())
    }
}
