//! Parameters of a spec, their types and values.

use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;

/// Maximum number of characters of a parameter's value. Together with the bounds of [`super::template`] it bounds the
/// cost of rendering.
const VALUE_CHARACTERS: usize = 1_000;

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    /// A 64-bit signed integer.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A text.
    String,
    /// A list of texts.
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

/// The value of a parameter. It is displayed in the notation of [`Options`](super::Options).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterValue {
    /// Of type [`ParameterType::Integer`].
    Integer(i64),
    /// Of type [`ParameterType::Boolean`].
    Boolean(bool),
    /// Of type [`ParameterType::String`].
    String(String),
    /// Of type [`ParameterType::List`].
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

    pub(super) fn characters(&self) -> usize {
        match self {
            ParameterValue::Integer(_) | ParameterValue::Boolean(_) => 0,
            ParameterValue::String(text) => text.chars().count(),
            ParameterValue::List(list) => list.iter().map(|text| text.chars().count() + 1).sum(),
        }
    }

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

/// A parameter of a spec and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name, an identifier.
    pub name: String,
    /// A description of the parameter.
    pub description: Option<String>,
    /// The type.
    pub kind: ParameterType,
    /// The value used if none is given.
    pub default: ParameterValue,
    /// The value used.
    pub value: ParameterValue,
    /// The minimum of an integer.
    pub min: Option<i64>,
    /// The maximum of an integer.
    pub max: Option<i64>,
    /// The allowed values, if they are restricted; for a list, the allowed items.
    pub allowed: Option<Vec<ParameterValue>>,
}

impl Parameter {
    /// The allowed values, in words.
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
