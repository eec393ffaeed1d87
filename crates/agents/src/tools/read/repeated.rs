//! Finds repeated keys in objects of a JSON text, because JSON parsers silently keep only the last value.

use grammata::diagnostic::Place;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// An open array or object.
enum Open<'t> {
    Array,
    /// The keys so far with their lines and columns, and whether the next string is a key.
    Object(FxHashMap<Cow<'t, str>, (usize, usize)>, bool),
}

/// Calls `take` with the key and the place of each member that a later member of the same object replaces.
pub(super) fn each(text: &str, mut take: impl FnMut(&str, Place)) {
    let bytes = text.as_bytes();
    let mut open: Vec<Open<'_>> = Vec::new();
    let (mut at, mut line, mut column) = (0, 1, 1);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' => open.push(Open::Object(FxHashMap::default(), true)),
            b'[' => open.push(Open::Array),
            b'}' | b']' => {
                open.pop();
            }
            b',' => {
                if let Some(Open::Object(_, expects_key)) = open.last_mut() {
                    *expects_key = true;
                }
            }
            b'"' => {
                while let Some(&byte) = bytes.get(at) {
                    at += if byte == b'\\' { 2 } else { 1 };
                    if byte == b'"' {
                        break;
                    }
                }
                at = at.min(bytes.len());
                if let Some(Open::Object(keys, expects_key @ true)) = open.last_mut() {
                    *expects_key = false;
                    let key = key(text.get(start..at).unwrap_or_default());
                    if let Some((line, column)) = keys.insert(key.clone(), (line, column)) {
                        take(&key, Place::LineColumn { line, column });
                    }
                }
            }
            _ => {}
        }
        for byte in &bytes[start..at] {
            match byte {
                b'\n' => (line, column) = (line + 1, 1),
                // each character counts once
                byte => column += usize::from(byte & 0xC0 != 0x80),
            }
        }
    }
}

/// Returns the text of a quoted key; empty if its escapes are invalid.
fn key(quoted: &str) -> Cow<'_, str> {
    match quoted.contains('\\') {
        true => Cow::Owned(serde_json::from_str(quoted).unwrap_or_default()),
        false => Cow::Borrowed(quoted.trim_matches('"')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(text: &str) -> Vec<(String, usize, usize)> {
        let mut found = Vec::new();
        each(text, |key, place| {
            if let Place::LineColumn { line, column } = place {
                found.push((key.to_owned(), line, column));
            }
        });
        found
    }

    #[test]
    fn the_members_that_are_lost_are_given() {
        let one = |key: &str, line, column| (key.to_owned(), line, column);
        assert_eq!(repeated(r#"{"a": {"a": 1}, "b": ["a", "a", {"c": "c"}]}"#), []);
        let thrice = "{\"ü\": 1,\n \"ü\": 2, \"\\u00fc\": 3}";
        assert_eq!(repeated(thrice), [one("ü", 1, 2), one("ü", 2, 2)]);
        assert_eq!(repeated("{\"ü\": {\"x\": 1, \"x\": 2}}\n{\"x\": 1}"), [one("x", 1, 8)]);
        for broken in ["{\"a", "{\"a\\", "}]", "{\"a\":1,\"a\"", "\"a\""] {
            repeated(broken);
        }
    }
}
