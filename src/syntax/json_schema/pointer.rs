//! JSON Pointers (RFC 6901), and the fragments of URIs that hold them.

use serde_json::Value;

/// `pointer` with one more reference token.
pub(super) fn join(pointer: &str, token: impl std::fmt::Display) -> String {
    let token = token.to_string();
    format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))
}

/// The text of a percent-encoded URI fragment; `None` if it is not UTF-8 or an escape is cut off.
pub(super) fn percent_decode(text: &str) -> Option<String> {
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

/// What the pointer (decoded, `""` or starting with `/`) points to, and the pointer written canonically.
pub(super) fn resolve<'a>(root: &'a Value, pointer: &str) -> Option<(&'a Value, String)> {
    let mut at = root;
    let mut path = String::new();
    if pointer.is_empty() {
        return Some((at, path));
    }
    for token in pointer.strip_prefix('/')?.split('/') {
        let token = token.replace("~1", "/").replace("~0", "~");
        at = match at {
            Value::Object(map) => map.get(&token)?,
            Value::Array(list) => list.get(array_index(&token)?)?,
            _ => return None,
        };
        path = join(&path, &token);
    }
    Some((at, path))
}

/// An array index: digits without a leading zero.
fn array_index(token: &str) -> Option<usize> {
    let plain = token == "0" || !token.starts_with('0');
    (plain && token.bytes().all(|b| b.is_ascii_digit())).then(|| token.parse().ok()).flatten()
}
