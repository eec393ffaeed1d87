//! Definitions of tools in the form that chat servers accept.

use grammata_agents::tools::restricted_names;
use serde_json::{Value, json};

/// The most characters of a tool's name that chat servers accept.
const MOST_NAME: usize = 64;

/// Names that chat servers accept, one per given name, in the same order. Valid names are unchanged.
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
