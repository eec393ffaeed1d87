//! Sends requests by HTTP, with deadlines, bounds and retries.

use crate::address::hide_address;
use crate::body::Written;
use crate::dialect::{DIALECTS, Dialect};
use crate::secret::Key;
use crate::{errors, sse};
use grammata_base::error::{Error, Result};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// Options of the requests to a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The name of the model, which is sent with each request. None by default; servers with only one model need none.
    pub model: Option<String>,
    /// The key, sent as `Authorization: Bearer KEY`; none by default.
    pub key: Option<Key>,
    /// The forms of answers that the server accepts, with their encodings. The first of [`DIALECTS`] by default.
    pub dialect: &'static Dialect,
    /// Whether the server is asked to send an answer in parts while the model writes it. False by default.
    pub stream: bool,
    /// The sampling temperature. With 0, the default, the model takes the most probable token.
    pub temperature: f32,
    /// The seed of the sampling. Equal seeds give equal answers if the server supports seeds. 0 by default.
    pub seed: u64,
    /// Maximum number of tries of a request that fails for a temporary reason: no connection, a connection or stream
    /// that breaks off, or a status 429, 500, 502, 503 or 504. 4 by default; 0 means 1.
    pub tries: u32,
    /// The pause before the second try. The pause doubles before each further try, up to `most_pause`. If the server
    /// asks for a pause in seconds (`Retry-After`), that pause is used instead. 0.5 s by default.
    pub pause: Duration,
    /// Maximum pause between tries. If the server asks for a longer pause, the request fails. 30 s by default.
    pub most_pause: Duration,
    /// Timeout for resolving the server's name, and, with the same length, for connecting. 10 s by default.
    pub connect: Duration,
    /// Timeout until an answer begins. Without `stream`, an answer begins when the model has ended. 120 s by default.
    pub first_byte: Duration,
    /// Timeout of one try, up to the last byte of its answer. 300 s by default.
    pub deadline: Duration,
    /// Maximum bytes of an answer; a longer one is an error. 8 MiB by default.
    pub answer_bytes: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: None,
            key: None,
            dialect: &DIALECTS[0],
            stream: false,
            temperature: 0.0,
            seed: 0,
            tries: 4,
            pause: Duration::from_millis(500),
            most_pause: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            deadline: Duration::from_secs(300),
            answer_bytes: 8 << 20,
        }
    }
}

grammata_base::setters!(Options {
    model: Option<String>,
    key: Option<Key>,
    dialect: &'static Dialect,
    stream: bool,
    temperature: f32,
    seed: u64,
    tries: u32,
    pause: Duration,
    most_pause: Duration,
    connect: Duration,
    first_byte: Duration,
    deadline: Duration,
    answer_bytes: u64,
});

/// Maximum bytes that are read of the body of an error response.
const MOST_ERROR: u64 = 1 << 16;

/// A server's response to a request: a message of the model, or a refusal.
pub(crate) enum Outcome {
    Written(Written),
    /// The server refused the request with this status, 400 or 422, and this message.
    Refused(u16, String),
}

/// The result of one try of a request.
enum Try {
    Done(Outcome),
    Failed(Error),
    /// A later try may succeed. The error and, if the server asks for a pause, the status and the pause.
    Again(Error, Option<(u16, Duration)>),
}

/// An HTTP/1.1 client of a chat server. TLS trusts the certificates of the system. Proxies of the environment are not
/// used, and redirections are not followed.
#[derive(Debug)]
pub(crate) struct Http {
    url: String,
    agent: ureq::Agent,
}

