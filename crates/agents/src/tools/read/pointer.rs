//! JSON Pointers (RFC 6901) into documents, also as URI fragments.

use serde_json::Value;
use std::borrow::Cow;

/// Appends a step to a pointer.
pub(super) fn join(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// The target of a reference `#/…`, with its pointer; `None` if it has no target in this document.
pub(super) fn follow<'d>(root: &'d Value, reference: &str) -> Option<(&'d Value, String)> {
    let fragment = reference.strip_prefix('#')?;
    let pointer = percent_decoded(fragment)?;
    let value = root.pointer(&pointer)?;
    Some((value, pointer.into_owned()))
}

/// Decodes `%XX` in a text; `None` if a `%` begins no such code, or the result is not UTF-8.
fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}
