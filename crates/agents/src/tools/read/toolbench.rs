//! Reads APIs of ToolBench and StableToolBench: entries of `api_list`.

use super::pointer::join;
use super::{Draft, Made, Reading};
use crate::tools::errors;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use serde_json::{Map, Value, json};

/// Words that cannot name an API, so that `is_` is put before them.
const WORDS: [&str; 7] = ["from", "class", "return", "false", "true", "id", "and"];

/// Adds the tool of an API, with the name `API_for_TOOL` after normalisation of both parts.
pub(super) fn read(api: &Value, pointer: &str, reading: &mut Reading<'_>) -> Result<()> {
    let text = |member: &str| api.get(member).and_then(Value::as_str).unwrap_or_default();
    let (api_name, tool_name, category) = (text("api_name"), text("tool_name"), text("category_name"));
    let mut name = part(api_name);
    if WORDS.contains(&name.as_str()) {
        name = format!("is_{name}");
    }
    let tool = part(tool_name);
    let full = match (name.is_empty(), tool.is_empty()) {
        (true, _) => String::new(),
        (false, true) => name,
        (false, false) => format!("{name}_for_{tool}"),
    };
    let mut notes = Vec::new();
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for list in ["required_parameters", "optional_parameters"] {
        let parameters = api.get(list).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        for (at, parameter) in parameters.iter().enumerate() {
            reading.budget.spend(1)?;
            let place = format!("{}/{at}", join(pointer, list));
            let Some(name) = parameter.get("name").and_then(Value::as_str) else {
                let found = parameter.to_string();
                notes.push(errors::form(Place::Pointer(place), &found, "a parameter with a `name`"));
                continue;
            };
            if !properties.contains_key(name) {
                properties.insert(name.to_owned(), schema(parameter, &place, &mut notes));
            }
            if list == "required_parameters" && !required.iter().any(|other| other == name) {
                required.push(name.into());
            }
        }
    }
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    reading.add(Draft {
        name: full,
        description: text("api_description").to_owned(),
        label: Some(category.to_owned()).filter(|label| !label.is_empty()),
        place: Place::Pointer(pointer.to_owned()),
        made: Ok(Made::of_host(schema)),
        notes,
    })
}

/// Normalises a part of a name: a run of characters other than `A-Za-z0-9^` and U+4E00 to U+9FA5 becomes one `_`; ASCII
/// letters become lower case; `_` is trimmed from both ends; `get_` is put before a first digit.
fn part(name: &str) -> String {
    let mut made = String::new();
    for c in name.chars() {
        let stays = c.is_ascii_alphanumeric() || c == '^' || ('\u{4E00}'..='\u{9FA5}').contains(&c);
        if stays {
            made.push(c.to_ascii_lowercase());
        } else if !made.ends_with('_') {
            made.push('_');
        }
    }
    let made = made.trim_matches('_');
    if made.starts_with(|c: char| c.is_ascii_digit()) { format!("get_{made}") } else { made.to_owned() }
}

fn schema(parameter: &Value, pointer: &str, notes: &mut Vec<Diagnostic>) -> Value {
    let kind = parameter.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut schema = match kind {
        "NUMBER" => json!({"type": "number"}),
        "BOOLEAN" => json!({"type": "boolean"}),
        "DATE (YYYY-MM-DD)" => json!({"type": "string", "format": "date"}),
        "TIME (24-hour HH:MM)" => json!({"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}),
        "ARRAY" | "OBJECT" | "ENUM" => {
            let place = Place::Pointer(join(pointer, "type"));
            let message = "this parameter has no type: any value is allowed";
            notes.push(errors::notice(place, message, kind, "name it in the description"));
            json!({})
        }
        _ => json!({"type": "string"}),
    };
    if let (Some(description), Some(object)) =
        (parameter.get("description").filter(|text| text.is_string()), schema.as_object_mut())
    {
        object.insert("description".to_owned(), description.clone());
    }
    schema
}
