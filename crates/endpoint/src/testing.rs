//! Readers of answers and errors without a server, for the fuzz target. Not part of the public API.

use crate::body::Written;
use crate::http::Said;
use crate::secret::Secrets;
use crate::{Answer, Encoding, Form, Key, errors, sse};
use grammata_base::error::Error;
use std::io::Read;

/// Reads an answer from a stream of server-sent events of at most `most` bytes; `None` if the stream has no complete
/// answer.
pub fn stream(bytes: impl Read, most: u64) -> Option<Raw> {
    sse::read(bytes, most).ok().map(Raw)
}

/// Reads an answer from a whole body; `None` if the body is not an answer.
pub fn whole(bytes: &[u8]) -> Option<Raw> {
    sse::whole(bytes).ok().map(Raw)
}

/// Returns the error for a server that answers with an error status and a body.
pub fn refusal(status: u16, body: &[u8], key: &Key) -> Error {
    errors::status("http://localhost", status, &Said::read(body, &Secrets::new([key.clone()])).message)
}

/// A message of the model as received, not decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw(Written);

impl Raw {
    /// Decodes the answer according to the encoding of the form.
    pub fn answer(&self, form: &Form, encoding: Encoding) -> Answer {
        self.0.clone().answer(form, encoding)
    }

    /// Returns the number of bytes of the text, and of the names and arguments of the calls.
    pub fn length(&self) -> usize {
        let calls = self.0.calls.iter().map(|(name, arguments)| name.len() + arguments.len());
        self.0.text.len() + calls.sum::<usize>()
    }
}
