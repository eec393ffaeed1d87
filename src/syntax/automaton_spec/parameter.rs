//! The parameters of a spec, with their types and values.

use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;

/// Maximum number of characters of a parameter's value. In a list, each item counts one more. With
/// `Limits::template_work`, this bounds the cost of rendering.
const VALUE_CHARACTERS: usize = 1_000;

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    /// A signed integer of 64 bits.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A text of at most 1,000 characters.
    String,
    /// A list of texts, with at most 1,000 characters in total, counting one more for each text.
    List,
}

impl fmt::Display for ParameterType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ParameterType::Integer => "integer",
            ParameterType::Boolean => "boolean",
            ParameterType::String => "string",
            ParameterType::List => "list",
        })
    }
}

/// The value of a parameter. Its `Display` form is in the notation of [`Options`](super::Options). Reading that form
/// gives the same value, unless an item of a list is empty, contains a comma or has white space around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterValue {
    /// A value of type [`ParameterType::Integer`].
    Integer(i64),
    /// A value of type [`ParameterType::Boolean`].
    Boolean(bool),
    /// A value of type [`ParameterType::String`].
    String(String),
    /// A value of type [`ParameterType::List`].
    List(Vec<String>),
}

impl ParameterValue {
    /// The type of the value.
    pub fn kind(&self) -> ParameterType {
        match self {
            ParameterValue::Integer(_) => ParameterType::Integer,
            ParameterValue::Boolean(_) => ParameterType::Boolean,
            ParameterValue::String(_) => ParameterType::String,
            ParameterValue::List(_) => ParameterType::List,
        }
    }

    /// The number of characters of the texts in the value; in a list, one more for each text.
    pub(super) fn characters(&self) -> usize {
        match self {
            ParameterValue::Integer(_) | ParameterValue::Boolean(_) => 0,
            ParameterValue::String(text) => text.chars().count(),
            ParameterValue::List(list) => list.iter().map(|text| text.chars().count() + 1).sum(),
        }
    }

    /// The value of a TOML integer, boolean or string, or of an array of strings; `None` for other values.
    pub(super) fn from_toml(value: &toml::Value) -> Option<ParameterValue> {
        Some(match value {
            toml::Value::Integer(n) => ParameterValue::Integer(*n),
            toml::Value::Boolean(b) => ParameterValue::Boolean(*b),
            toml::Value::String(text) => ParameterValue::String(text.clone()),
            toml::Value::Array(list) => {
                let texts: Option<Vec<String>> =
                    list.iter().map(|item| item.as_str().map(str::to_owned)).collect();
                ParameterValue::List(texts?)
            }
            _ => return None,
        })
    }

    /// Parses a value of the given type from text in the notation of [`Options`](super::Options); `None` if the text is
    /// not one.
    pub(super) fn from_text(kind: ParameterType, text: &str) -> Option<ParameterValue> {
        Some(match kind {
            ParameterType::Integer => ParameterValue::Integer(text.trim().parse().ok()?),
            ParameterType::Boolean => ParameterValue::Boolean(text.trim().parse().ok()?),
            ParameterType::String => ParameterValue::String(text.to_owned()),
            ParameterType::List if text.trim().is_empty() => ParameterValue::List(Vec::new()),
            ParameterType::List => {
                ParameterValue::List(text.split(',').map(|item| item.trim().to_owned()).collect())
            }
        })
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Integer(n) => write!(f, "{n}"),
            ParameterValue::Boolean(b) => write!(f, "{b}"),
            ParameterValue::String(text) => f.write_str(text),
            ParameterValue::List(list) => f.write_str(&list.join(",")),
        }
    }
}

/// A parameter that a spec declares, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name: ASCII letters, digits and underscores, not beginning with a digit.
    pub name: String,
    /// A description of the parameter, for people; `None` if the spec has none.
    pub description: Option<String>,
    /// The type of `default` and `value`.
    pub kind: ParameterType,
    /// The value if the caller gives none.
    pub default: ParameterValue,
    /// The value that is used: that of the caller, or the default.
    pub value: ParameterValue,
    /// The minimum of an integer, included; `None` if it is not bounded, and for other types.
    pub min: Option<i64>,
    /// The maximum of an integer, included; `None` if it is not bounded, and for other types.
    pub max: Option<i64>,
    /// The allowed values; for a list, the allowed items. `None` if any value is allowed.
    pub allowed: Option<Vec<ParameterValue>>,
}

impl Parameter {
    /// A description of the allowed values in words, for messages. If `allowed` is given, bounds are not mentioned.
    pub fn describe_allowed(&self) -> String {
        let of_list = if self.kind == ParameterType::List { "texts between commas, each " } else { "" };
        if let Some(allowed) = &self.allowed {
            let list: Vec<String> = allowed.iter().map(|value| format!("`{value}`")).collect();
            return format!("{of_list}one of {}", list.join(", "));
        }
        match (self.kind, self.min, self.max) {
            (ParameterType::Integer, Some(min), Some(max)) => format!("an integer from {min} to {max}"),
            (ParameterType::Integer, Some(min), None) => format!("an integer of at least {min}"),
            (ParameterType::Integer, None, Some(max)) => format!("an integer of at most {max}"),
            (ParameterType::Integer, None, None) => "an integer of 64 bits".to_owned(),
            (ParameterType::Boolean, ..) => "`true` or `false`".to_owned(),
            (ParameterType::String, ..) => format!("a text of at most {VALUE_CHARACTERS} characters"),
            (ParameterType::List, ..) => {
                format!("texts between commas, at most {VALUE_CHARACTERS} characters in all")
            }
        }
    }

    /// Whether a value of the parameter's type is within its bounds, among its allowed values, and short enough.
    pub(super) fn allows(&self, value: &ParameterValue) -> bool {
        let among = |value: &ParameterValue| self.allowed.as_ref().is_none_or(|list| list.contains(value));
        value.characters() <= VALUE_CHARACTERS
            && match value {
                ParameterValue::Integer(n) => {
                    self.min.is_none_or(|min| *n >= min)
                        && self.max.is_none_or(|max| *n <= max)
                        && among(value)
                }
                ParameterValue::List(items) => {
                    items.iter().all(|item| among(&ParameterValue::String(item.clone())))
                }
                ParameterValue::Boolean(_) | ParameterValue::String(_) => among(value),
            }
    }
}
