//! The key of the server.

use crate::errors::ApiError;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap};
use sha2::{Digest, Sha256};

/// The hash of a key. Comparing hashes takes the same time whichever bytes of a key are wrong, and says nothing of the key.
#[derive(Clone)]
pub(crate) struct Key([u8; 32]);

impl Key {
    pub(crate) fn new(key: &str) -> Key {
        Key(Sha256::digest(key.as_bytes()).into())
    }

    /// Checks the key of a request: `Authorization: Bearer KEY`.
    ///
    /// # Errors
    /// The header is missing, or has another key.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let sent = sent.and_then(|value| value.strip_prefix("Bearer "));
        match sent.is_some_and(|sent| Key::new(sent.trim()).0 == self.0) {
            true => Ok(()),
            false => Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "invalid_api_key",
                None,
                "the key is missing or wrong; send `Authorization: Bearer KEY`",
            )),
        }
    }
}
