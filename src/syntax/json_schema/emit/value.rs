//! Values that the schema lists.

use super::Emitter;
use super::bare::marked;
use crate::grammar::{ExprId, Member, Members};
use crate::syntax::json_schema::model::numbers;
use crate::syntax::json_schema::values::decimal::Decimal;
use crate::syntax::json_schema::values::json::Value;
use crate::syntax::json_schema::values::quote;

/// Returns the text of a scalar in canonical spelling; numbers are in plain notation unless that would be too long.
pub(super) fn canonical(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => quote::quoted(text),
        Value::Number(number) => {
            let source = number.to_string();
            let decimal = Decimal::parse(&source);
            if decimal.is_plain() { decimal.to_plain_text() } else { source }
        }
        other => other.to_string(),
    }
}

impl Emitter<'_, '_> {
    /// Returns the texts of one value. Recurses; the depth of schema documents is bounded.
    pub(super) fn value(&mut self, value: &Value<'_>) -> ExprId {
        match value {
            Value::Null => self.g.text(self.words()[2]),
            Value::Bool(value) => self.g.text(self.words()[usize::from(!value)]),
            Value::Number(number) => {
                let listed = if self.all.has_notations { numbers::listed_alike } else { numbers::listed };
                listed(&mut self.g, &number.to_string(), self.options.numbers)
            }
            Value::String(text) if self.has_both_quotes => self.python_text(text),
            Value::String(text) if self.is_marked() => self.g.text(marked(text)),
            Value::String(text) => self.g.bytes(quote::quoted_bytes(text)),
            Value::Array(list) => {
                let mut parts = vec![self.layout.open_array];
                for (index, value) in list.iter().enumerate() {
                    if index > 0 {
                        parts.push(self.layout.comma);
                    }
                    parts.push(self.value(value));
                    parts.push(self.layout.space);
                }
                parts.push(self.layout.close_array);
                self.g.sequence(parts)
            }
            Value::Object(map) => {
                let members = map
                    .iter()
                    .map(|(name, value)| {
                        let value = self.value(value);
                        let (key, value) = match self.is_marked() {
                            // a value with a name that is not written is excluded
                            true => (self.bare_key(name).unwrap_or_default(), self.bare_value(value)),
                            false => (quote::quoted_bytes(name), self.member_value(value)),
                        };
                        Member { key, value, required: true }
                    })
                    .collect();
                self.braces(Members {
                    order: self.options.property_order.into(),
                    members,
                    rest: None,
                    ones: Box::default(),
                    conditions: Box::default(),
                    separator: self.layout.comma,
                    min: 0,
                    max: None,
                })
            }
        }
    }
}
