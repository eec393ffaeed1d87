//! Texts and bytes of JavaScript.

use crate::errors;
use grammata::Result;
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};

/// The bytes of a Uint8Array or an ArrayBuffer, and the UTF-8 of a string. `None` for other values.
pub(crate) fn bytes_of(value: &JsValue) -> Option<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return Some(text.into_bytes());
    }
    if let Some(bytes) = value.dyn_ref::<Uint8Array>() {
        return Some(bytes.to_vec());
    }
    value.dyn_ref::<ArrayBuffer>().map(|buffer| Uint8Array::new(buffer).to_vec())
}

/// The bytes of a text.
///
/// # Errors
/// `js/bytes`: the value is neither a string nor bytes.
pub(crate) fn text(value: &JsValue) -> Result<Vec<u8>> {
    bytes_of(value).ok_or_else(|| errors::bytes(&kind(value)))
}

/// What `typeof` says of a value.
pub(crate) fn kind(value: &JsValue) -> String {
    value.js_typeof().as_string().unwrap_or_default()
}
