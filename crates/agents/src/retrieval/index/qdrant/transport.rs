//! The interface through which requests reach a server.

use grammata::error::Result;

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads what the path names.
    Get,
    /// Creates collections and field indexes; inserts or replaces points.
    Put,
    /// Searches, counts, reads points or removes them.
    Post,
}

/// A response of the server, of any status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code of the response, also of an error response.
    pub status: u16,
    /// The body: JSON, if the server is Qdrant.
    pub body: Vec<u8>,
}

/// Sends requests to a Qdrant server: over HTTP (`HttpTransport`, feature `qdrant`), with your own client (TLS,
/// retries, several nodes), or within a test.
pub trait Transport: Send + Sync + std::fmt::Debug {
    /// Sends a request. `path` begins with `/` and may have a query; `body` is JSON.
    ///
    /// # Errors
    /// No response arrived. A response with an error status is not an error here.
    fn send(&self, method: Method, path: &str, body: Option<&str>) -> Result<Response>;
}
