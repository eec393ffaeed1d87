//! Formats bytes and places for people and as JSON.

use grammata::diagnostic::{Notation, Place, Source, is_hidden};
use grammata::error::Error;
use serde_json::{Value, json};
use std::fmt::Write;

/// Returns bytes in quotes, escaped as in a JSON string. Bytes that are not UTF-8 are written as `\xNN`, which JSON
/// does not have: the result is valid JSON exactly if the bytes are UTF-8.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                // characters that are invisible or could disturb a terminal
                c if is_hidden(c) => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                    let _ = write!(out, "\\u{unit:04x}");
                }),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02X}");
        }
    }
    out.push('"');
    out
}

/// Converts bytes to JSON: `{"text": …}` if they are UTF-8, otherwise `{"hex": …}`.
pub(crate) fn json_bytes(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => json!({ "hex": hex(bytes) }),
    }
}

/// Returns the SHA-256 of bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    hex(&Sha256::digest(bytes))
}

/// Returns bytes in hexadecimal, two lower-case digits each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Returns the line and column of a byte offset, both from 1. Each run of bytes that is not valid UTF-8 counts as the
/// characters that replace it in a lossy conversion.
pub(crate) fn line_column(bytes: &[u8], offset: usize) -> (usize, usize) {
    let before = &bytes[..offset.min(bytes.len())];
    let text = String::from_utf8_lossy(before);
    match Place::in_text(&text, text.len()) {
        Place::LineColumn { line, column } => (line, column),
        _ => (1, 1),
    }
}

/// Returns the text at a byte offset in quotes: the character that begins there, or the byte if none does.
pub(crate) fn found_at(bytes: &[u8], offset: usize) -> String {
    quoted(character_at(bytes, offset))
}

/// Returns the bytes of the character that begins at an offset, or the single byte if none does; nothing at the end.
pub(crate) fn character_at(bytes: &[u8], offset: usize) -> &[u8] {
    let rest = bytes.get(offset..).unwrap_or_default();
    let is_character =
        |length: &usize| rest.get(..*length).is_some_and(|bytes| str::from_utf8(bytes).is_ok());
    let length = (1..=4).find(is_character).unwrap_or(1);
    rest.get(..length).unwrap_or(rest)
}

/// Adds the name of a text to an error about it, and its line if the text is UTF-8.
pub(crate) fn in_text(error: Error, bytes: &[u8], name: &str) -> Error {
    match str::from_utf8(bytes) {
        Ok(text) => error.in_source(&Source::new(text, Notation::Text)).in_file(name),
        Err(_) => error.in_file(name),
    }
}

/// Formats a number of bytes: as bytes below 10,000, in KiB below 10,000,000, otherwise in MiB.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

/// Formats a count with its noun: `1 word`, `2 words`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
