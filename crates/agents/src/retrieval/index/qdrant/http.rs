//! HTTP transport.

use super::{Method, Response, Transport};
use crate::retrieval::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use std::time::Duration;

/// Options of a connection to a server.
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Sent as the header `api-key`, which is readable in transit. Default: none.
    pub api_key: Option<String>,
    /// The maximum time of one request. Default: 30 seconds.
    pub timeout: Duration,
}

impl Default for HttpOptions {
    fn default() -> HttpOptions {
        HttpOptions { api_key: None, timeout: Duration::from_secs(30) }
    }
}

grammata_base::setters!(HttpOptions {
    api_key: Option<String>,
    timeout: Duration,
});

impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // keep the key out of logs
        let key = self.api_key.as_ref().map(|_| "…");
        f.debug_struct("HttpOptions").field("api_key", &key).field("timeout", &self.timeout).finish()
    }
}

/// HTTP/1.1 without TLS, over persistent connections. Proxies from environment variables are not used, and redirects
/// are not followed.
#[derive(Debug)]
pub struct HttpTransport {
    url: String,
    options: HttpOptions,
    agent: ureq::Agent,
    /// The maximum number of bytes of a response.
    most: u64,
}

impl HttpTransport {
    /// Creates a transport to a server at a URL of the form `http://HOST:PORT`. Responses larger than
    /// `limits.catalogue_bytes` are rejected.
    ///
    /// # Errors
    /// The URL has another form. For `https`, use your own [`Transport`], or a proxy that adds TLS.
    pub fn new(url: &str, options: HttpOptions, limits: &Limits) -> Result<HttpTransport> {
        let url = url.trim_end_matches('/');
        let host = url.strip_prefix("http://").unwrap_or_default();
        if host.is_empty() || host.contains(|c: char| c == '@' || c == '?' || c == '#' || c.is_whitespace()) {
            return Err(errors::server_url(url));
        }
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(options.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        let most = limits.catalogue_bytes as u64;
        Ok(HttpTransport { url: url.to_owned(), options, agent: config.into(), most })
    }

    fn send_by(
        &self,
        method: Method,
        path: &str,
        body: Option<&str>,
    ) -> std::result::Result<Response, ureq::Error> {
        let url = format!("{}{path}", self.url);
        let method = match method {
            Method::Get => "GET",
            Method::Put => "PUT",
            Method::Post => "POST",
        };
        let mut request = ureq::http::Request::builder().method(method).uri(url);
        if let Some(key) = &self.options.api_key {
            request = request.header("api-key", key);
        }
        let sent = match body {
            Some(body) => {
                let request = request.header("content-type", "application/json").body(body)?;
                self.agent.run(request)
            }
            None => self.agent.run(request.body(())?),
        };
        let mut answer = sent?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(self.most).read_to_vec()?;
        Ok(Response { status, body })
    }
}

impl Transport for HttpTransport {
    fn send(&self, method: Method, path: &str, body: Option<&str>) -> Result<Response> {
        self.send_by(method, path, body).map_err(|cause| errors::no_answer(&self.url, &cause))
    }
}
