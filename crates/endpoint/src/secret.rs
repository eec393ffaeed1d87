//! Keys, headers and passwords, and how they are kept out of messages.

use crate::errors;
use grammata_base::error::Result;

/// Maximum length of a key in bytes; servers accept headers of some kilobytes.
const LONGEST: usize = 4096;

/// The text that replaces a secret.
const HIDDEN: &str = "…";

/// A secret key that a server requires. `Debug` output does not show it, and messages of the server are shown
/// [without it](Key::hide).
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Creates a key from its text.
    ///
    /// # Errors
    /// `endpoint/key`: the text is empty or has more than 4,096 characters, or characters other than visible ASCII.
    pub fn new(key: impl Into<String>) -> Result<Key> {
        let key = key.into();
        let is_sendable =
            !key.is_empty() && key.len() <= LONGEST && key.bytes().all(|byte| byte.is_ascii_graphic());
        if is_sendable { Ok(Key(key)) } else { Err(errors::key()) }
    }

    /// Creates a secret from a part of an address, which need not have the form of a key.
    pub(crate) fn of_address(part: &str) -> Key {
        Key(part.to_owned())
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the value of the header `Authorization` with the key: `Bearer KEY`.
    pub fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Returns a text with the key replaced by `…`, wherever the text has the key or a part of it, in either case of
    /// letters. A part is hidden if it has at least half of the key's characters, or eight. Shorter parts are hidden
    /// next to `*` only, because some servers show the first and last letters of a key like that.
    pub fn hide(&self, text: &str) -> String {
        let (key, text_bytes) = (self.0.as_bytes(), text.as_bytes());
        let least = key.len().div_ceil(2).clamp(1, 8);
        let masked = least.min(2);
        // by key byte: the length of the longest common suffix of the text so far and the key up to this byte
        let mut suffixes = vec![0_usize; key.len()];
        // by text byte: the length of the longest part of the key that ends there
        let mut longest = vec![0_usize; text_bytes.len()];
        for (at, byte) in text_bytes.iter().enumerate() {
            for place in (0..key.len()).rev() {
                let before = place.checked_sub(1).map_or(0, |before| suffixes[before]);
                suffixes[place] = if byte.eq_ignore_ascii_case(&key[place]) { before + 1 } else { 0 };
                longest[at] = longest[at].max(suffixes[place]);
            }
        }
        // from the end: how many bytes up to this one are still covered by a part that ends later
        let mut is_hidden = vec![false; text_bytes.len()];
        let mut covered = 0_usize;
        for at in (0..text_bytes.len()).rev() {
            let length = longest[at];
            let is_star = |place: Option<usize>| place.and_then(|place| text_bytes.get(place)) == Some(&b'*');
            let is_masked = length >= masked && (is_star(at.checked_sub(length)) || is_star(Some(at + 1)));
            if length >= least || is_masked {
                covered = covered.max(length);
            }
            is_hidden[at] = covered > 0;
            covered = covered.saturating_sub(1);
        }
        let mut out = String::with_capacity(text.len());
        let mut was_hidden = false;
        for (at, c) in text.char_indices() {
            match (is_hidden[at], was_hidden) {
                (false, _) => out.push(c),
                (true, false) => out.push_str(HIDDEN),
                (true, true) => {}
            }
            was_hidden = is_hidden[at];
        }
        out
    }
}

/// Minimum length in bytes of a key that [`Key::hide_in_json`] hides. Shorter keys could be words of the data.
const SHORTEST_HIDDEN: usize = 8;

impl Key {
    /// Returns a JSON text in which the strings have `…` in place of the whole key, however it is escaped, in the same
    /// case of letters. Parts of the key stay, because data may share letters with it, and so does a key of less than 8
    /// characters. The result is JSON if the text was.
    pub fn hide_in_json(&self, text: String) -> String {
        let key = self.0.as_str();
        if key.len() < SHORTEST_HIDDEN || !(text.contains('\\') || text.contains(key)) {
            return text;
        }
        let (mut out, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some(start) = rest.find('"') {
            let string = &rest[start..start + string_length(&rest[start..])];
            out.push_str(&rest[..start]);
            match serde_json::from_str::<String>(string) {
                Ok(decoded) if decoded.contains(key) => {
                    out.push_str(&serde_json::Value::from(decoded.replace(key, HIDDEN)).to_string());
                }
                Ok(_) | Err(_) => out.push_str(string),
            }
            rest = &rest[start + string.len()..];
        }
        out + rest
    }
}

/// Returns the length in bytes of the JSON string at the start of a text that begins with a quotation mark. A string
/// without an end has the rest of the text.
fn string_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |end| end + 2)
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A header of each request, such as `api-key: KEY`. The value is a secret: `Debug` output does not show it, and
/// messages of the server are shown [without it](Key::hide).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name, in lower case.
    pub(crate) name: String,
    pub(crate) value: Key,
}

