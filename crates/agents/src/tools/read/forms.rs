//! Which kind of document a JSON value is.

use super::declarations::{self, Declaration};
use super::items::Member;
use super::pointer::join;
use super::{Reading, openapi, toolbench};
use crate::tools::errors;
use grammata::diagnostic::Place;
use grammata::error::Result;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// Members of an object that hold tools, with the kind of those that do not show their own.
const LISTS: [&str; 7] =
    ["tools", "functions", "function", "functionDeclarations", "function_declarations", "api_list", "result"];

/// A value that may hold tools, with its pointer and the label of its tools.
type Part<'d> = (&'d Value, String, Option<&'d str>);

/// The member with the tools of an object that has nothing else: its items are read one by one, not the object as a whole.
pub(super) fn list(members: &[Member]) -> Option<&'static str> {
    const TELLING: [&str; 10] = [
        "openapi",
        "swagger",
        "api_name",
        "type",
        "inputSchema",
        "input_schema",
        "parametersJsonSchema",
        "name",
        "question",
        "parameters",
    ];
    let mut lists = members.iter().filter_map(|member| {
        let name = LISTS.iter().find(|list| **list == member.name)?;
        Some((*name, member.is_array))
    });
    let has_another = members.iter().any(|member| TELLING.contains(&member.name.as_str()));
    match (lists.next(), lists.next()) {
        (Some((name, true)), None) if !has_another => Some(name),
        _ => None,
    }
}

/// Reads the values of a document one after another.
#[derive(Default)]
pub(super) struct Forms {
    /// Declarations that may be there several times.
    declared: FxHashSet<(String, String)>,
    /// Whether there were tools, or an empty list of them.
    found: bool,
}

impl Forms {
    /// Reads a value.
    pub(super) fn read(&mut self, value: &Value, pointer: String, reading: &mut Reading<'_>) -> Result<()> {
        let mut open: Vec<Part<'_>> = vec![(value, pointer, None)];
        while let Some((value, pointer, label)) = open.pop() {
            reading.budget.spend(1)?;
            match value {
                Value::Array(items) => {
                    self.found |= items.is_empty();
                    open.extend(
                        items
                            .iter()
                            .enumerate()
                            .map(|(at, item)| (item, join(&pointer, &at.to_string()), label))
                            .rev(),
                    );
                }
                Value::Object(object) if object.contains_key("openapi") || object.contains_key("swagger") => {
                    self.found = true;
                    openapi::read(value, &pointer, reading)?;
                }
                Value::Object(object) if object.contains_key("api_name") => {
                    self.found = true;
                    toolbench::read(value, &pointer, reading)?;
                }
                Value::Object(object) => {
                    if let Some(declaration) = Declaration::of(object, &pointer) {
                        self.found = true;
                        declarations::read(&declaration, label, &mut self.declared, reading)?;
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
        Ok(())
    }

    /// After the last value.
    ///
    /// # Errors
    /// None of them had tools.
    pub(super) fn finish(self) -> Result<()> {
        if self.found { Ok(()) } else { Err(form(&Value::Null, "")) }
    }
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

fn form(value: &Value, pointer: &str) -> grammata::Error {
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
