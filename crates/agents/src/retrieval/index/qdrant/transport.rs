//! How requests reach a server.

use grammata::error::Result;

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Makes or replaces.
    Put,
    /// Searches, counts or removes.
    Post,
}

/// The answer to a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code, also one of an error.
    pub status: u16,
    /// The body: JSON.
    pub body: Vec<u8>,
}

/// Carries requests to a Qdrant server: by HTTP (`HttpTransport`, feature `qdrant`), by a client of one's own (TLS,
/// retries, several nodes), or within a test.
pub trait Transport: Send + Sync + std::fmt::Debug {
    /// Sends a request. `path` begins with `/` and may have a query; `body` is JSON.
    ///
    /// # Errors
    /// No answer came. An answer with a status of an error is no error here.
    fn send(&self, method: Method, path: &str, body: Option<&str>) -> Result<Response>;
}
