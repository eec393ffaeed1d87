//! JSON Pointers (RFC 6901), and the URI fragments that contain them.

use super::json::Value;

/// Returns `pointer` with one more reference token, which is escaped.
pub(in crate::syntax::json_schema) fn join(pointer: &str, token: &str) -> String {
    let mut longer = String::with_capacity(pointer.len() + 1 + token.len());
    longer.push_str(pointer);
    append(&mut longer, token);
    longer
}

/// Appends a reference token to a pointer, escaped.
pub(in crate::syntax::json_schema) fn append(pointer: &mut String, token: &str) {
    pointer.push('/');
    if !token.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        return pointer.push_str(token);
    }
    for part in token.split_inclusive(['~', '/']) {
        match (part.strip_suffix('~'), part.strip_suffix('/')) {
            (Some(before), _) => pointer.extend([before, "~0"]),
            (_, Some(before)) => pointer.extend([before, "~1"]),
            _ => pointer.push_str(part),
        }
    }
}

/// Returns the text of a percent-encoded URI fragment; `None` if it is not UTF-8 or an escape is invalid.
pub(in crate::syntax::json_schema) fn percent_decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let high = char::from(bytes.next()?).to_digit(16)?;
        let low = char::from(bytes.next()?).to_digit(16)?;
        out.push((high << 4 | low) as u8);
    }
    String::from_utf8(out).ok()
}

/// Returns the value that a reference token (unescaped) selects.
pub(in crate::syntax::json_schema) fn step<'a>(value: &'a Value<'a>, token: &str) -> Option<&'a Value<'a>> {
    match value {
        Value::Object(map) => map.get(token),
        Value::Array(list) => list.get(array_index(token)?),
        _ => None,
    }
}

/// Returns a pointer for display: as a fragment in the schema's own document, otherwise after the URI of the document.
pub(in crate::syntax::json_schema) fn shown(pointer: &str) -> String {
    shown_parts(pointer).concat()
}

/// Returns the two parts of [`shown`].
pub(in crate::syntax::json_schema) fn shown_parts(pointer: &str) -> [&str; 2] {
    let own = pointer.is_empty() || pointer.starts_with('/');
    [if own { "#" } else { "" }, pointer]
}

/// Parses an array index: digits without a leading zero.
fn array_index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with('0');
    (plain && token.bytes().all(|b| b.is_ascii_digit())).then(|| token.parse().ok()).flatten()
}
