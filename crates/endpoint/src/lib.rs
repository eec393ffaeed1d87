//! A client of chat servers that speak OpenAI's protocol (`POST /chat/completions`).
//!
//! A [`Request`] has messages and a [`Form`], the required form of the answer. A row of [`DIALECTS`] lists the
//! encodings of forms that a server may accept. [`Endpoint`] sends a request in the strongest encoding first. If the
//! server refuses the request, it is sent in the next weaker encoding, and the accepted encoding is used for later
//! requests. Servers are not trusted to enforce a form: the caller must check each answer. [`Chat`] is the interface of
//! everything that answers such requests.

// lets docs.rs show which feature each item needs
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "http")]
mod address;
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
#[cfg(feature = "http")]
mod lengths;
#[cfg(feature = "http")]
mod options;
#[cfg(feature = "http")]
mod pause;
#[cfg(feature = "http")]
mod proxy;
mod request;
#[cfg(feature = "http")]
mod secret;
#[cfg(feature = "http")]
mod server;
#[cfg(feature = "http")]
mod sse;
#[cfg(feature = "testing")]
#[doc(hidden)]
pub mod testing;

#[cfg(feature = "http")]
pub use address::hide_address;
pub use answer::{Answer, Call, Usage};
pub use dialect::{DIALECTS, Dialect, Encoding};
#[cfg(feature = "http")]
pub use endpoint::Endpoint;
#[cfg(feature = "http")]
pub use http::{Timeouts, agent};
#[cfg(feature = "http")]
pub use options::Options;
#[cfg(feature = "http")]
pub use proxy::Proxy;
pub use request::{Form, FormKind, Message, Request, Role, Tool};
#[cfg(feature = "http")]
pub use secret::{Header, Key};

use grammata_base::Result;

/// A source of answers to requests, such as a chat server.
pub trait Chat {
    /// Returns the answer to a request. The answer may have any form, so the caller must check it.
    ///
    /// # Errors
    /// No answer was received, for instance because the server cannot be reached or refuses the request.
    fn ask(&mut self, request: &Request) -> Result<Answer>;

    /// Returns the counts of all requests so far. The default implementation returns zeros.
    fn usage(&self) -> Usage {
        Usage::default()
    }

    /// Returns a text of the source as messages may show it, without secrets such as the key of a server. The default
    /// implementation returns the text.
    fn hide(&self, text: &str) -> String {
        text.to_owned()
    }
}
