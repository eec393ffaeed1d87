//! Requests by HTTP: deadlines, bounds and retries.

use crate::body::Written;
use crate::dialect::{DIALECTS, Dialect};
use crate::{errors, sse};
use grammata_base::error::{Error, Result};
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// A secret that a server requires. It is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Wraps a key.
    ///
    /// # Errors
    /// `endpoint/key`: the key is empty, or has other characters than visible ASCII.
    pub fn new(key: impl Into<String>) -> Result<Key> {
        let key = key.into();
        let is_sendable = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        if is_sendable { Ok(Key(key)) } else { Err(errors::key()) }
    }

    /// The value of the header `Authorization` that sends the key.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Options of requests to a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The name of the model; servers with one model need none.
    pub model: Option<String>,
    /// The key, sent as `Authorization: Bearer KEY`; none by default.
    pub key: Option<Key>,
    /// The forms of answers that the server accepts. The first of [`DIALECTS`] by default.
    pub dialect: &'static Dialect,
    /// Whether answers are requested in parts as they are written. False by default.
    pub stream: bool,
    /// How the model chooses tokens: 0, the default, takes the most probable one.
    pub temperature: f32,
    /// The seed. Equal seeds give equal answers if the server supports it. 0 by default.
    pub seed: u64,
    /// The most tries of a request that fails for a temporary reason: no connection, a connection or stream that breaks
    /// off, or a status 429, 500, 502, 503 or 504. 4 by default; 0 means 1.
    pub tries: u32,
    /// The pause before the second try, doubled for each further one up to `most_pause`, if the server names none
    /// (`Retry-After`). 0.5 s by default.
    pub pause: Duration,
    /// The longest pause; a server that asks for a longer one is an error. 30 s by default.
    pub most_pause: Duration,
    /// The longest time to resolve the server's name, and again to connect. 10 s by default.
    pub connect: Duration,
    /// The longest time until an answer begins; without `stream` it begins when the model has ended. 120 s by default.
    pub first_byte: Duration,
    /// The longest time of one try, up to the last byte. 300 s by default.
    pub deadline: Duration,
    /// The most bytes of an answer. 8 MiB by default.
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

/// The most bytes of an error's body that are read.
const MOST_ERROR: u64 = 1 << 16;

/// A server's response to a request.
pub(crate) enum Outcome {
    Written(Written),
    /// The server refuses the request: the status, 400 or 422, and the server's message.
    Refused(u16, String),
}

/// The result of one try.
enum Try {
    Done(Outcome),
    Failed(Error),
    /// A later try may succeed: the error, and the status and pause of a server that asks for one.
    Again(Error, Option<(u16, Duration)>),
}

/// A client of a server: HTTP/1.1, with TLS by the certificates of the system. It does not use proxies of the
/// environment, and does not follow redirections.
#[derive(Debug)]
pub(crate) struct Http {
    url: String,
    agent: ureq::Agent,
}

impl Http {
    /// Creates a client of the server at a URL.
    ///
    /// # Errors
    /// `endpoint/url`, `endpoint/certificates`.
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
        // an address that the client cannot parse is reported now
        url.parse::<ureq::http::Uri>().map_err(|_| errors::url(&url))?;
        Ok(Http { url, agent })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Sends a request, and repeats it after temporary failures. Counts the tries in `sent`.
    ///
    /// # Errors
    /// No readable answer within the allowed time and bytes; a redirection; a status other than 200, 400 and 422; a
    /// server that asks for a longer pause than `most_pause`.
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
        let kind = header("content-type").unwrap_or_default().to_ascii_lowercase();
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
            let found = format!("the content type `{kind}`");
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

    /// Converts a failed or incomplete exchange to the result of the try: final for deadlines after connecting, TLS and
    /// invalid requests, otherwise worth another try.
    fn failed(&self, error: ureq::Error, options: &Options, tries: u32) -> Try {
        use ureq::{Error, Timeout};
        let url = &self.url;
        match error {
            Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                Try::Again(errors::deadline(url, "a connection", options.connect), None)
            }
            Error::Timeout(Timeout::RecvResponse) => {
                Try::Failed(errors::deadline(url, "the first byte of an answer", options.first_byte))
            }
            Error::Timeout(_) => Try::Failed(errors::deadline(url, "the end of an answer", options.deadline)),
            error @ (Error::Tls(_) | Error::Rustls(_) | Error::BadUri(_) | Error::Http(_)) => {
                Try::Failed(errors::unreachable(url, tries, error))
            }
            // an invalid certificate stays invalid
            Error::Io(cause) if cause.get_ref().is_some_and(|inner| inner.is::<rustls::Error>()) => {
                Try::Failed(errors::unreachable(url, tries, cause))
            }
            error => Try::Again(errors::unreachable(url, tries, error), None),
        }
    }
}

/// The most time that parts of a request may take.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until the answer begins.
    pub first_byte: Option<Duration>,
    /// Until the last byte.
    pub whole: Option<Duration>,
}

/// A client of the server at a URL: HTTP/1.1, with TLS by the certificates of the system. Statuses are not errors,
/// redirections are not followed, and proxies of the environment are not used. `None` if the URL is not an address of a
/// server: it has another scheme, no host, a user, a query or a fragment.
///
/// # Errors
/// `endpoint/certificates`: an address with `https` where the system trusts nobody.
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

/// What the body of an error says, without the key.
pub(crate) fn message(body: impl Read, options: &Options) -> String {
    let mut text = Vec::new();
    // if the body breaks off, the part that was read is reported
    let _ = body.take(MOST_ERROR).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    let said = serde_json::from_str(&text).ok().as_ref().and_then(sse::error);
    hidden(said.as_deref().unwrap_or(text.trim()), options)
}

/// Returns a text of the server without the key, which some servers repeat.
fn hidden(text: &str, options: &Options) -> String {
    match &options.key {
        Some(key) => text.replace(&key.0, "…"),
        None => text.to_owned(),
    }
}

/// TLS by the certificates that the system trusts.
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
