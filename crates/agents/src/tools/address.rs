//! The path of a request, parsed into literal texts and parameter places so that each text has one reading.
//!
//! Requests, the grammars of calls and their parsers share [`pieces`] and [`kept`], so that they agree.

use super::binding::{Location, Parameter, Style};
use grammata::grammar::ByteSet;
use std::fmt::Write;

/// A part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'p> {
    /// A literal text.
    Fixed(&'p str),
    /// The place of the parameter of this name.
    Place(&'p str, End<'p>),
}

/// Where the text of a value in a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End<'p> {
    /// The value ends before this byte. The byte begins the literal text between this place and the next, and the value
    /// contains it only as `%XX`.
    Before(u8),
    /// The literal text from the value to the end of its segment; may be empty.
    Segment(&'p str),
}

/// The characters that end a segment; a value in a path contains them only as `%XX`.
const ENDS: [char; 3] = ['/', '?', '&'];

/// Returns the length in bytes of a text up to the end of its segment.
pub(super) fn segment_len(text: &str) -> usize {
    text.find(ENDS).unwrap_or(text.len())
}

/// Splits a path at its places `{name}`. An unclosed brace stays in the last literal text.
pub(super) fn pieces(path: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        if !before.is_empty() {
            pieces.push(Piece::Fixed(before));
        }
        let text = &after[..after.find('{').unwrap_or(after.len())];
        let end = match text.as_bytes().first() {
            Some(first) if text.len() < after.len() && !text.contains(ENDS) => End::Before(*first),
            _ => End::Segment(&text[..segment_len(text)]),
        };
        pieces.push(Piece::Place(name, end));
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Fixed(rest));
    }
    pieces
}

/// Returns the number of places for parameters in a path.
pub(super) fn places(path: &str) -> usize {
    pieces(path).iter().filter(|piece| matches!(piece, Piece::Place(..))).count()
}

/// Splits a path before its fragment, which requests do not contain: a `#` outside braces, and all after it.
pub(super) fn without_fragment(path: &str) -> (&str, &str) {
    let mut is_name = false;
    let at = path.find(|c| {
        is_name = c == '{' || (is_name && c != '}');
        c == '#' && !is_name
    });
    path.split_at(at.unwrap_or(path.len()))
}

/// The reason why no request can be built: the text that was found in the document, and what is allowed instead.
pub(super) type Fault = (String, &'static str);

/// Percent-encodes the literal texts of a path where an address requires it. `is_list` returns whether the value of a
/// parameter may have several parts.
///
/// # Errors
/// Misplaced braces, a name that is empty or contains `/` or a control character, an ASCII control character in a
/// literal text, a parameter that occurs twice, two parameters without a text between them that no value contains, or a
/// segment `.` or `..` before the query.
pub(super) fn checked(
    path: &str,
    parameters: &[Parameter],
    is_list: impl Fn(&Parameter) -> bool,
) -> Result<String, Fault> {
    let fault = |found: &str, allowed| Err((found.escape_debug().to_string(), allowed));
    let mut made = String::new();
    let mut names: Vec<&str> = Vec::new();
    for piece in pieces(path) {
        match piece {
            Piece::Fixed(text) if text.contains(['{', '}']) => return fault(path, BRACES),
            Piece::Fixed(text) => match literal(text) {
                Some(text) => made.push_str(&text),
                None => return fault(path, "a path without control characters"),
            },
            Piece::Place(name, _)
                if name.is_empty() || name.contains(['{', '/']) || name.contains(char::is_control) =>
            {
                return fault(path, BRACES);
            }
            Piece::Place(name, _) if names.contains(&name) => {
                return fault(name, "the name of a parameter once in a path");
            }
            Piece::Place(name, _) => {
                names.push(name);
                let _ = write!(made, "{{{name}}}");
            }
        }
    }
    let pieces = pieces(&made);
    for (at, piece) in pieces.iter().enumerate() {
        let Piece::Place(name, end) = *piece else { continue };
        if matches!(pieces.get(at + 1), Some(Piece::Place(..))) {
            return fault(path, "a text between two parameters, which says where the first one ends");
        }
        let found = parameters.iter().find(|one| one.location == Location::Path && one.name == name);
        if let (End::Before(byte), Some(parameter)) = (end, found)
            && holds_raw(parameter, byte, is_list(parameter))
        {
            return fault(path, "a text between two parameters that cannot occur in a value");
        }
    }
    let before_query = made.split('?').next().unwrap_or_default();
    if before_query.split('/').any(|segment| matches!(segment, "." | "..")) {
        return fault(path, "segments other than `.` or `..`");
    }
    Ok(made)
}

const BRACES: &str = "braces around the names of parameters and nowhere else";

/// Returns whether the text of a value may contain `byte` even if all characters of the value are percent-encoded: as a
/// part of `%XX`, or as a separator of the parameter's style.
fn holds_raw(parameter: &Parameter, byte: u8, is_list: bool) -> bool {
    let of_style: &[u8] = match parameter.style {
        Style::Simple if is_list => b",=",
        Style::Label => b".,=",
        Style::Matrix => return true,
        _ => b"",
    };
    // these bytes occur in `%XX`
    byte == b'%' || byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte) || of_style.contains(&byte)
}