impl Http {
    /// Creates a client of the server at a URL. Appends `/chat/completions` to the URL unless the URL already ends with
    /// it.
    ///
    /// # Errors
    /// `endpoint/url`: the URL is not the address of a server; `endpoint/certificates`: the URL has `https`, and the
    /// system has no trusted certificates.
    pub(crate) fn new(url: &str, options: &Options) -> Result<Http> {
        let base = url.trim_end_matches('/');
        let timeouts = Timeouts {
            connect: options.connect,
            first_byte: Some(options.first_byte),
            whole: Some(options.deadline),
        };
        let agent = agent(base, &timeouts)?.ok_or_else(|| errors::url(url))?;
        let path = if base.ends_with("/chat/completions") { "" } else { "/chat/completions" };
        let url = format!("{base}{path}");
        // report an address that the HTTP client cannot parse now, and not at the first request
        url.parse::<ureq::http::Uri>().map_err(|_| errors::url(&url))?;
        Ok(Http { url, agent })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Sends a request, and repeats it after temporary failures. Adds the number of tries to `sent`.
    ///
    /// # Errors
    /// There is no readable answer within the allowed tries, time and bytes; the server redirects the request; the
    /// status is not 200, 400 or 422; the server asks for a longer pause than `most_pause`.
    pub(crate) fn send(&self, body: &str, options: &Options, sent: &mut u64) -> Result<Outcome> {
        for tries in 1.. {
            *sent += 1;
            let (error, wait) = match self.once(body, options, tries) {
                Try::Done(outcome) => return Ok(outcome),
                Try::Failed(error) => return Err(error),
                Try::Again(error, wait) => (error, wait),
            };
            if tries >= options.tries {
                return Err(error);
            }
            let pause = match wait {
                Some((status, pause)) if pause > options.most_pause => {
                    return Err(errors::wait(&self.url, status, pause, options.most_pause));
                }
                Some((_, pause)) => pause,
                None => options.pause.saturating_mul(1 << (tries - 1).min(16)).min(options.most_pause),
            };
            std::thread::sleep(pause);
        }
        Err(errors::unreachable(&self.url, options.tries, "no try is allowed"))
    }

    fn once(&self, body: &str, options: &Options, tries: u32) -> Try {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(key) = &options.key {
            request = request.header("authorization", key.bearer());
        }
        let response = match request.send(body) {
            Ok(response) => response,
            Err(error) => return self.failed(error, options, tries),
        };
        let status = response.status().as_u16();
        let header = |name: &str| {
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        match status {
            200 => {}
            300..400 => {
                let location = header("location").unwrap_or_default();
                let location = hidden(&hide_address(&location), options);
                return Try::Failed(errors::redirect(&self.url, status, &location));
            }
            _ => {
                let wait = header("retry-after").and_then(|text| text.trim().parse().ok());
                let message = message(response.into_body().into_reader(), options);
                let error = || errors::status(&self.url, status, &message);
                return match status {
                    429 | 500 | 502 | 503 | 504 => {
                        Try::Again(error(), wait.map(|seconds| (status, Duration::from_secs(seconds))))
                    }
                    400 | 422 => Try::Done(Outcome::Refused(status, message)),
                    _ => Try::Failed(error()),
                };
            }
        }
        let written_kind = header("content-type").unwrap_or_default();
        let kind = written_kind.to_ascii_lowercase();
        let stream = response.into_body().into_reader();
        let most = options.answer_bytes;
        let read = if kind.starts_with("text/event-stream") {
            sse::read(stream, most)
        } else if kind.starts_with("application/json") || kind.is_empty() {
            let mut text = Vec::new();
            match stream.take(most.saturating_add(1)).read_to_end(&mut text) {
                Ok(_) if text.len() as u64 > most => Err(sse::Fault::TooLong),
                Ok(_) => sse::whole(&text),
                Err(cause) => Err(sse::Fault::Broken(cause)),
            }
        } else {
            let found = format!("the content type `{}`", hidden(&written_kind, options));
            return Try::Failed(errors::answer(&self.url, &found, "the server sent no JSON"));
        };
        match read {
            Ok(written) => Try::Done(Outcome::Written(written)),
            Err(sse::Fault::TooLong) => Try::Failed(errors::too_long(&self.url, most)),
            Err(sse::Fault::Foreign(found, cause)) => {
                let hide = |text: &str| hidden(text, options);
                Try::Failed(errors::answer(&self.url, &hide(&found), hide(&cause)))
            }
            Err(sse::Fault::Ended) => {
                let cause = "the stream ended before the answer";
                Try::Again(errors::answer(&self.url, "a part of an answer", cause), None)
            }
            Err(sse::Fault::Broken(cause)) => match cause.downcast::<ureq::Error>() {
                Ok(error) => self.failed(error, options, tries),
                Err(cause) => self.failed(ureq::Error::Io(cause), options, tries),
            },
        }
    }

    /// Converts the error of a failed or incomplete exchange to the result of the try. There is no further try after a
    /// deadline other than those for resolving and connecting, after a TLS error, or after an error in the request
    /// itself. After other errors, another try may succeed.
    fn failed(&self, error: ureq::Error, options: &Options, tries: u32) -> Try {
        use ureq::{Error, Timeout};
        let url = &self.url;
        // causes may quote what the server sent
        let hide = |cause: &dyn std::fmt::Display| hidden(&cause.to_string(), options);
        match error {
            Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                Try::Again(errors::deadline(url, "a connection", options.connect), None)
            }
            Error::Timeout(Timeout::RecvResponse) => {
                Try::Failed(errors::deadline(url, "the first byte of an answer", options.first_byte))
            }
            Error::Timeout(_) => Try::Failed(errors::deadline(url, "the end of an answer", options.deadline)),
            error @ (Error::Tls(_) | Error::Rustls(_) | Error::BadUri(_) | Error::Http(_)) => {
                Try::Failed(errors::unreachable(url, tries, hide(&error)))
            }
            // not tried again, because an invalid certificate remains invalid
            Error::Io(cause) if cause.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
                Try::Failed(errors::unreachable(url, tries, hide(&cause)))
            }
            error => Try::Again(errors::unreachable(url, tries, hide(&error)), None),
        }
    }
}

