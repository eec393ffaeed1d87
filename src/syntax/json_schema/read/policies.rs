//! `x-grammata`: options that a schema sets itself, at its root.

use super::source;
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::options::{Formats, Numbers, Options, PropertyOrder, Undeclared, Whitespace};
use crate::syntax::json_schema::values::json::Value;
use crate::syntax::json_schema::values::pointer::join;
use bumpalo::Bump;
use serde_json::json;

/// The name of the keyword.
pub(in crate::syntax::json_schema) const KEYWORD: &str = "x-grammata";

impl Options {
    /// Returns these options, overridden by those that a schema sets itself in `x-grammata`. Options that the caller
    /// sets afterwards take precedence:
    ///
    /// ```
    /// use grammata::syntax::json_schema::{Options, Whitespace, compile};
    ///
    /// let schema = r#"{"x-grammata": {"whitespace": "compact", "propertyOrder": "any"}, "type": "object"}"#;
    /// let options = Options::default().with_policies_of(schema)?;
    /// assert_eq!(options.whitespace, Whitespace::Compact);
    /// compile(schema, &options.whitespace(Whitespace::AtMost(1)))?;
    /// # Ok::<(), grammata::Error>(())
    /// ```
    ///
    /// The members of `x-grammata`:
    ///
    /// - `propertyOrder`: `"declared"` or `"any"`
    /// - `whitespace`: `"free"`, `"compact"`, `"short"`, `"spaced"`, `{"max": 1}` or `{"pattern": " ?"}`
    /// - `numbers`: `"any"` or `"plain"`
    /// - `maxDigits`: an integer from 1, or `null` for no bound. 1 counts as 2.
    /// - `formats`: `"assert"` or `"annotate"`
    /// - `undeclared`: `"allowed"` or `"refused"`
    /// - `maxBytes` and `maxDepth`: integers from 0. They can only lower [`source_bytes`](crate::Limits::source_bytes)
    ///   and [`source_depth`](crate::Limits::source_depth).
    ///
    /// # Errors
    /// Those of reading the schema; `json-schema/invalid-policy` for unknown members and invalid values.
    pub fn with_policies_of(self, schema: &str) -> Result<Options> {
        let mut options = self;
        // most schemas do not have it and need not be read twice
        if schema.contains(KEYWORD) {
            let arena = Bump::new();
            let root = source::read(schema, &arena, &options.limits, &mut Vec::new())?;
            options.adopt(root.value)?;
        }
        Ok(options)
    }

    /// Returns the options that `x-grammata` can set, with their names and values there.
    pub fn policies(&self) -> [(&'static str, serde_json::Value); 8] {
        let order = match self.property_order {
            PropertyOrder::Declared => "declared",
            PropertyOrder::Any => "any",
        };
        let whitespace = match &self.whitespace {
            Whitespace::Free => json!("free"),
            Whitespace::Compact => json!("compact"),
            Whitespace::Short => json!("short"),
            Whitespace::Spaced => json!("spaced"),
            Whitespace::AtMost(max) => json!({ "max": max }),
            Whitespace::Pattern(pattern) => json!({ "pattern": pattern }),
        };
        let numbers = match self.numbers {
            Numbers::Any => "any",
            Numbers::Plain => "plain",
        };
        let formats = match self.formats {
            Formats::Assert => "assert",
            Formats::Annotate => "annotate",
        };
        let undeclared = match self.undeclared {
            Undeclared::Allowed => "allowed",
            Undeclared::Refused => "refused",
        };
        [
            ("propertyOrder", json!(order)),
            ("whitespace", whitespace),
            ("numbers", json!(numbers)),
            ("maxDigits", json!(self.max_digits)),
            ("formats", json!(formats)),
            ("undeclared", json!(undeclared)),
            ("maxBytes", json!(self.limits.source_bytes)),
            ("maxDepth", json!(self.limits.source_depth.min(127))),
        ]
    }

    fn adopt(&mut self, root: &Value<'_>) -> Result<()> {
        let Some(own) = root.get(KEYWORD) else { return Ok(()) };
        let place = join("", KEYWORD);
        let Value::Object(members) = own else {
            return Err(errors::invalid_policy(&place, KEYWORD, own, "an object of options"));
        };
        for (name, value) in members.iter() {
            let place = join(&place, name);
            let invalid = |allowed| errors::invalid_policy(&place, name, value, allowed);
            match name {
                "propertyOrder" => {
                    self.property_order = match value.as_str() {
                        Some("declared") => PropertyOrder::Declared,
                        Some("any") => PropertyOrder::Any,
                        _ => return Err(invalid("\"declared\" or \"any\"")),
                    };
                }
                "whitespace" => {
                    self.whitespace = whitespace(value).ok_or_else(|| {
                        invalid("\"free\", \"compact\", \"short\", \"spaced\", {\"max\": N} or {\"pattern\": \"…\"}")
                    })?;
                }
                "numbers" => {
                    self.numbers = match value.as_str() {
                        Some("any") => Numbers::Any,
                        Some("plain") => Numbers::Plain,
                        _ => return Err(invalid("\"any\" or \"plain\"")),
                    };
                }
                "maxDigits" => {
                    self.max_digits = match value {
                        Value::Null => None,
                        _ => Some(
                            value
                                .as_u64()
                                .and_then(|most| u32::try_from(most).ok())
                                .filter(|&most| most > 0)
                                .ok_or_else(|| invalid("an integer from 1, or null"))?,
                        ),
                    };
                }
                "formats" => {
                    self.formats = match value.as_str() {
                        Some("assert") => Formats::Assert,
                        Some("annotate") => Formats::Annotate,
                        _ => return Err(invalid("\"assert\" or \"annotate\"")),
                    };
                }
                "undeclared" => {
                    self.undeclared = match value.as_str() {
                        Some("allowed") => Undeclared::Allowed,
                        Some("refused") => Undeclared::Refused,
                        _ => return Err(invalid("\"allowed\" or \"refused\"")),
                    };
                }
                "maxBytes" | "maxDepth" => {
                    let limit = value.as_u64().ok_or_else(|| invalid("an integer from 0"))?;
                    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
                    let limits = &mut self.limits;
                    let own =
                        if name == "maxBytes" { &mut limits.source_bytes } else { &mut limits.source_depth };
                    *own = limit.min(*own);
                }
                _ => {
                    let allowed = "propertyOrder, whitespace, numbers, maxDigits, formats, undeclared, maxBytes or maxDepth";
                    return Err(errors::unknown_policy(&place, value, allowed));
                }
            }
        }
        Ok(())
    }
}

fn whitespace(value: &Value<'_>) -> Option<Whitespace> {
    match value {
        Value::String("free") => Some(Whitespace::Free),
        Value::String("compact") => Some(Whitespace::Compact),
        Value::String("short") => Some(Whitespace::Short),
        Value::String("spaced") => Some(Whitespace::Spaced),
        Value::Object(map) if map.len() == 1 => match (map.get("max"), map.get("pattern")) {
            (Some(max), None) => max.as_u64().and_then(|max| u32::try_from(max).ok()).map(Whitespace::AtMost),
            (None, Some(Value::String(pattern))) => Some(Whitespace::Pattern((*pattern).to_owned())),
            _ => None,
        },
        _ => None,
    }
}
