//! Texts that must not occur in strings as they are written.

use super::Emitter;
use crate::grammar::{ExprId, FreeText};
use crate::syntax::json_schema::json::Value;
use crate::syntax::json_schema::strings;

impl Emitter<'_, '_> {
    /// Returns the texts that contain no excluded text; `None` if nothing is excluded.
    pub(super) fn without_excluded(&mut self) -> Option<ExprId> {
        self.without(false)
    }

    /// Returns the same between the quotes of a JSON string. If members are elements, the end of an element is excluded
    /// as well.
    pub(super) fn without_excluded_string(&mut self) -> Option<ExprId> {
        self.without(true)
    }

    fn without(&mut self, quoted: bool) -> Option<ExprId> {
        if let Some(known) = self.without_excluded[usize::from(quoted)] {
            return Some(known);
        }
        let stop = self.options.spelling.style().filter(|_| quoted).map(|style| style.stop);
        let excludes = self.options.excludes.iter().map(String::as_str).chain(stop);
        let forbidden: Vec<Box<str>> = excludes.map(Box::from).collect();
        if forbidden.is_empty() {
            return None;
        }
        let quote = self.g.text(if quoted { "\"" } else { "" });
        let text = self.g.free_text(&FreeText { triggers: Vec::new(), forbidden, end: Some(quote) });
        let whole = self.g.sequence([quote, text]);
        self.without_excluded[usize::from(quoted)] = Some(whole);
        Some(whole)
    }

    /// Whether an excluded text occurs in a text as the content of a string: in canonical spelling of JSON, or as it is
    /// if members are elements.
    pub(super) fn is_excluded_text(&self, text: &str) -> bool {
        let excludes = &self.options.excludes;
        if excludes.is_empty() {
            return false;
        }
        let quoted = strings::quoted(text);
        let written = match self.options.spelling.style() {
            Some(_) => text,
            None => quoted.get(1..quoted.len() - 1).unwrap_or_default(),
        };
        excludes.iter().any(|excluded| written.contains(excluded.as_str()))
    }

    /// Whether an excluded text occurs in a string or name of a listed value. Recurses; the depth of schema documents
    /// is bounded.
    pub(super) fn is_excluded(&self, value: &Value<'_>) -> bool {
        match value {
            Value::String(text) => self.is_excluded_text(text),
            Value::Array(list) => list.iter().any(|value| self.is_excluded(value)),
            Value::Object(map) => {
                map.iter().any(|(name, value)| self.is_excluded_text(name) || self.is_excluded(value))
            }
            _ => false,
        }
    }
}
