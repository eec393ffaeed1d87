//! The errors of endpoints.

use crate::address::hide_address;
use grammata_base::diagnostic::{Diagnostic, excerpt};
use grammata_base::error::{Error, ErrorKind};
use std::fmt::Display;
use std::time::Duration;

fn io(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Io, diagnostic)
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

grammata_base::errors! {
    pub(crate) Usage(url: &str) in_file(url);

    /// `endpoint/proxy`: the proxy did not connect to the server.
    proxy(proxy: &str, cause: impl Display) =
        Io "endpoint/proxy", "the proxy does not connect to the chat server"
        found("the proxy {proxy}")
        cause(cause)
        allowed("a proxy that answers `CONNECT` with the status 200")
        help("check its address, user and password, or name the server's host in `NO_PROXY`");

    /// `endpoint/unreachable`: there was no connection, or the connection broke, in the last of `tries` tries. `proxy`
    /// is the address of the proxy that was used.
    unreachable(proxy: Option<&str>, tries: u32, cause: impl Display) =
        Io "endpoint/unreachable", "the chat server cannot be reached"
        found("no answer after {tries} {}{}", if tries == 1 { "try" } else { "tries" }, proxy.map(|proxy| format!(", by the proxy {proxy}")).unwrap_or_default())
        cause(cause)
        allowed("a connection, and with `https` a certificate that the system trusts")
        help("check the address, and that the server runs");

    /// `endpoint/deadline`: `what`, a part of the exchange, did not arrive within the time `allowed`.
    deadline(what: &str, allowed: Duration) = Io "endpoint/deadline", "the chat server did not answer in time"
        found("{what} is missing") allowed(seconds(allowed)) help("allow more time, or ask a faster model");

    /// `endpoint/wait`: the server asks to wait longer than `most`.
    wait(status: u16, wait: Duration, most: Duration) =
        Io "endpoint/wait", "the chat server asks to wait too long"
        found("status {status}, `Retry-After: {}`", wait.as_secs())
        allowed(seconds(most))
        help("try again later, or ask for a higher limit of requests");

    /// `endpoint/redirect`: the server redirects the request. Redirections are not followed, because the key is meant
    /// only for this server.
    redirect(status: u16, location: &str) = Io "endpoint/redirect", "the chat server redirects the request"
        found("status {status}, `Location: {}`", excerpt(location))
        allowed("an answer of this server: redirections are not followed")
        help("give the other address, if you trust it");

    /// `endpoint/answer`: the server's answer cannot be read. `found` is an excerpt of the answer or describes it.
    answer(found: &str, cause: impl Display) =
        Model "endpoint/answer", "the chat server's answer cannot be read"
        found(found)
        cause(cause)
        allowed("the JSON of a chat completion, or a stream of its parts")
        help("check that the address is one of a chat server");

    /// `endpoint/refusal`: the model declines to answer, with the text `said`.
    refusal(said: &str) = Model "endpoint/refusal", "the model declines to answer"
        found(excerpt(said)) allowed("an answer") help("change the request, or ask another model");

    /// `endpoint/filtered`: a content filter of the server held back the answer, or refused the request. `found` says
    /// which of the two.
    filtered(found: &str) = Model "endpoint/filtered", "a content filter of the chat server intervened"
        found(excerpt(found))
        allowed("an answer that the filter lets through")
        help("change the request, or the filter's settings at the server");

    /// `endpoint/too-long`: the server's answer has more than `most` bytes.
    too_long(most: u64) = Limit "endpoint/too-long", "the chat server's answer is too long"
        found("more than {most} bytes")
        allowed("{most} bytes")
        help("ask for fewer tokens; in the library the bound is the option `answer_bytes`");
}

grammata_base::errors! {
    pub(crate) Usage;

    /// `endpoint/url`: a text is not the address of a server. The error shows no user, query or fragment of the text.
    url(found: &str) = "endpoint/url", "not the address of a chat server"
        found(hide_address(found))
        allowed("`http://HOST:PORT/PATH` or `https://HOST/PATH`, also with `?QUERY`, without user and fragment")
        help("give the address below which `/chat/completions` is, such as http://127.0.0.1:8080/v1");

    /// `endpoint/key`: the key cannot be sent in a header. The error does not show the key.
    key() = "endpoint/key", "the key of the chat server cannot be sent"
        allowed("a key of visible ASCII characters")
        help("set the environment variable of the key again, without blanks and line ends");

    /// `endpoint/header`: the client cannot send a header of this name. `reserved` are the names that the client sets.
    header_name(found: &str, reserved: &[&str]) =
        "endpoint/header", "the chat server cannot be sent a header of this name"
        found(excerpt(found))
        allowed("letters, digits, `-` and `_`, but not {}", reserved.join(", "))
        help("give the name that the server's documentation has, such as `api-key`");

    /// `endpoint/header`: the value of a header cannot be sent. The error does not show the value.
    header_value(name: &str) = "endpoint/header", "the value of a header cannot be sent"
        found("a value of the header `{}`", excerpt(name))
        allowed("1 to 4,096 visible ASCII characters, with blanks only between them")
        help("set the environment variable of the value again, without line ends");

    /// `endpoint/header`: two headers have the same name. The header of a key is `authorization`.
    header_twice(name: &str) = "endpoint/header", "a header would be sent twice"
        found("the header `{name}` twice; a key is sent as `authorization`")
        allowed("each header once")
        help("leave out one of the two headers, or the key");

    /// `endpoint/proxy`: a text is not the address of a proxy. The error shows no user and no password.
    proxy_address(found: &str) = "endpoint/proxy", "not the address of a proxy"
        found(hide_address(found))
        allowed("`http://HOST:PORT`, `https://HOST:PORT` or `HOST:PORT`, also with `USER:PASSWORD@`")
        help("give an HTTP proxy; SOCKS is not supported. `NO_PROXY` names hosts that need no proxy");

    /// `endpoint/certificates`: the system has no trusted certificates.
    certificates(cause: impl Display) =
        Io "endpoint/certificates", "this system has no certificates to check a server by"
        cause(cause)
        help("install the system's certificates (`ca-certificates`), or name a file by SSL_CERT_FILE");
}

/// `endpoint/status`: the server answered with the error status `status`. `message` is the message of the server, which
/// may be empty.
pub(crate) fn status(url: &str, status: u16, message: &str) -> Error {
    let help = match status {
        401 | 403 => {
            "check the key: `--endpoint-key-env` names its environment variable; some servers want it in a header \
             of their own (`--endpoint-header`)"
        }
        404 => "check the address (`/chat/completions` is added to it) and the name of the model",
        400 | 413 | 422 => {
            "check the name of the model (`--endpoint-model`), and whether the request fits its context"
        }
        429 => "wait, or ask for a higher limit of requests",
        _ => "look into the server's log",
    };
    let mut diagnostic = Diagnostic::new("endpoint/status", "the chat server refused the request")
        .in_file(url)
        .found(format!("status {status}"))
        .allowed("status 200")
        .help(help);
    if !message.is_empty() {
        diagnostic = diagnostic.cause(message);
    }
    io(diagnostic)
}
