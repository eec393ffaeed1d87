//! Addresses of servers.

use crate::address::hide_address;
use crate::secret::Key;

/// The path of requests below the address of a server.
const PATH: &str = "/chat/completions";

/// A parameter of Azure's addresses that is not a secret. Servers name its value in messages.
const VERSION: &str = "api-version";

/// Minimum length of a value in a query to count as a secret.
const SHORTEST: usize = 6;

/// The address to which requests are sent, with its query.
#[derive(Clone)]
pub(crate) struct Address {
    full: String,
    shown: String,
}

impl Address {
    /// Reads the address of a chat server. [`PATH`] is added before the query, unless the path already ends with it.
    /// `None` if the text is not such an address, see [`is_server`].
    pub(crate) fn new(url: &str) -> Option<Address> {
        let (place, query) = url.split_once('?').map_or((url, None), |(place, query)| (place, Some(query)));
        let place = place.trim_end_matches('/');
        if !is_server(place) || !query.is_none_or(is_plain) {
            return None;
        }
        let path = if place.ends_with(PATH) { "" } else { PATH };
        let query = query.filter(|query| !query.is_empty()).map(|query| format!("?{query}"));
        let full = format!("{place}{path}{}", query.unwrap_or_default());
        // report an address that the HTTP client cannot parse now, and not at the first request
        full.parse::<ureq::http::Uri>().ok()?;
        let shown = hide_address(&full);
        Some(Address { full, shown })
    }

    /// Returns the address for the client.
    pub(crate) fn full(&self) -> &str {
        &self.full
    }

    /// Returns the address for messages, with `…` in place of the query.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the values of the query that may be secrets.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = Key> {
        let query = self.full.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or(("", pair)));
        pairs
            .filter(|(name, value)| *name != VERSION && value.len() >= SHORTEST)
            .map(|(_, value)| Key::of_address(value))
    }
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Address({})", self.shown)
    }
}

/// Returns whether a text is the address of a server: it has the scheme `http` or `https` and a host, but no user, query
/// or fragment, no backslash, blank or control character.
pub(crate) fn is_server(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or(url.strip_prefix("http://")).unwrap_or_default();
    !rest.is_empty() && !rest.starts_with('/') && is_plain(rest)
}

/// Returns whether a part of an address has no `@`, `?`, `#`, backslash, blank or control character.
fn is_plain(part: &str) -> bool {
    !part.contains(|c: char| matches!(c, '@' | '?' | '#' | '\\') || c.is_whitespace() || c.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_kept_and_hidden() {
        for (url, full, shown, secrets) in [
            ("http://h/v1", "http://h/v1/chat/completions", "http://h/v1/chat/completions", 0),
            ("http://h/v1/?", "http://h/v1/chat/completions", "http://h/v1/chat/completions", 0),
            (
                "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
                "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
                "https://r.openai.azure.com/openai/deployments/d/chat/completions?…",
                0,
            ),
            (
                "https://h/chat/completions?a=1&key=SECRET&SECRET",
                "https://h/chat/completions?a=1&key=SECRET&SECRET",
                "https://h/chat/completions?…",
                2,
            ),
        ] {
            let address = Address::new(url).unwrap();
            assert_eq!((address.full(), address.shown(), address.secrets().count()), (full, shown, secrets));
            assert!(!format!("{address:?}").contains("SECRET"));
        }
        for url in [
            "",
            "h",
            "http://",
            "http:///a",
            "http://u@h",
            "http://h?a@b",
            "http://h?a?b",
            "http://h?a#b",
            "http://h?a b",
        ] {
            assert!(Address::new(url).is_none(), "{url}");
        }
    }
}
