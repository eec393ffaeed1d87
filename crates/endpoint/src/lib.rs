//! A client of chat servers that speak OpenAI's protocol (`POST /chat/completions`).
//!
//! A [`Request`] is messages and a [`Form`]: what the answer must look like. Which forms a server accepts is a row of
//! [`DIALECTS`]. [`Endpoint`] sends each request in the strongest of them; a server that refuses one is sent the next
//! weaker one, which is remembered. What a server says of its own answers is never believed: who asks checks the answer,
//! whatever the form. [`Chat`] is the seam for everything else that answers such requests.

// docs.rs says of each item which feature it takes
#![cfg_attr(docsrs, feature(doc_cfg))]

mod answer;
#[cfg(feature = "http")]
mod body;
mod dialect;
#[cfg(feature = "http")]
mod endpoint;
#[cfg(feature = "http")]
mod errors;
#[cfg(feature = "http")]
mod http;
mod request;
#[cfg(feature = "http")]
mod sse;

pub use answer::{Answer, Call, Usage};
pub use dialect::{DIALECTS, Dialect, Encoding};
#[cfg(feature = "http")]
pub use endpoint::Endpoint;
#[cfg(feature = "http")]
pub use http::{Key, Options};
pub use request::{Form, FormKind, Message, Request, Role, Tool};

use grammata_base::Result;

/// Who answers requests.
pub trait Chat {
    /// The answer to a request. It may be of any form: the caller checks it.
    ///
    /// # Errors
    /// There is no answer.
    fn ask(&mut self, request: &Request) -> Result<Answer>;

    /// What was asked so far.
    fn usage(&self) -> Usage {
        Usage::default()
    }
}
