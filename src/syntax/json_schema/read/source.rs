//! Reads schema text into a JSON value. Size and depth are checked before any pass recurses over the value; the JSON
//! reader bounds its own recursion.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::values::json::{self, Value};
use crate::syntax::json_schema::values::pointer::join;
use bumpalo::Bump;
use rustc_hash::FxHashSet;

/// Greatest nesting depth of a schema document, the same as that of the JSON reader. Within it, recursion over the
/// document is safe.
pub(in crate::syntax::json_schema) const MAX_DEPTH: usize = 127;

/// A schema document.
#[derive(Clone, Copy)]
pub(in crate::syntax::json_schema) struct Source<'t> {
    pub(in crate::syntax::json_schema) value: &'t Value<'t>,
    /// Whether a schema in the document other than the root may have an identifier.
    pub(in crate::syntax::json_schema) has_identifiers: bool,
}

/// Reads the schema text. Duplicate keys cause warnings.
///
/// # Errors
/// Text that is too long, not JSON or nested too deep.
pub(in crate::syntax::json_schema) fn read<'t>(
    text: &'t str,
    arena: &'t Bump,
    limits: &Limits,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Source<'t>> {
    limits.check_source(text)?;
    let most = limits.source_depth.min(MAX_DEPTH);
    let read = match json::read(text, arena, is_identifier) {
        Ok(read) => read,
        // a text that is nested too deep for the reader gets the error about its depth
        Err(cause) => {
            return Err(check_text_depth(text, most).err().unwrap_or_else(|| errors::not_json(&cause, text)));
        }
    };
    if read.depth > most {
        return Err(errors::too_deep(most));
    }
    if !read.all_different {
        find_duplicates(text, warnings);
    }
    let value = arena.alloc(read.value);
    let of_root = match &*value {
        Value::Object(map) => map.iter().filter(|(name, value)| is_identifier(name, value)).count(),
        _ => 0,
    };
    Ok(Source { value, has_identifiers: read.counted > of_root })
}

/// Whether a member may be an identifier of the schema that contains it.
pub(in crate::syntax::json_schema) fn is_identifier(name: &str, value: &Value<'_>) -> bool {
    match name {
        "id" | "$id" | "$anchor" | "$dynamicAnchor" => value.as_str().is_some(),
        "$recursiveAnchor" => true,
        _ => false,
    }
}

/// Checks that a value is not nested too deep for the passes that recurse over it. Returns the approximate length of
/// its text in bytes.
///
/// # Errors
/// What `too_deep` makes of the limit.
pub(in crate::syntax) fn check_depth(
    value: &serde_json::Value,
    limits: &Limits,
    too_deep: impl Fn(usize) -> Error,
) -> Result<usize> {
    use serde_json::Value;
    let most = limits.source_depth.min(MAX_DEPTH);
    let mut stack = vec![(value, 1)];
    let mut size = 0;
    while let Some((value, depth)) = stack.pop() {
        let nested = matches!(value, Value::Array(_) | Value::Object(_));
        if nested && depth > most {
            return Err(too_deep(most));
        }
        size += 4;
        match value {
            Value::Array(list) => stack.extend(list.iter().map(|v| (v, depth + 1))),
            Value::Object(map) => {
                size += map.keys().map(String::len).sum::<usize>();
                stack.extend(map.values().map(|v| (v, depth + 1)));
            }
            Value::String(text) => size += text.len(),
            _ => {}
        }
    }
    Ok(size)
}

/// Checks that a text is not nested too deep.
fn check_text_depth(text: &str, most: usize) -> Result<()> {
    let mut depth = 0usize;
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => rest = after_string(rest),
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > most {
            return Err(errors::too_deep(most));
        }
    }
    Ok(())
}

/// Returns the text after the end of a string; `text` begins inside the string.
fn after_string(mut text: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', text) {
        let is_end = text[at] == b'"';
        text = text.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return text;
        }
    }
    &[]
}

/// An array or object that is not closed yet: the index of the current item, or the keys so far.
enum Open {
    Array(usize),
    Object { keys: FxHashSet<String>, key: String, expects_key: bool },
}

/// Adds a warning for each key that an object repeats. `text` must be JSON. The reader keeps the last of equal keys and
/// reports only that there are some.
fn find_duplicates(text: &str, warnings: &mut Vec<Diagnostic>) {
    let bytes = text.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' => {
                open.push(Open::Object { keys: FxHashSet::default(), key: String::new(), expects_key: true })
            }
            b'[' => open.push(Open::Array(0)),
            b'}' | b']' => {
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Open::Array(index)) => *index += 1,
                Some(Open::Object { expects_key, .. }) => *expects_key = true,
                None => {}
            },
            b'"' => {
                let start = at - 1;
                while let Some(&byte) = bytes.get(at) {
                    at += 1;
                    match byte {
                        b'\\' => at += 1,
                        b'"' => break,
                        _ => {}
                    }
                }
                let Some(Open::Object { keys, key, expects_key: expects_key @ true }) = open.last_mut()
                else {
                    continue;
                };
                *expects_key = false;
                *key = serde_json::from_str(&text[start..at]).unwrap_or_default();
                if !keys.insert(key.clone()) {
                    warnings.push(errors::duplicate_key(&pointer(&open)));
                }
            }
            _ => {}
        }
    }
}

fn pointer(open: &[Open]) -> String {
    open.iter().fold(String::new(), |path, open| match open {
        Open::Array(index) => join(&path, &index.to_string()),
        Open::Object { key, .. } => join(&path, key),
    })
}
