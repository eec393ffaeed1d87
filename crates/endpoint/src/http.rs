//! Sends requests by HTTP, with deadlines, bounds and retries.

use crate::address::hide_address;
use crate::body::Written;
use crate::options::Options;
use crate::proxy::Proxy;
use crate::secret::{Header, Secrets};
use crate::server::{Address, is_server};
use crate::{errors, pause, sse};
use grammata_base::error::{Error, Result};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

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

/// An HTTP/1.1 client of a chat server. TLS trusts the certificates of the system. Redirections are not followed.
#[derive(Debug)]
pub(crate) struct Http {
    address: Address,
    /// The headers of each request, the key included.
    headers: Vec<Header>,
    proxy: Option<String>,
    secrets: Secrets,
    agent: ureq::Agent,
}

impl Http {
    /// Creates a client of the server at a URL. Appends `/chat/completions` to the path unless the path already ends
    /// with it.
    ///
    /// # Errors
    /// `endpoint/url`: the URL is not the address of a server; `endpoint/header`: a header would be sent twice;
    /// `endpoint/certificates`: the URL or the proxy has `https`, and the system has no trusted certificates.
    pub(crate) fn new(url: &str, options: &Options) -> Result<Http> {
        let address = Address::new(url).ok_or_else(|| errors::url(url))?;
        let mut headers = options.headers.clone();
        if let Some(key) = &options.key {
            headers.push(Header::authorization(key));
        }
        for (place, header) in headers.iter().enumerate() {
            if headers[..place].iter().any(|other| other.name == header.name) {
                return Err(errors::header_twice(&header.name));
            }
        }
        let timeouts = Timeouts {
            connect: options.connect,
            first_byte: Some(options.first_byte),
            whole: Some(options.deadline),
        };
        let proxy = options.proxy.as_ref();
        let agent = client(address.full(), &timeouts, proxy)?;
        let given = options.key.iter().chain(options.headers.iter().map(|header| &header.value)).cloned();
        let secrets = given.chain(proxy.and_then(Proxy::secret)).chain(address.secrets());
        let secrets = Secrets::new(secrets);
        let proxy = proxy.map(|proxy| proxy.shown().to_owned());
        Ok(Http { address, headers, proxy, secrets, agent })
    }

    /// Returns the address to which requests are sent, for messages.
    pub(crate) fn url(&self) -> &str {
        self.address.shown()
    }

