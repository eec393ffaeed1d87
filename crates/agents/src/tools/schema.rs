//! Argument schemas as JSON text: a tree of values takes ten times as many bytes. Properties that are needed for all
//! tools of a set are computed on construction.

use super::plain;
use hashbrown::HashMap;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// The JSON Schema (2020-12) of the arguments of a tool, stored as text. Clones share the text, and so do tools of one
/// [`read`](super::read) with equal schemas, unless the schemas are nested very deeply or contain
/// `$serde_json::private`.
#[derive(Clone, PartialEq)]
pub struct Schema {
    text: Arc<str>,
    /// The value, if the JSON parser might not read the same value from the text.
    tree: Option<Arc<Value>>,
    /// An upper bound on the bytes of a shortest value written without spaces, or the mark [`LONG`] or [`UNKNOWN`].
    least: u16,
}

/// Marks a plain schema whose bound is too large ([`plain::least_bytes`]).
const LONG: u16 = u16::MAX - 1;

/// Marks a schema that is not plain.
const UNKNOWN: u16 = u16::MAX;

/// The greatest nesting that the recursive JSON parser certainly accepts; its own bound is 128.
const MOST_DEPTH: usize = 120;

/// The prefix of keys that `serde_json` treats specially.
const PRIVATE: &str = "$serde_json::private";

impl Schema {
    /// Creates a schema from its JSON value.
    pub fn new(value: &Value) -> Schema {
        Schema::with_text(value, value.to_string().into())
    }

    fn with_text(value: &Value, text: Arc<str>) -> Schema {
        let reads_back = !is_deep(value) && !text.contains(PRIVATE);
        let least = match plain::is_plain(value) {
            true => plain::least_bytes(value).and_then(|least| u16::try_from(least).ok()).unwrap_or(LONG),
            false => UNKNOWN,
        };
        Schema { text, tree: (!reads_back).then(|| Arc::new(value.clone())), least }
    }

    /// Returns the schema as compact JSON text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the schema as a value, usually parsed from the text on each call.
    pub fn value(&self) -> Value {
        match &self.tree {
            Some(tree) => (**tree).clone(),
            None => serde_json::from_str(&self.text).unwrap_or_else(|error| {
                debug_assert!(false, "text of a value: {error}");
                Value::Bool(false)
            }),
        }
    }

    /// Returns whether the schema certainly has a grammar and a value.
    pub(super) fn is_plain(&self) -> bool {
        self.least != UNKNOWN
    }

    /// Returns an upper bound on the bytes of a shortest value of a plain schema, written without spaces; `None` if the
    /// schema is not plain or the bound exceeds 1,000.
    pub(super) fn least_bytes(&self) -> Option<usize> {
        (self.least < LONG).then_some(usize::from(self.least))
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Value> for Schema {
    fn from(value: Value) -> Schema {
        Schema::new(&value)
    }
}

/// Returns whether values are nested deeper than [`MOST_DEPTH`].
fn is_deep(value: &Value) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, depth)) = open.pop() {
        if depth > MOST_DEPTH {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, depth + 1))),
            _ => {}
        }
    }
    false
}

/// The schemas of documents that are read together, deduplicated.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<Arc<str>, Schema>);

impl Known {
    /// Returns the schema of a value; an equal schema that is known is shared.
    pub(super) fn schema(&mut self, value: &Value) -> Schema {
        let text = value.to_string();
        if let Some(known) = self.0.get(text.as_str()) {
            return known.clone();
        }
        let text: Arc<str> = text.into();
        let made = Schema::with_text(value, Arc::clone(&text));
        // a text that is not read back may be the text of two values
        if made.tree.is_none() {
            self.0.insert(text, made.clone());
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn schemas_read_back_whatever_they_are() {
        let mut deep = json!({"type": "string"});
        for _ in 0..400 {
            deep = json!({"type": "array", "items": deep});
        }
        let private = json!({"properties": {"x": {"$serde_json::private::Number": "no number"}}});
        let exact =
            serde_json::from_str(r#"{"const": 1.000000000000000000000000000000001e400, "é": "\u0000"}"#);
        for value in [json!(true), json!({}), deep, private, exact.unwrap()] {
            let schema = Schema::new(&value);
            assert_eq!(schema.value(), value);
            assert_eq!(schema.text(), value.to_string());
            assert_eq!(Schema::new(&value), schema);
        }
    }

    #[test]
    fn equal_schemas_share_their_text() {
        let mut known = Known::default();
        let one = known.schema(&json!({"type": "object", "properties": {"a": {"type": "string"}}}));
        let other = known.schema(&json!({"type": "object", "properties": {"a": {"type": "string"}}}));
        let order = known.schema(&json!({"properties": {"a": {"type": "string"}}, "type": "object"}));
        assert!(Arc::ptr_eq(&one.text, &other.text) && !Arc::ptr_eq(&one.text, &order.text));
        assert_eq!((one.is_plain(), one.least_bytes()), (true, Some(2)));
        assert!(!known.schema(&json!({"type": "object", "not": {}})).is_plain());
    }
}
