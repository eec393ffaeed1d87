//! Tools and their documents in an index.

use serde::{Deserialize, Deserializer, Serialize};

/// A tool as described in a catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The id of the tool, unique in a catalogue. Requests refer to the tool by its id.
    pub id: String,
    /// The function name used in calls, such as `get_weather`. If empty,
    /// [`Catalogue::functions`](super::Catalogue::functions) generates one.
    #[serde(default, deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub function: String,
    /// The tool's name in its source: any text.
    pub name: String,
    /// The service or server that provides the tool; may be empty.
    #[serde(default, deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The tool's category; may be empty.
    #[serde(default, deserialize_with = "or_empty", skip_serializing_if = "String::is_empty")]
    pub category: String,
    /// What the tool does; may be empty.
    #[serde(default, deserialize_with = "or_empty")]
    pub description: String,
    /// JSON Schema of the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<serde_json::Value>,
}

/// Reads null as an empty text.
fn or_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default())
}

/// The parts of a tool that form its document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Template {
    /// Category, service, name and description, joined by single spaces; empty ones are omitted.
    #[default]
    Full,
    /// Only the description, as in the paper.
    Description,
}

impl Template {
    /// Returns the document of a tool, or the tool's name if the template results in an empty text.
    pub fn document(self, tool: &Tool) -> String {
        let parts = match self {
            Template::Full => vec![&tool.category, &tool.tool, &tool.name, &tool.description],
            Template::Description => vec![&tool.description],
        };
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { tool.name.clone() } else { parts.join(" ") }
    }
}
