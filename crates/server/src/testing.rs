//! For the project's own tests; not part of the public API.

use crate::errors::ApiError;
use crate::{chat, responses};
use serde_json::Value;

/// Reads the body of a chat completion without a model.
///
/// # Errors
/// The status and the error that a client gets.
pub fn read_chat(body: &[u8]) -> Result<(), (u16, Value)> {
    chat::order(body).map(drop).map_err(told)
}

/// Reads the body of a request for a response without a model.
///
/// # Errors
/// The status and the error that a client gets.
pub fn read_responses(body: &[u8]) -> Result<(), (u16, Value)> {
    responses::order(body).map(drop).map_err(told)
}

#[allow(clippy::needless_pass_by_value)] // the last use of an error
fn told(error: ApiError) -> (u16, Value) {
    (error.status().as_u16(), error.value())
}
