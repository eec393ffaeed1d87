//! Texts that must not occur in strings as they are written.

use super::Emitter;
use super::bare::MARK;
use crate::grammar::{ExprId, FreeText};
use crate::syntax::json_schema::elements::Style;
use crate::syntax::json_schema::values::json::{Map, Value};
use crate::syntax::json_schema::values::quote;

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

    /// Whether an excluded text occurs in a string or name as it is written, without quotes.
    pub(super) fn is_excluded_text(&self, written: &str) -> bool {
        self.options.excludes.iter().any(|excluded| written.contains(excluded.as_str()))
    }

    /// Whether an excluded text or the end of an element occurs in a string in canonical spelling of JSON, or an
    /// excluded text or a mark in a string between marks.
    fn is_excluded_string(&self, text: &str) -> bool {
        let stop = self.options.spelling.style().map(|style| style.stop);
        if self.is_marked() {
            return text.contains(MARK) || self.is_excluded_text(text);
        }
        if self.options.excludes.is_empty() && stop.is_none() {
            return false;
        }
        let written = quote::content(text);
        stop.is_some_and(|stop| written.contains(stop)) || self.is_excluded_text(&written)
    }

    /// Whether an excluded text occurs in the name of a member, in JSON or in a style of elements.
    pub(super) fn is_excluded_name(&self, name: &str, style: Option<&Style>) -> bool {
        match style {
            Some(style) => style.written_name(name).is_some_and(|name| self.is_excluded_text(&name)),
            // a name that is not written is refused where it is declared, and else not in the language
            None if self.is_marked() => self.is_excluded_text(name),
            None => self.is_excluded_string(name),
        }
    }

    /// Whether an excluded text occurs in a string or name of a listed value, in JSON or as the value of an element.
    /// Recurses; the depth of schema documents is bounded.
    pub(super) fn is_excluded(&self, value: &Value<'_>, style: Option<&Style>) -> bool {
        let inner = style.filter(|style| style.item.is_some());
        match (value, style) {
            (Value::String(text), Some(_)) => self.is_excluded_text(text),
            (Value::String(text), None) => self.is_excluded_string(text),
            (Value::Array(list), _) => list.iter().any(|value| self.is_excluded(value, inner)),
            (Value::Object(map), _) => self.has_excluded_member(map, inner),
            _ => false,
        }
    }

    /// Whether an excluded text occurs in a name or value of the members of a listed object.
    pub(super) fn has_excluded_member(&self, map: &Map<'_>, style: Option<&Style>) -> bool {
        let is_unwritten = |name| style.is_none() && self.is_marked() && self.bare_key(name).is_none();
        map.iter().any(|(name, value)| {
            is_unwritten(name) || self.is_excluded_name(name, style) || self.is_excluded(value, style)
        })
    }
}
