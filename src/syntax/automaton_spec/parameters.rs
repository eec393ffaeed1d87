//! The header of a spec: its parameters, their types and ranges, and the values given for them.

use super::document::Templates;
use super::errors;
use super::fields::Table;
use crate::error::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;

/// Characters of one parameter's value, at most. Together with the bounds of [`super::template`] it bounds
/// what rendering may cost.
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

/// The value of a parameter. It is displayed as it is written in [`Options`](super::Options).
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

    fn characters(&self) -> usize {
        match self {
            ParameterValue::Integer(_) | ParameterValue::Boolean(_) => 0,
            ParameterValue::String(text) => text.chars().count(),
            ParameterValue::List(list) => list.iter().map(|text| text.chars().count() + 1).sum(),
        }
    }

    fn from_toml(value: &toml::Value) -> Option<ParameterValue> {
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

    fn from_text(kind: ParameterType, text: &str) -> Option<ParameterValue> {
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

/// A parameter of a spec, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name, an identifier.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// The type.
    pub kind: ParameterType,
    /// The value, unless another is given.
    pub default: ParameterValue,
    /// The value used.
    pub value: ParameterValue,
    /// The least value; for integers.
    pub min: Option<i64>,
    /// The greatest value; for integers.
    pub max: Option<i64>,
    /// The values allowed, if not all; for a list, the items allowed.
    pub allowed: Option<Vec<ParameterValue>>,
}

impl Parameter {
    /// What values are allowed, in words.
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

    fn allows(&self, value: &ParameterValue) -> bool {
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

/// The header of a spec with parameters.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    /// The parameters of the spec.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Declaration>")]
    parameters: Table<Declaration>,
    /// What a plan's chooser and its reader are shown.
    #[serde(default)]
    templates: Templates,
}

/// A parameter.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Declaration {
    /// The value unless another is given.
    #[schemars(with = "ValueForm")]
    default: toml::Value,
    /// What the parameter is for.
    description: Option<String>,
    /// Its type; that of the default unless given.
    #[serde(rename = "type")]
    kind: Option<ParameterType>,
    /// The least value of an integer.
    min: Option<i64>,
    /// The greatest value of an integer.
    max: Option<i64>,
    /// The values, or items of a list, that are allowed.
    #[schemars(with = "Option<Vec<ValueForm>>")]
    allowed: Option<Vec<toml::Value>>,
}

/// The form of a value, for the schema.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never made: a type for the schema
enum ValueForm {
    Integer(i64),
    Boolean(bool),
    Text(String),
    List(Vec<String>),
}

/// The header, if there is one, and the byte at which what follows it begins.
pub(super) fn split(source: &str) -> Result<(Option<&str>, usize)> {
    let first = source.lines().map(str::trim_start).find(|line| !line.is_empty() && !line.starts_with('#'));
    if !first.is_some_and(|line| line.starts_with("[parameters") || line.starts_with("[templates")) {
        return Ok((None, 0));
    }
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        let end = start + line.len();
        if line.trim_end() == "# ---" {
            return Ok((source.get(..start), end));
        }
        start = end;
    }
    Err(errors::header_without_end())
}

/// Reads a header.
pub(super) fn read(header: &str) -> Result<(Vec<Parameter>, Templates)> {
    let header: Header = toml::from_str(header).map_err(|e| errors::toml(header, &e))?;
    let declared = header.parameters.0.into_iter();
    let parameters: Result<Vec<Parameter>> =
        declared.map(|(name, declaration)| parameter(name, &declaration)).collect();
    Ok((parameters?, header.templates))
}

fn parameter(name: String, declaration: &Declaration) -> Result<Parameter> {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(first) || !name.chars().all(|c| first(c) || c.is_ascii_digit()) {
        return Err(errors::parameter_name(&name));
    }
    let default = ParameterValue::from_toml(&declaration.default)
        .filter(|value| declaration.kind.is_none_or(|kind| kind == value.kind()))
        .ok_or_else(|| errors::parameter_default(&name, declaration.kind, &declaration.default))?;
    let kind = default.kind();
    if kind != ParameterType::Integer && (declaration.min.is_some() || declaration.max.is_some()) {
        return Err(errors::parameter_bounds(&name, kind));
    }
    let allowed = match &declaration.allowed {
        None => None,
        Some(list) => {
            let item_kind = if kind == ParameterType::List { ParameterType::String } else { kind };
            let values: Option<Vec<ParameterValue>> = list
                .iter()
                .map(|value| ParameterValue::from_toml(value).filter(|value| value.kind() == item_kind))
                .collect();
            Some(values.ok_or_else(|| errors::parameter_allowed(&name, item_kind))?)
        }
    };
    let parameter = Parameter {
        name,
        description: declaration.description.clone(),
        kind,
        value: default.clone(),
        default,
        min: declaration.min,
        max: declaration.max,
        allowed,
    };
    if parameter.allows(&parameter.default) {
        Ok(parameter)
    } else {
        Err(errors::parameter_value(&parameter, &parameter.default.to_string()))
    }
}

/// Gives the parameters the values asked for.
pub(super) fn set(parameters: &mut [Parameter], values: &BTreeMap<String, String>) -> Result<()> {
    for (name, text) in values {
        let Some(parameter) = parameters.iter_mut().find(|parameter| parameter.name == *name) else {
            return Err(errors::unknown_parameter(name, parameters));
        };
        let value = ParameterValue::from_text(parameter.kind, text).filter(|value| parameter.allows(value));
        match value {
            Some(value) => parameter.value = value,
            None => return Err(errors::parameter_value(parameter, text)),
        }
    }
    Ok(())
}
