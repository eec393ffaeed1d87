//! Values that the schema lists.

use super::Emitter;
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
                        let key = quote::quoted_bytes(name);
                        Member { key, value: self.member_value(value), required: true }
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