/// Timeouts of the parts of a request.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Timeout for resolving the server's name, and, with the same length, for connecting.
    pub connect: Duration,
    /// Timeout until the answer begins; `None` for no bound.
    pub first_byte: Option<Duration>,
    /// Timeout of the whole request, up to the last byte of the answer; `None` for no bound.
    pub whole: Option<Duration>,
}

/// Creates an HTTP/1.1 client for the server at a URL. TLS trusts the certificates of the system. Error statuses are
/// not errors of the client, redirections are not followed, and proxies of the environment are not used. `None` if the
/// URL is not the address of a server: it has a scheme other than `http` and `https`, no host, a user, a query, a
/// fragment, a backslash, a blank or a control character.
///
/// # Errors
/// `endpoint/certificates`: the URL has `https`, and the system has no trusted certificates.
pub fn agent(url: &str, timeouts: &Timeouts) -> Result<Option<ureq::Agent>> {
    let (is_safe, rest) = match (url.strip_prefix("https://"), url.strip_prefix("http://")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return Ok(None),
    };
    let is_foreign = |c: char| matches!(c, '@' | '?' | '#' | '\\') || c.is_whitespace() || c.is_control();
    if rest.is_empty() || rest.starts_with('/') || rest.contains(is_foreign) {
        return Ok(None);
    }
    let config = ureq::Agent::config_builder()
        .timeout_resolve(Some(timeouts.connect))
        .timeout_connect(Some(timeouts.connect))
        .timeout_recv_response(timeouts.first_byte)
        .timeout_global(timeouts.whole)
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None);
    let config = if is_safe { config.tls_config(tls()?) } else { config };
    Ok(Some(config.build().into()))
}

/// Returns the message in the body of an error response, without the key. If the body is not JSON with a
/// message, returns the text of the body. At most 64 KiB are read.
pub(crate) fn message(body: impl Read, options: &Options) -> String {
    let mut text = Vec::new();
    // if reading fails, the part that was read is reported
    let _ = body.take(MOST_ERROR).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    let said = serde_json::from_str(&text).ok().as_ref().and_then(sse::error);
    hidden(said.as_deref().unwrap_or(text.trim()), options)
}

/// Returns a text of the server without the key. Some servers repeat the key in errors.
fn hidden(text: &str, options: &Options) -> String {
    options.key.as_ref().map_or_else(|| text.to_owned(), |key| key.hide(text))
}

/// Returns a configuration of TLS that trusts the certificates of the system.
///
/// # Errors
/// `endpoint/certificates`: the system has no trusted certificates.
fn tls() -> Result<TlsConfig> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let causes: Vec<String> = found.errors.iter().map(ToString::to_string).collect();
        return Err(errors::certificates(causes.join("; ")));
    }
    let certificates: Vec<Certificate<'static>> =
        found.certs.iter().map(|certificate| Certificate::from_der(certificate).to_owned()).collect();
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(certificates)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build())
}