/// Headers that the client sets, or that are not for the server.
const RESERVED: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Header {
    /// Creates a header from its name and its value.
    ///
    /// # Errors
    /// `endpoint/header`: the name is not that of a header, or the client sets this header; the value is empty, begins
    /// or ends with a blank, or has more than 4,096 characters, or characters other than visible ASCII and blanks.
    pub fn new(name: &str, value: impl Into<String>) -> Result<Header> {
        let value = value.into();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let lower = name.to_ascii_lowercase();
        if name.is_empty() || !name.bytes().all(is_token) || RESERVED.contains(&lower.as_str()) {
            return Err(errors::header_name(name, &RESERVED));
        }
        let is_visible = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
        let is_sendable = !value.is_empty() && value.len() <= LONGEST && value.trim() == value;
        if !is_sendable || !value.bytes().all(is_visible) {
            return Err(errors::header_value(name));
        }
        Ok(Header { name: lower, value: Key(value) })
    }

    /// Returns the header that has a key: `authorization: Bearer KEY`.
    pub(crate) fn authorization(key: &Key) -> Header {
        Header { name: "authorization".to_owned(), value: Key(key.bearer()) }
    }

    /// Returns the name, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// All secrets of an endpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Vec<Key>);

impl Secrets {
    pub(crate) fn new(secrets: impl IntoIterator<Item = Key>) -> Secrets {
        Secrets(secrets.into_iter().collect())
    }

    /// Returns a text with every secret hidden; see [`Key::hide`].
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| secret.hide(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_hidden_in_whole_and_nearly() {
        let key = Key::new("sk-proj-Ab3dEf6hIj9k").unwrap();
        for (text, shown) in [
            ("wrong key sk-proj-Ab3dEf6hIj9k.", "wrong key ….".to_owned()),
            ("SK-PROJ-AB3DEF6HIJ9K", "…".to_owned()),
            ("sk-proj-Ab3dEf6hIj9", "…".to_owned()),
            ("proj-Ab3dEf6hIj9k", "…".to_owned()),
            ("é sk-proj-Ab3dEf6hIj9k é", "é … é".to_owned()),
            ("Incorrect API key: sk-pr***********j9k", "Incorrect API key: …***********…".to_owned()),
            ("the project is a proj", "the project is a proj".to_owned()),
            ("", String::new()),
        ] {
            assert_eq!(key.hide(text), shown, "{text}");
        }
    }

    #[test]
    fn headers_are_those_that_may_be_sent() {
        for (name, value, code) in [
            ("api-key", "k", None),
            ("X_Team", "Bearer a b", None),
            ("", "k", Some("endpoint/header")),
            ("a b", "k", Some("endpoint/header")),
            ("a:", "k", Some("endpoint/header")),
            ("Host", "k", Some("endpoint/header")),
            ("content-LENGTH", "k", Some("endpoint/header")),
            ("api-key", "", Some("endpoint/header")),
            ("api-key", " k", Some("endpoint/header")),
            ("api-key", "k\r\nx: y", Some("endpoint/header")),
            ("api-key", "ké", Some("endpoint/header")),
        ] {
            let found = Header::new(name, value);
            assert_eq!(found.as_ref().err().map(grammata_base::Error::code), code, "{name}");
            assert!(!format!("{found:?}").contains("Bearer"), "{found:?}");
        }
    }

    #[test]
    fn a_key_is_hidden_in_strings_of_json() {
        for (key, text, shown) in [
            ("sk-12345678", r#"{"a":"key sk-12345678!"}"#, r#"{"a":"key …!"}"#),
            ("sk-12345678", r#"{"sk-12345678":"sk-1234567"}"#, r#"{"…":"sk-1234567"}"#),
            ("12345678", r#"{"a":12345678,"b":"x12345678"}"#, r#"{"a":12345678,"b":"x…"}"#),
            (
                "12345678",
                r#"["\"",12345678,"\\",12345678,"12345678"]"#,
                r#"["\"",12345678,"\\",12345678,"…"]"#,
            ),
            ("abc/def/gh", r#"["abc/def/gh","abc\/def\/gh"]"#, r#"["…","…"]"#),
            (r#"a"b\cdefgh"#, r#"["a\"b\\cdefgh"]"#, r#"["…"]"#),
            ("true", r#"["true"]"#, r#"["true"]"#),
            ("sk+2345678", r#"["sk\u002B2345678\n","\u002b"]"#, r#"["…\n","\u002b"]"#),
            ("nnnnnnnn", r#"["\nnnnnnnn","\nnnnnnnnn"]"#, r#"["\nnnnnnnn","\n…"]"#),
        ] {
            let found = Key::new(key).unwrap().hide_in_json(text.to_owned());
            assert_eq!(found, shown, "{key}");
            assert!(serde_json::from_str::<serde_json::Value>(&found).is_ok());
        }
    }

    /// Every part of at least half of the key, or of eight characters, is hidden in every text around it.
    #[test]
    fn no_long_part_of_a_key_is_left() {
        for key in
            ["a", "ab", "abc", "secret", "aaaaaaaaaaaa", "abababab", "sk-0123456789abcdef0123456789abcdef"]
        {
            let known = Key::new(key).unwrap();
            let least = key.len().div_ceil(2).clamp(1, 8);
            for from in 0..key.len() {
                for to in from + least..=key.len() {
                    for (before, after) in [("", ""), ("x ", " y"), ("a", "b"), ("…", "…"), (key, key)] {
                        let part = &key[from..to];
                        let shown = known.hide(&format!("{before}{part}{after}"));
                        assert!(!shown.contains(part), "{key} {part}: {shown}");
                    }
                }
            }
        }
    }
}
