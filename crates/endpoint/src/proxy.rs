//! Proxies, which connect to the server on behalf of the client.

use crate::address::hide_address;
use crate::errors;
use crate::secret::Key;
use grammata_base::error::Result;
use std::net::IpAddr;
use ureq::http::Uri;

/// An HTTP proxy. It is asked by `CONNECT` for a connection to the server, so it cannot read what is sent with TLS.
#[derive(Clone)]
pub struct Proxy {
    inner: ureq::Proxy,
    shown: String,
}

impl Proxy {
    /// Creates a proxy from its address: `http://HOST:PORT`, `https://HOST:PORT` or `HOST:PORT`, with
    /// `USER:PASSWORD@` before the host if it needs them.
    ///
    /// # Errors
    /// `endpoint/proxy`: the address is not one of these. The error does not show the user and the password.
    pub fn new(address: &str) -> Result<Proxy> {
        let inner = ureq::Proxy::new(address).map_err(|_| errors::proxy_address(address))?;
        let is_http = matches!(inner.protocol(), ureq::ProxyProtocol::Http | ureq::ProxyProtocol::Https);
        if !is_http || inner.host().is_empty() {
            return Err(errors::proxy_address(address));
        }
        Ok(Proxy { inner, shown: hide_address(address) })
    }

    /// Returns the proxy that the environment names for the server at a URL. `https_proxy` is read for `https`,
    /// `http_proxy` for `http`, and then `all_proxy`. `None` if no variable is set, if the server is on this machine, or
    /// if `no_proxy` names its host. All names may be in capital letters instead.
    ///
    /// # Errors
    /// `endpoint/proxy`: the variable has no address that [`Proxy::new`] accepts.
    pub fn of_environment(url: &str) -> Result<Option<Proxy>> {
        address(url, |name| std::env::var(name).ok()).map(|address| Proxy::new(&address)).transpose()
    }

    pub(crate) fn inner(&self) -> &ureq::Proxy {
        &self.inner
    }

    /// Returns the address for messages, without user and password.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the password, and the user if there is no password.
    pub(crate) fn secret(&self) -> Option<Key> {
        let secret = self.inner.password().or(self.inner.username());
        secret.filter(|secret| !secret.is_empty()).map(Key::of_address)
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Proxy({})", self.shown)
    }
}

/// Returns the address of the proxy for a URL, from the values of environment variables.
fn address(url: &str, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let value = |name: &str| {
        let lower = variable(name).filter(|value| !value.is_empty());
        lower.or_else(|| variable(&name.to_ascii_uppercase()).filter(|value| !value.is_empty()))
    };
    let uri: Uri = url.parse().ok()?;
    let host = uri.host()?.trim_matches(['[', ']']).to_ascii_lowercase();
    if is_local(&host) || is_excepted(&host, &value("no_proxy").unwrap_or_default()) {
        return None;
    }
    value(if uri.scheme_str() == Some("https") { "https_proxy" } else { "http_proxy" })
        .or_else(|| value("all_proxy"))
}

/// Returns whether a host is this machine.
fn is_local(host: &str) -> bool {
    let is_loopback = host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || host == "localhost" || host.ends_with(".localhost")
}

/// Returns whether `no_proxy`, names separated by commas, has a host: the host itself, a domain that it is in, with or
/// without a dot or `*.` before it, or `*`.
fn is_excepted(host: &str, names: &str) -> bool {
    names.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).any(
        |name| {
            let domain = name.trim_start_matches('*').trim_start_matches('.').trim_matches(['[', ']']);
            name == "*"
                || host == domain
                || host.strip_suffix(domain).is_some_and(|rest| !domain.is_empty() && rest.ends_with('.'))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_addresses_without_socks_and_shown_without_secrets() {
        for (address, shown) in [
            ("http://proxy:3128", Some("http://proxy:3128")),
            ("proxy:3128", Some("proxy:3128")),
            ("https://u:SECRET@proxy", Some("https://…@proxy")),
            ("socks5://u:SECRET@proxy", None),
            ("ftp://u:SECRET@proxy", None),
            ("", None),
            ("/x", None),
        ] {
            match Proxy::new(address) {
                Ok(proxy) => assert_eq!(Some(proxy.shown()), shown, "{address}"),
                Err(error) => {
                    assert_eq!((error.code(), shown), ("endpoint/proxy", None), "{address}");
                    assert!(!error.to_string().contains("SECRET"), "{error}");
                }
            }
        }
        let proxy = Proxy::new("http://u:SECRET@proxy").unwrap();
        assert!(!format!("{proxy:?}").contains("SECRET"));
        assert_eq!(proxy.secret(), Some(Key::of_address("SECRET")));
    }

    #[test]
    fn the_environment_names_proxies_by_scheme_and_host() {
        let all = "https_proxy=s HTTP_PROXY=h";
        for (url, environment, expected) in [
            ("https://api.example/v1", all, Some("s")),
            ("http://api.example/v1", all, Some("h")),
            ("http://api.example/v1", "http_proxy= ALL_PROXY=a", Some("a")),
            ("https://api.example/v1", "HTTP_PROXY=h", None),
            ("https://api.example/v1", "https_proxy=s HTTPS_PROXY=S", Some("s")),
            ("https://api.example/v1", "https_proxy=s NO_PROXY=other,api.example", None),
            ("https://api.example/v1", "https_proxy=s no_proxy=EXAMPLE", None),
            ("https://api.example/v1", "https_proxy=s no_proxy=.example", None),
            ("https://api.example/v1", "https_proxy=s no_proxy=*.example", None),
            ("https://api.example/v1", "https_proxy=s no_proxy=*", None),
            ("https://api.example/v1", "https_proxy=s no_proxy=i.example,xample,.,*.", Some("s")),
            ("https://10.1.2.3/v1", "https_proxy=s no_proxy=10.1.2.3", None),
            ("http://localhost:1/v1", "http_proxy=h", None),
            ("http://127.0.0.1:1/v1", "http_proxy=h", None),
            ("http://[::1]:1/v1", "http_proxy=h", None),
            ("http://[fd00::1]:1/v1", "http_proxy=h no_proxy=fd00::1", None),
            ("http://localhost.example/v1", "http_proxy=h", Some("h")),
        ] {
            let variables: Vec<_> = environment.split(' ').filter_map(|one| one.split_once('=')).collect();
            let variable = |name: &str| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(address(url, variable).as_deref(), expected, "{url} {environment}");
        }
    }
}