/// Percent-encodes the characters of a literal text that an address cannot contain. `%XX` is not changed. Returns
/// `None` if the text contains ASCII control characters.
pub(super) fn literal(text: &str) -> Option<String> {
    let mut made = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let is_encoded =
            || bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        match byte {
            _ if byte.is_ascii_control() => return None,
            b'%' if is_encoded() => made.push('%'),
            _ if byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=".contains(&byte) => {
                made.push(char::from(byte));
            }
            _ => {
                // writing to a string cannot fail
                let _ = write!(made, "%{byte:02X}");
            }
        }
    }
    Some(made)
}

/// Returns the unreserved bytes (RFC 3986, section 2.3). Values contain unreserved bytes unencoded, except bytes that
/// end a value, an item or a pair ([`kept`]).
pub(super) fn unreserved() -> ByteSet {
    (0..0x80_u8).filter(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte)).collect()
}

/// Returns the bytes that the value of a parameter contains unencoded. They never include a byte that ends a value, an
/// item or a pair, even if the parameter allows reserved characters. `end` is where the text of the value ends, for a
/// parameter in a path.
pub(super) fn kept(parameter: &Parameter, end: Option<End<'_>>) -> ByteSet {
    let reserved: &[u8] = match parameter.location {
        _ if !parameter.allow_reserved => b"",
        Location::Path => b":@!$'()*,;=",
        Location::Query => b":/?@!$'()*,;",
        Location::Header | Location::Cookie => b"",
    };
    let borders: &[u8] = match (parameter.style, parameter.explode) {
        (Style::Simple, false) => b",",
        (Style::Simple, true) => b",=",
        (Style::Label, false) => b",",
        (Style::Label, true) => b".=",
        (Style::Matrix, _) => b",;=",
        (Style::Form, false) => b",",
        _ => b"",
    };
    let is_border =
        |byte: &u8| borders.contains(byte) || matches!(end, Some(End::Before(end)) if end == *byte);
    let all = unreserved().union(&reserved.iter().copied().collect());
    all.iter().filter(|byte| !is_border(byte)).collect()
}

/// Encodes every byte that is not in `kept` as `%XX`.
pub(super) fn encoded(text: &str, kept: &ByteSet) -> String {
    let mut made = String::with_capacity(text.len());
    for byte in text.bytes() {
        if kept.contains(byte) {
            made.push(char::from(byte));
        } else {
            // writing to a string cannot fail
            let _ = write!(made, "%{byte:02X}");
        }
    }
    made
}

/// Returns the name of a parameter as written in a path, a query or a cookie: all bytes that are not unreserved are
/// encoded.
pub(super) fn encoded_name(name: &str) -> String {
    encoded(name, &unreserved())
}

/// Returns whether a text is a token: a name of a header, a method or a part of a media type (RFC 9110, section 5.6.2).
pub(super) fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

/// Returns whether a text can be the value of a header (RFC 9110, section 5.5): printable ASCII and tabs, without
/// leading or trailing blanks.
pub(super) fn is_field_value(text: &str) -> bool {
    let is_part = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
    text.bytes().all(is_part) && text.trim_matches([' ', '\t']) == text
}

/// Returns whether a text is a media type that a header can contain. Ranges such as `text/*` also pass, and parameters
/// are not checked.
pub(super) fn is_media_type(text: &str) -> bool {
    let name = text.split(';').next().unwrap_or_default().trim_end_matches([' ', '\t']);
    let parts = name.split_once('/');
    is_field_value(text) && parts.is_some_and(|(kind, rest)| is_token(kind) && is_token(rest))
}

