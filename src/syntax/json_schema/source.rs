//! From schema text to a JSON value: size and depth are checked before anything recurses over it.

use super::errors;
use super::pointer::join;
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::limits::Limits;
use crate::syntax::json_schema::json::Value;
use rustc_hash::FxHashSet;

/// The nesting that a schema document may have. The JSON reader has the same bound; below it, recursion over
/// the document is safe.
pub(super) const MAX_DEPTH: usize = 127;

/// Reads the schema text; duplicate keys become warnings.
pub(super) fn read<'t>(text: &'t str, limits: &Limits, warnings: &mut Vec<Diagnostic>) -> Result<Value<'t>> {
    limits.check_source(text)?;
    let members = check_text_depth(text, limits.source_depth.min(MAX_DEPTH))?;
    let value = serde_json::from_str(text).map_err(|cause| errors::not_json(&cause))?;
    if members != count_members(&value) {
        find_duplicates(text, warnings);
    }
    Ok(value)
}

/// How many members the objects in a value have. Its depth is bounded.
fn count_members(value: &Value<'_>) -> usize {
    match value {
        Value::Array(list) => list.iter().map(count_members).sum(),
        Value::Object(map) => map.len() + map.values().map(count_members).sum::<usize>(),
        _ => 0,
    }
}

/// Refuses a value that is nested too deep for the passes that recurse over it.
pub(super) fn check_depth(value: &serde_json::Value, limits: &Limits) -> Result<()> {
    use serde_json::Value;
    let most = limits.source_depth.min(MAX_DEPTH);
    let mut stack = vec![(value, 1)];
    while let Some((value, depth)) = stack.pop() {
        let nested = matches!(value, Value::Array(_) | Value::Object(_));
        if nested && depth > most {
            return Err(errors::too_deep(most));
        }
        match value {
            Value::Array(list) => stack.extend(list.iter().map(|v| (v, depth + 1))),
            Value::Object(map) => stack.extend(map.values().map(|v| (v, depth + 1))),
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a text that is nested too deep; tells how many members it has, if it is JSON.
fn check_text_depth(text: &str, most: usize) -> Result<usize> {
    let (mut depth, mut members) = (0usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                // to the end of the string
                while let Some(byte) = bytes.next().filter(|&byte| byte != b'"') {
                    if byte == b'\\' {
                        bytes.next();
                    }
                }
            }
            b':' => members += 1,
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > most {
            return Err(errors::too_deep(most));
        }
    }
    Ok(members)
}

/// One open array or object of the scan.
enum Open {
    Array(usize),
    Object { keys: FxHashSet<String>, key: String, expects_key: bool },
}

/// Warns of object keys that stand twice. `text` is known to be JSON: the reader keeps the last of two equal
/// keys and says nothing.
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
