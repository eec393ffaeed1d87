//! Reads the header of a spec, its parameters and templates, and sets the values of the parameters.

use super::document::Templates;
use super::errors;
use super::fields::Table;
use super::parameter::{Parameter, ParameterType, ParameterValue};
use crate::error::Result;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The header of a spec.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    /// The parameters of the spec.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Declaration>")]
    parameters: Table<Declaration>,
    /// Templates of the texts for the chooser and the reader of a plan.
    #[serde(default)]
    templates: Templates,
}

/// The declaration of a parameter.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Declaration {
    /// The value if the caller gives none.
    #[schemars(with = "ValueForm")]
    default: toml::Value,
    /// A description of the parameter.
    description: Option<String>,
    /// The type of the parameter; by default the type of the default value.
    #[serde(rename = "type")]
    kind: Option<ParameterType>,
    /// The least value of an integer, included.
    min: Option<i64>,
    /// The greatest value of an integer, included.
    max: Option<i64>,
    /// The values that are allowed; for a list, the items that are allowed.
    #[schemars(with = "Option<Vec<ValueForm>>")]
    allowed: Option<Vec<toml::Value>>,
}

/// The value of a parameter.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)] // never constructed: only its schema is used
enum ValueForm {
    Integer(i64),
    Boolean(bool),
    Text(String),
    List(Vec<String>),
}

/// Splits a source. Returns its header, if there is one, and the byte offset of the rest. There is a header if the
/// first line that is neither empty nor a comment begins with `[parameters` or `[templates`.
///
/// # Errors
/// `automaton-spec/header` if the header does not end with a line `# ---`.
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

/// Parses a header. Returns its parameters, in order, with their default values, and its templates.
///
/// # Errors
/// `automaton-spec/unreadable`, and `automaton-spec/parameter` for an invalid declaration.
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

/// Sets parameters to the given values, by name.
///
/// # Errors
/// `automaton-spec/parameter` for an unknown name or a value that is not allowed.
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
