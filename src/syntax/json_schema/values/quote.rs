//! JSON strings in canonical spelling: only `"`, `\` and control characters are escaped.

use crate::grammar::{CharClass, Text};
use std::borrow::Cow;

/// The canonical escapes of the control characters.
#[rustfmt::skip]
const CONTROL: [&str; 32] = [
    "\\u0000", "\\u0001", "\\u0002", "\\u0003", "\\u0004", "\\u0005", "\\u0006", "\\u0007",
    "\\b", "\\t", "\\n", "\\u000b", "\\f", "\\r", "\\u000e", "\\u000f",
    "\\u0010", "\\u0011", "\\u0012", "\\u0013", "\\u0014", "\\u0015", "\\u0016", "\\u0017",
    "\\u0018", "\\u0019", "\\u001a", "\\u001b", "\\u001c", "\\u001d", "\\u001e", "\\u001f",
];

/// Returns the canonical escape of a character; `None` if the character is not escaped.
pub(in crate::syntax::json_schema) fn escape(c: char) -> Option<&'static str> {
    match c {
        '"' => Some("\\\""),
        '\\' => Some("\\\\"),
        _ => CONTROL.get(c as usize).copied(),
    }
}

/// Returns the characters that must be escaped.
pub(in crate::syntax::json_schema) fn escaped() -> CharClass {
    CharClass::new([('\0', '\x1F'), ('"', '"'), ('\\', '\\')])
}

/// Returns the text as a JSON string in canonical spelling, with its quotes.
pub(in crate::syntax::json_schema) fn quoted(text: &str) -> String {
    ["\"", &content(text), "\""].concat()
}

/// Returns the same as [`quoted`], as bytes.
pub(in crate::syntax::json_schema) fn quoted_bytes(text: &str) -> Text {
    let content = content(text);
    let mut bytes = Text::with_capacity(content.len() + 2);
    bytes.push(b'"');
    bytes.extend_from_slice(content.as_bytes());
    bytes.push(b'"');
    bytes
}

/// Returns the text as the content of a JSON string in canonical spelling.
pub(in crate::syntax::json_schema) fn content(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|byte| matches!(byte, 0..=0x1F | b'"' | b'\\')) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        match escape(c) {
            Some(escape) => out.push_str(escape),
            None => out.push(c),
        }
    }
    out.into()
}
