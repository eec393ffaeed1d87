//! Addresses in messages.

/// Returns an address with the parts that may hold a secret replaced by `…`: user and password, the query and the
/// fragment. For messages about addresses, also about texts that are not valid addresses.
pub fn hide_address(address: &str) -> String {
    let start = address.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = address.split_at(start);
    let query = rest.find(['?', '#']).unwrap_or(rest.len());
    let (mut place, query) = rest.split_at(query);
    // a password may itself contain `?` or `#`, and a query `@`
    if query.contains('@') {
        return format!("{scheme}…");
    }
    let mut out = scheme.to_owned();
    if let Some((_, host)) = place.rsplit_once('@') {
        out.push('…');
        out.push('@');
        place = host;
    }
    out.push_str(place);
    if let Some(mark) = query.chars().next() {
        out.push(mark);
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (address, shown) in [
            ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
            ("http://u:PASSWORD@127.0.0.1:1/v1", "http://…@127.0.0.1:1/v1"),
            ("http://u:PASS/WO@RD@host/v1", "http://…@host/v1"),
            ("http://u:PASS?WORD@host/v1", "http://…"),
            ("https://host/v1?key=SECRET", "https://host/v1?…"),
            ("https://host/v1?key=SEC@RET", "https://…"),
            ("https://host/v1#SECRET", "https://host/v1#…"),
            ("u:PASSWORD@host", "…@host"),
            ("", ""),
        ] {
            assert_eq!(hide_address(address), shown, "{address}");
        }
    }
}
