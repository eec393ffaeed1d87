//! Web pages as clients: which origins may use the listener, and the headers that browsers require (CORS).

use super::request::Request;
use super::{SESSION, VERSION};
use std::net::IpAddr;

/// Seconds for which a browser may reuse the answer to a preflight request.
const REUSE: u32 = 7_200;

/// Returns whether a host, with or without a port, is `localhost` or a loopback address.
pub(super) fn is_this_machine(host: &str) -> bool {
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Returns whether an origin is one of `allowed`, or a web page of this machine.
pub(super) fn is_allowed(origin: &str, allowed: &[String]) -> bool {
    let page = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    allowed.iter().any(|known| known == origin) || page.is_some_and(is_this_machine)
}

/// Returns the header lines with which a page of an allowed origin may read a response.
pub(super) fn headers(origin: &str) -> String {
    format!(
        "access-control-allow-origin: {origin}\r\naccess-control-expose-headers: {SESSION}, {VERSION}\r\n\
         vary: origin\r\n"
    )
}

/// Returns the header lines that answer a preflight request: a page may use the methods of the transport, and the
/// headers that it asks for.
pub(super) fn preflight(request: &Request) -> String {
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let wanted = request.header("access-control-request-headers").unwrap_or_default();
    let wanted: Vec<&str> = wanted.split(',').map(str::trim).filter(is_name).collect();
    let mut lines = format!(
        "access-control-allow-methods: GET, POST, DELETE\r\naccess-control-allow-headers: {}\r\n\
         access-control-max-age: {REUSE}\r\n",
        wanted.join(", ")
    );
    // Chrome asks for this when a public page reaches a private address
    if request.header("access-control-request-private-network") == Some("true") {
        lines.push_str("access-control-allow-private-network: true\r\n");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_this_machine_and_allowed_ones_are_let_in() {
        let allowed = ["https://a.example".to_owned()];
        for (origin, expected) in [
            ("https://a.example", true),
            ("http://localhost:3000", true),
            ("https://[::1]:8", true),
            ("http://127.0.0.1", true),
            ("http://a.example", false),
            ("https://a.example:8", false),
            ("https://a.example.b", false),
            ("http://localhost.a", false),
            ("chrome-extension://localhost", false),
            ("null", false),
            ("", false),
        ] {
            assert_eq!(is_allowed(origin, &allowed), expected, "{origin}");
        }
    }
}
