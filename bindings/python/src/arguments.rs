//! Conversions of arguments that several functions share.

use crate::errors::{self, BORDER};
use grammata::{Limits, TokenId};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::PyString;

/// A token id: any integer of Python or NumPy.
#[derive(Clone, Copy)]
pub(crate) struct Token(pub(crate) TokenId);

impl<'py> FromPyObject<'_, 'py> for Token {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Token> {
        match object.extract::<u32>() {
            Ok(id) => Ok(Token(TokenId::new(id))),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                let found = object.str().map(|text| text.to_string()).unwrap_or_default();
                Err(errors::exception(object.py(), &errors::token_range(&found)))
            }
            Err(error) => Err(error),
        }
    }
}

/// Several token ids.
pub(crate) fn ids(tokens: Vec<Token>) -> Vec<TokenId> {
    tokens.into_iter().map(|token| token.0).collect()
}

/// A token of a draft: any integer. An integer outside every vocabulary, such as -1, is a token that no mask allows.
#[derive(Clone, Copy)]
pub(crate) struct DraftToken(pub(crate) i64);

impl<'py> FromPyObject<'_, 'py> for DraftToken {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<DraftToken> {
        match object.extract::<i64>() {
            Ok(token) => Ok(DraftToken(token)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => Ok(DraftToken(-1)),
            Err(error) => Err(error),
        }
    }
}

/// Ids of the tokens of a draft. Integers that are not `u32` become `u32::MAX`, which is not in any vocabulary.
pub(crate) fn draft_ids(tokens: Vec<DraftToken>) -> Vec<TokenId> {
    let id = |DraftToken(token): DraftToken| TokenId::new(u32::try_from(token).unwrap_or(u32::MAX));
    tokens.into_iter().map(id).collect()
}

/// A token id or a sequence of token ids.
pub(crate) enum Ids {
    One(Token),
    Several(Vec<Token>),
}

impl<'py> FromPyObject<'_, 'py> for Ids {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Ids> {
        if object.is_instance_of::<PyString>() {
            let text = "expected a token id or a sequence of them, not str: `special_id` of a vocabulary has the id of a name";
            return Err(PyTypeError::new_err(text));
        }
        match object.hasattr("__len__")? {
            true => object.extract().map(Ids::Several),
            false => object.extract().map(Ids::One),
        }
    }
}

impl Ids {
    pub(crate) fn list(self) -> Vec<TokenId> {
        match self {
            Ids::One(token) => vec![token.0],
            Ids::Several(tokens) => ids(tokens),
        }
    }
}

/// Bytes, or a text to be encoded as UTF-8.
pub(crate) enum Bytes {
    Bytes(PyBackedBytes),
    Text(PyBackedStr),
}

impl<'py> FromPyObject<'_, 'py> for Bytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Bytes> {
        // text without UTF-8 (lone surrogates) raises Python's own error
        if object.is_instance_of::<PyString>() {
            return object.extract().map(Bytes::Text);
        }
        let name = || object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        let bytes = object.extract().map(Bytes::Bytes);
        bytes.map_err(|_| PyTypeError::new_err(format!("expected str, bytes or bytearray, not {}", name())))
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        match self {
            Bytes::Bytes(bytes) => bytes,
            Bytes::Text(text) => text.as_bytes(),
        }
    }
}

/// Limits from a dict; limits that it does not name keep their default.
pub(crate) fn limits(object: Option<&Bound<'_, PyAny>>) -> PyResult<Limits> {
    BORDER.limits(object)
}
