//! The texts of answers with their values filled in.

use super::session::Session;
use crate::procedures::language::declarations::NodeKind;
use serde_json::Value;

/// Returns a value as text: a text without quotes, a boolean as `yes` or `no`, the elements of a list separated by
/// commas, other values as JSON.
pub fn spoken(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(spoken).collect::<Vec<_>>().join(", "),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

/// Returns a text in one line: each run of whitespace is one space, and none is at the ends.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Session<'_> {
    /// Returns the text of an answer in one line, with values in place of `$slot` and `$API-slot`, and the values that
    /// were filled in and are not empty. A slot without a value is replaced by its name, with spaces for `_` and `-`.
    /// Both are empty for APIs and unknown indices.
    pub fn fill(&self, node: usize) -> (String, Vec<String>) {
        let Some(declared) = self.procedure.nodes.get(node).filter(|node| node.kind != NodeKind::Api) else {
            return (String::new(), Vec::new());
        };
        let (mut text, mut values) = (String::new(), Vec::new());
        let mut parts = declared.description.split('$');
        text.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let (name, rest) = hole(part);
            if name.is_empty() {
                text.push('$');
            } else {
                match self.value(name).map(spoken) {
                    Some(value) => {
                        text.push_str(&value);
                        values.push(one_line(&value));
                    }
                    None => text.push_str(&name.replace(['_', '-'], " ")),
                }
            }
            text.push_str(rest);
        }
        values.retain(|value| !value.is_empty());
        (one_line(&text), values)
    }
}

/// Splits the text after a `$` into the name of a slot and the rest. The name is empty if the text does not begin with
/// one.
fn hole(text: &str) -> (&str, &str) {
    let is_begin = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let end = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if !is_begin(text) {
        return ("", text);
    }
    let first = end(text);
    match text[first..].strip_prefix('-').filter(|rest| is_begin(rest)) {
        Some(rest) => text.split_at(first + 1 + end(rest)),
        None => text.split_at(first),
    }
}
