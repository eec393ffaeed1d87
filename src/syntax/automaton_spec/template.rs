//! Renders the template after a header, in the sandbox of `grammata_template`.

use super::errors;
use super::parameter::{Parameter, ParameterValue};
use crate::error::Result;
use crate::limits::Limits;
use grammata_template::Dialect;
use minijinja::value::{Value, ValueKind};
use std::collections::BTreeMap;

/// Renders the template that begins at byte `body` of `source`, with the values of the parameters.
///
/// # Errors
/// `automaton-spec/template` for an invalid template or an error in rendering; `limit/exceeded` if rendering exceeds
/// `template_work`.
pub(super) fn render(source: &str, body: usize, parameters: &[Parameter], limits: &Limits) -> Result<String> {
    // the header is replaced by empty lines, so that line numbers in errors are those of the file
    let lines = source.bytes().take(body).filter(|&b| b == b'\n').count();
    let mut template = "\n".repeat(lines);
    template.push_str(source.get(body..).unwrap_or_default());
    let values: BTreeMap<&str, Value> =
        parameters.iter().map(|p| (p.name.as_str(), to_value(&p.value))).collect();
    let dialect = Dialect { trim_blocks: false, strict: true, put: Some(put), functions: Vec::new() };
    let rendered = dialect.render(&template, || Value::from(values), limits);
    rendered.map_err(|fault| fault.into_error(limits, |found, place| errors::template(&found, place)))
}

fn to_value(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Integer(n) => Value::from(*n),
        ParameterValue::Boolean(b) => Value::from(*b),
        ParameterValue::String(text) => Value::from(text.as_str()),
        ParameterValue::List(list) => list.iter().map(|text| Value::from(text.as_str())).collect(),
    }
}

/// Prints the value of an expression: a text with escapes, so that it cannot end a quoted string of TOML or JSON; a
/// number or boolean as it is; a list of texts and numbers as a list, with its texts quoted. Other values are errors.
fn put(out: &mut minijinja::Output<'_>, value: &Value) -> Result<(), minijinja::Error> {
    if let Some(text) = value.as_str() {
        return Ok(out.write_str(&escape(text))?);
    }
    match value.kind() {
        ValueKind::Number | ValueKind::Bool => Ok(write!(out, "{value}")?),
        ValueKind::Seq | ValueKind::Iterable => {
            out.write_str("[")?;
            for (i, item) in value.try_iter()?.enumerate() {
                out.write_str(if i > 0 { ", " } else { "" })?;
                match item.as_str() {
                    Some(text) => write!(out, "\"{}\"", escape(text))?,
                    None if item.kind() == ValueKind::Number => write!(out, "{item}")?,
                    None => return Err(cannot_put(&item)),
                }
            }
            Ok(out.write_str("]")?)
        }
        _ => Err(cannot_put(value)),
    }
}

fn cannot_put(value: &Value) -> minijinja::Error {
    let message = format!("{} cannot be put out", value.kind());
    minijinja::Error::new(minijinja::ErrorKind::InvalidOperation, message)
}

/// The text with the escapes that both TOML and JSON have, for use between double quotes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            // TOML forbids raw control characters, including U+007F; JSON has the same escape
            c if c.is_ascii_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