/// Returns whether a text can be part of a cookie unencoded (RFC 6265, section 4.1.1).
pub(super) fn is_cookie_text(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic() && !b"\",;\\".contains(&byte))
}

/// Percent-encodes the address of a server where required. Returns `None` if a path cannot follow it: no `://`, nothing
/// after it, a query, a fragment, a brace, a segment `.` or `..`, a control character, or other bytes than those of an
/// IP address in brackets.
pub(super) fn server(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let has_points = rest.split('/').skip(1).any(|segment| matches!(segment, "." | ".."));
    if rest.is_empty() || url.contains(['?', '#', '{', '}']) || has_points {
        return None;
    }
    // brackets enclose an IPv6 address
    match url.find('[').zip(url.find(']')) {
        Some((start, end)) if start < end => {
            let (before, after) = (literal(&url[..start])?, literal(&url[end + 1..])?);
            url[start + 1..end]
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte))
                .then(|| format!("{before}{}{after}", &url[start..=end]))
        }
        _ => literal(url),
    }
}

/// Decodes `%XX` in a text; `None` if two hexadecimal digits do not follow a `%`, or the result is not UTF-8.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                // `from_str_radix` would also read a sign
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_and_checked() {
        let shown = |path: &str| format!("{:?}", pieces(path));
        assert_eq!(shown("/s/{id}.json"), r#"[Fixed("/s/"), Place("id", Segment(".json")), Fixed(".json")]"#);
        assert_eq!(
            shown("/{x}-{y}/{z}?a={q}"),
            r#"[Fixed("/"), Place("x", Before(45)), Fixed("-"), Place("y", Segment("")), Fixed("/"), Place("z", Segment("")), Fixed("?a="), Place("q", Segment(""))]"#
        );
        for (path, made) in [
            ("/a/{x}.json", Some("/a/{x}.json")),
            ("/caf\u{e9} x/%7e/%", Some("/caf%C3%A9%20x/%7e/%25")),
            ("/q?fixed=1", Some("/q?fixed=1")),
            ("/{a}{b}", None),
            ("/{a}0{b}", None),
            ("/{a}F{b}", None),
            ("/{a}f{b}", Some("/{a}f{b}")),
            ("/{a},{b}", Some("/{a},{b}")),
            ("/{a}\u{e9}{b}", None),
            ("/{a}-{a}", None),
            ("/{a", None),
            ("/a}", None),
            ("/{}", None),
            ("/a\r\nX: 1", None),
            ("/../a", None),
            ("/.{a}", Some("/.{a}")),
            ("/{a}...{b}", Some("/{a}...{b}")),
            ("/.well-known/{a}", Some("/.well-known/{a}")),
        ] {
            let parameter = |name: &str| Parameter {
                member: name.to_owned(),
                name: name.to_owned(),
                location: Location::Path,
                style: Style::Simple,
                explode: false,
                allow_reserved: false,
            };
            let found = checked(path, &[parameter("a"), parameter("b")], |_| false);
            assert_eq!(found.as_deref().ok(), made, "{path}: {found:?}");
        }
    }

    #[test]
    fn fragments_are_outside_of_names() {
        assert_eq!(without_fragment("/a/{b#}/c#d#e"), ("/a/{b#}/c", "#d#e"));
        assert_eq!(without_fragment("/a"), ("/a", ""));
    }

    #[test]
    fn servers_and_fields_are_checked() {
        for (url, made) in [
            ("https://h/v1", Some("https://h/v1")),
            ("http://[::1]:80/a b", Some("http://[::1]:80/a%20b")),
            ("https://h/a?b=c", None),
            ("https://h/#a", None),
            ("https://h/a\r\nb", None),
            ("https://h/../a", None),
            ("/v1", None),
        ] {
            assert_eq!(server(url).as_deref(), made, "{url}");
        }
        assert!(is_media_type("application/json; charset=utf-8") && !is_media_type("text/plain; a=\r\nX: 1"));
        assert!(
            !is_field_value("a\u{7f}")
                && !is_field_value(" a")
                && is_field_value("a\tb")
                && is_field_value("")
        );
    }
}
