//! Definitions of tools in the form that chat servers take.

use grammata_agents::tools::restricted_names;
use serde_json::{Value, json};

/// The most characters of a name that servers take.
const MOST_NAME: usize = 64;

/// The names that servers take for some names, in the same order: unchanged if they are valid.
pub(crate) fn names<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    restricted_names(names, MOST_NAME)
}

/// One entry of the `tools` of a chat completion.
pub(crate) fn definition(name: &str, description: &str, parameters: Value) -> Value {
    json!({
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    })
}
