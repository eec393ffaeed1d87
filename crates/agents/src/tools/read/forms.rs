//! Recognition of the kind of a document from its JSON value.

use super::declarations::{self, Declaration};
use super::items::Member;
use super::pointer::join;
use super::{Reading, openapi, toolbench};
use crate::tools::errors;
use grammata::diagnostic::Place;
use grammata::error::Result;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// Names of members of an object that may contain tools.
const LISTS: [&str; 7] =
    ["tools", "functions", "function", "functionDeclarations", "function_declarations", "api_list", "result"];

/// A value that may contain tools, with its pointer and the label of its tools.
type Part<'d> = (&'d Value, String, Option<&'d str>);

/// Returns the member that contains the tools of an object: the only member of [`LISTS`], if its value is an array and
/// no other member shows that the object is itself a document or a tool. The items of the array are then read instead
/// of the object as a whole.
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

/// Returns whether a value looks like a document of tools: a list, or an object that is or has a form of [`Forms`].
pub(super) fn looks_like_tools(value: &Value) -> bool {
    match value {
        Value::Array(_) => true,
        Value::Object(object) => {
            let has = |name: &&str| object.contains_key(*name);
            ["openapi", "swagger", "api_name"].iter().any(has)
                || LISTS
                    .iter()
                    .any(|list| object.get(*list).is_some_and(|list| list.is_array() || list.is_object()))
                || Declaration::of(object, "").is_some()
        }
        _ => false,
    }
}

/// Reads the values of a document one after another.
#[derive(Default)]
pub(super) struct Forms {
    /// Declarations that may occur several times.
    declared: FxHashSet<(String, String)>,
    /// Whether a value contained a tool or an empty list.
    found: bool,
}

impl Forms {
    /// Adds the tools of a value, including those in its lists and members. `pointer` is the place of the value.
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
                    // each question of BFCL has its own set of functions
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

    /// Finishes after the last value.
    ///
    /// # Errors
    /// `tools/unknown-form` if no value contained a tool or an empty list.
    pub(super) fn finish(self) -> Result<()> {
        if self.found { Ok(()) } else { Err(form(&Value::Null, "")) }
    }
}

/// Reports an item of a list that is not a tool. Other items are not affected.
///
/// # Errors
/// `tools/unknown-form` if the value is the whole document.
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
