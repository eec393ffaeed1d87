//! The key of the server.

use crate::errors::ApiError;
use hyper::StatusCode;
use hyper::header::{self, HeaderMap};
use sha2::{Digest, Sha256};
use std::fmt;

const SCHEME: &[u8] = b"Bearer ";

/// A key that clients must send. It is not shown where the settings of a server are.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Returns the hash of the key.
    pub(crate) fn hash(&self) -> Key {
        Key::new(self.0.as_bytes())
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> ApiKey {
        ApiKey(key)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// The hash of a key. Comparing hashes takes the same time whichever bytes of a key are wrong, and says nothing of the key.
#[derive(Clone)]
pub(crate) struct Key([u8; 32]);

impl Key {
    pub(crate) fn new(key: &[u8]) -> Key {
        Key(Sha256::digest(key).into())
    }

    /// Checks the key of a request: `Authorization: Bearer KEY`.
    ///
    /// # Errors
    /// The header is missing, or has another key.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), ApiError> {
        let sent = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.as_bytes().split_at_checked(SCHEME.len()));
        let sent = sent.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(SCHEME)).map(|(_, key)| key);
        match sent.is_some_and(|sent| Key::new(sent.trim_ascii()).0 == self.0) {
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
