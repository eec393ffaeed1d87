//! Which kind of document a JSON value is.

use super::declarations::{self, Declaration};
use super::pointer::join;
use super::{Reading, openapi, toolbench};
use crate::diagnostic::Place;
use crate::error::Result;
use crate::tools::errors;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// Members of an object that hold tools, with the kind of those that do not show their own.
const LISTS: [&str; 7] =
    ["tools", "functions", "function", "functionDeclarations", "function_declarations", "api_list", "result"];

/// A value that may hold tools, with its pointer and the label of its tools.
type Part<'d> = (&'d Value, String, Option<&'d str>);

/// Reads the values of a document.
pub(super) fn read(values: &[Value], reading: &mut Reading<'_>) -> Result<()> {
    let mut declared = FxHashSet::default();
    let mut found = false;
    let mut open: Vec<Part<'_>> = match values {
        [value] => vec![(value, String::new(), None)],
        _ => values.iter().enumerate().map(|(at, value)| (value, format!("/{at}"), None)).rev().collect(),
    };
    while let Some((value, pointer, label)) = open.pop() {
        reading.budget.spend(1)?;
        match value {
            Value::Array(items) => {
                found |= items.is_empty();
                open.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(at, item)| (item, join(&pointer, &at.to_string()), label))
                        .rev(),
                );
            }
            Value::Object(object) if object.contains_key("openapi") || object.contains_key("swagger") => {
                found = true;
                openapi::read(value, &pointer, reading)?;
            }
            Value::Object(object) if object.contains_key("api_name") => {
                found = true;
                toolbench::read(value, &pointer, reading)?;
            }
            Value::Object(object) => {
                if let Some(declaration) = Declaration::of(object, &pointer) {
                    found = true;
                    declarations::read(&declaration, label, &mut declared, reading)?;
                    continue;
                }
                // the questions of BFCL each have a set of functions of their own
                let own = if object.contains_key("question") {
                    object.get("id").and_then(Value::as_str)
                } else {
                    None
                };
                let lists = LISTS.iter().rev().filter_map(|list| Some((*list, object.get(*list)?)));
                let lists: Vec<Part<'_>> =
                    lists.map(|(list, value)| (value, join(&pointer, list), own.or(label))).collect();
                if lists.is_empty() {
                    reject(value, &pointer, reading)?;
                }
                open.extend(lists);
            }
            _ => reject(value, &pointer, reading)?,
        }
    }
    if found { Ok(()) } else { Err(form(&Value::Null, "")) }
}

/// Tells of an item of a list that is no tool. The others are not touched by it.
///
/// # Errors
/// The value is the whole document.
fn reject(value: &Value, pointer: &str, reading: &mut Reading<'_>) -> Result<()> {
    let error = form(value, pointer);
    if pointer.is_empty() {
        return Err(error);
    }
    reading.reject(error.diagnostic().clone());
    Ok(())
}

fn form(value: &Value, pointer: &str) -> crate::Error {
    let found = match value {
        Value::Object(object) => {
            let names: Vec<&str> = object.keys().take(8).map(String::as_str).collect();
            format!(
                "an object with {}",
                if names.is_empty() { "no member".to_owned() } else { names.join(", ") }
            )
        }
        Value::Null => "nothing".to_owned(),
        value => value.to_string(),
    };
    errors::unknown_form(Place::Pointer(pointer.to_owned()), &found)
}