    /// Returns a text of the server without secrets. Some servers repeat keys in errors.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.secrets.hide(text)
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
                    return Err(errors::wait(self.url(), status, pause, options.most_pause));
                }
                Some((_, pause)) => pause,
                None => pause::backoff(options, tries),
            };
            std::thread::sleep(pause);
        }
        Err(self.unreachable(options.tries, "no try is allowed"))
    }

    fn once(&self, body: &str, options: &Options, tries: u32) -> Try {
        let mut request = self.agent.post(self.address.full()).header("content-type", "application/json");
        for header in &self.headers {
            request = request.header(&header.name, header.value.text());
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
                let location = self.hide(&hide_address(&location));
                return Try::Failed(errors::redirect(self.url(), status, &location));
            }
            _ => {
                let date = header("date");
                let wait = header("retry-after").and_then(|text| pause::retry_after(&text, date.as_deref()));
                let said = Said::read(response.into_body().into_reader(), &self.secrets);
                let error = || errors::status(self.url(), status, &said.message);
                return match status {
                    _ if said.is_filter => Try::Failed(errors::filtered(self.url(), &said.message)),
                    429 | 500 | 502 | 503 | 504 => Try::Again(error(), wait.map(|wait| (status, wait))),
                    400 | 422 => Try::Done(Outcome::Refused(status, said.message)),
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
            let found = format!("the content type `{}`", self.hide(&written_kind));
            return Try::Failed(errors::answer(self.url(), &found, "the server sent no JSON"));
        };
        match read {
            Ok(written) => Try::Done(Outcome::Written(written)),
            Err(sse::Fault::TooLong) => Try::Failed(errors::too_long(self.url(), most)),
            Err(sse::Fault::Foreign(found, cause)) => {
                Try::Failed(errors::answer(self.url(), &self.hide(&found), self.hide(&cause)))
            }
            Err(sse::Fault::Ended) => {
                let cause = "the stream ended before the answer";
                Try::Again(errors::answer(self.url(), "a part of an answer", cause), None)
            }
            Err(sse::Fault::Broken(cause)) => match cause.downcast::<ureq::Error>() {
                Ok(error) => self.failed(error, options, tries),
                Err(cause) => self.failed(ureq::Error::Io(cause), options, tries),
            },
        }
    }

    fn unreachable(&self, tries: u32, cause: impl std::fmt::Display) -> Error {
        errors::unreachable(self.url(), self.proxy.as_deref(), tries, cause)
    }

    /// Converts the error of a failed or incomplete exchange to the result of the try. There is no further try after a
    /// deadline other than those for resolving and connecting, after a TLS error, or after an error in the request
    /// itself. After other errors, another try may succeed.
    fn failed(&self, error: ureq::Error, options: &Options, tries: u32) -> Try {
        use ureq::{Error, Timeout};
        let url = self.url();
        // causes may quote what the server sent
        let hide = |cause: &dyn std::fmt::Display| self.hide(&cause.to_string());
        match error {
            Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                Try::Again(errors::deadline(url, "a connection", options.connect), None)
            }
            Error::Timeout(Timeout::RecvResponse) => {
                Try::Failed(errors::deadline(url, "the first byte of an answer", options.first_byte))
            }
            Error::Timeout(_) => Try::Failed(errors::deadline(url, "the end of an answer", options.deadline)),
            error @ (Error::Tls(_) | Error::Rustls(_) | Error::BadUri(_) | Error::Http(_)) => {
                Try::Failed(self.unreachable(tries, hide(&error)))
            }
            // not tried again, because an invalid certificate remains invalid
            Error::Io(cause) if cause.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
                Try::Failed(self.unreachable(tries, hide(&cause)))
            }
            Error::ConnectProxyFailed(cause) => {
                let error = errors::proxy(url, self.proxy.as_deref().unwrap_or_default(), hide(&cause));
                // a proxy that is overloaded or cannot reach the server may do so later
                if cause.contains("responded 4") { Try::Failed(error) } else { Try::Again(error, None) }
            }
            error => Try::Again(self.unreachable(tries, hide(&error)), None),
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
    if is_server(url) { client(url, timeouts, None).map(Some) } else { Ok(None) }
}

/// Creates an HTTP/1.1 client for the server at a URL, which is reached by a proxy if there is one.
fn client(url: &str, timeouts: &Timeouts, proxy: Option<&Proxy>) -> Result<ureq::Agent> {
    let config = ureq::Agent::config_builder()
        .timeout_resolve(Some(timeouts.connect))
        .timeout_connect(Some(timeouts.connect))
        .timeout_recv_response(timeouts.first_byte)
        .timeout_global(timeouts.whole)
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(proxy.map(|proxy| proxy.inner().clone()));
    let is_safe = url.starts_with("https://")
        || proxy.is_some_and(|proxy| proxy.inner().protocol() == ureq::ProxyProtocol::Https);
    let config = if is_safe { config.tls_config(tls()?) } else { config };
    Ok(config.build().into())
}

/// The error in the body of an error response.
pub(crate) struct Said {
    /// The message, without secrets. If the body is not JSON with a message, the text of the body.
    pub(crate) message: String,
    /// Whether a content filter refused the request.
    is_filter: bool,
}

impl Said {
    /// Reads at most 64 KiB of a body.
    pub(crate) fn read(body: impl Read, secrets: &Secrets) -> Said {
        let mut text = Vec::new();
        // if reading fails, the part that was read is reported
        let _ = body.take(MOST_ERROR).read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text);
        let value = serde_json::from_str(&text).unwrap_or_default();
        let message = sse::error(&value);
        Said {
            message: secrets.hide(message.as_deref().unwrap_or(text.trim())),
            is_filter: sse::is_filter(&value),
        }
    }
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
